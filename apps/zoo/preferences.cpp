// SPDX-License-Identifier: MIT
#include "preferences.hpp"

#include <wsl/ml/io/hugging_face/match.hpp>
#include <wsl/ml/io/hugging_face/reward.hpp>
#include <wsl/ml/model/adapters.hpp>
#include <wsl/ml/model/preference.hpp>

#include "stored.hpp"

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
namespace ranks = train_app::ranks;

/// The checkpoint of a run that goes on or is evaluated; empty if there is none.
std::string checkpoint_of_run(const train_app::run_params& r) {
  if (r.checkpoint_asked) return r.load_checkpoint_states == "model" ? "" : r.checkpoint_path;
  return r.autoload_last_checkpoint ? ml::checkpoints(r.model_dir).newest().value_or("") : "";
}

/// The decoder of a reference. A checkpoint says it in its params, a folder in its configuration. Throws
/// std::invalid_argument for a reward model.
ml::decoder decoder_of(const std::string& path) {
  const auto require_writer = [&](bool is_reward) {
    if (is_reward)
      throw std::invalid_argument("dpo.reference_model " + path +
                                  " is a reward model, which has no log-probabilities: give one that writes");
  };
  if (is_hugging_face(path)) {
    require_decoder(path), require_writer(ml::is_reward_model(path));
    return ml::read_hugging_face_config(path + "/config.json").second;
  }
  const stored_model m = read_model(path);
  require_writer(m.is_reward);
  return m.config;
}

}  // namespace

void set_reference(train_app::task& t, const options& o) {
  const std::string& from = o.preferences.reference_model;
  const std::string of_run = checkpoint_of_run(o.common.run);
  if (!of_run.empty() && is_reward_checkpoint(of_run))
    throw std::invalid_argument(
        of_run +
        " is of a run that trains a reward model, and model.reward_head is false: leave it "
        "out, or take another --model_dir");
  // The run has the numbers of its reference in a file.
  if (!from.empty() && !of_run.empty() && !std::filesystem::exists(from)) return;
  if (from.empty())
    throw std::invalid_argument(
        "dpo.reference_model is missing: the preferences are compared with a model, the one of --hf or of "
        "--reference_model, or with none: --reference_free true");
  t.preferences->read_reference = [from] { return read_model(from).numbers; };
  if (!ranks::root()) return;
  const ml::decoder theirs = decoder_of(from), ours = o.model.decoder();
  if (theirs.vocabulary != ours.vocabulary)
    throw std::invalid_argument("dpo.reference_model " + from + " has a vocabulary of " +
                                std::to_string(theirs.vocabulary) +
                                " tokens, and the model that learns one of " +
                                std::to_string(ours.vocabulary) + ": the reference is the model as it was");
  if (const std::string differs = ml::hugging_face::difference(theirs, ours); !differs.empty())
    throw std::invalid_argument("dpo.reference_model " + from +
                                " is another model than the one that learns, by " + differs +
                                ": the reference is the model as it was");
}

void begin_with_score(train_app::task& t, const options& o) {
  if (!o.lora.adapter.empty())
    throw std::invalid_argument(
        "--adapter is of a model that writes, and this is a reward model: fold it into a folder first, by "
        "wsl-zoo "
        "checkpoint fold");
  t.begins_with = "--hf " + o.hf;
  t.begin = [folder = o.hf](ml::trainer_base& to) {
    const wsl::u64 seed = to.position().seed;
    const stored_model m = read_hugging_face_model(folder);
    gpt_app::set_weights(to, m.is_reward ? ml::with_adapters(m.network, m.numbers, to.model(), seed)
                                         : ml::with_score(m.network, m.numbers, to.model(), seed));
  };
}

}  // namespace zoo_app
