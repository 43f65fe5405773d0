// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <synthetic.hpp>

namespace bert_app {

namespace ml = wsl::ml;
using namespace train_app;

namespace {

const std::vector<std::string> processors{"BertCSVDynamicMaskDataProcessor",
                                          "BertCSVDataProcessor",
                                          "BertHDF5DataProcessor",
                                          synthetic_processor,
                                          "BertClassifierDataProcessor",
                                          "SST2DataProcessor",
                                          "MNLIDataProcessor",
                                          "BertTokenClassifierDataProcessor",
                                          "BertSumCSVDataProcessor",
                                          "QADataProcessor"};

class params final : public trainer_params {
 public:
  params() { declare(f, o_); }

  void check(mistakes& found) override {
    check_common(found, o_.common);
    found.of([&] {
      if (o_.model.has_mup()) require_rule_for_mup(o_.common.optimizer);
    });
    found.of([&] { require_data(o_, true); });
    // A file may have nothing to evaluate with, and only train.
    if (f.file_names_section("eval_input")) found.of([&] { require_data(o_, false); });
    found.of([&] {
      require_positions(o_.model, length_of(o_.eval.settings(f, o_.common.eval_input.data_dir, &o_.train)));
    });
    found.of([&] {
      ml::text_processor p = o_.train.settings(f, o_.common.train_input.data_dir);
      complete_length(p, o_.model);
      found.of([&] { require_positions(o_.model, length_of(p)); });
      if (!o_.common.train_input.data_dir.empty()) found.of([&] { text_app::require_settings(p); });
      found.of([&] {
        text_app::complete_synthetic(p, o_.common.train_input, true, o_.model.vocab_size,
                                     o_.model.max_position_embeddings);
      });
      // The data would say these.
      model_params m = o_.model;
      m.vocab_size = std::max(m.vocab_size, 1);
      m.max_position_embeddings = std::max(m.max_position_embeddings, 1);
      m.encoder(goal_of(p));
    });
  }

 private:
  options o_;
};

}  // namespace

void declare(fields& f, options& o) {
  const auto declare_rest = [&] {
    f.no_effect("true or false", {"is_training"}, "train_input trains, and eval_input evaluates");
    f.no_effect("true or false", {"enable_vts"}, "it chooses among ways to compute the same");
    f.honours("dynamic_mlm_scale", {"false"},
              "model.mlm_loss_scaling num_masked is the same: give that, and leave this out");
  };
  f.section("train_input");
  declare_input(f, o.common.train_input, true),
      o.train.declare(f, "train_input", ml::text_kind::encoder, processors);
  declare_rest();
  f.section("eval_input");
  declare_input(f, o.common.eval_input, false),
      o.eval.declare(f, "eval_input", ml::text_kind::encoder, processors);
  declare_rest();
  declare(f, o.model), declare_precision(f, o.common.precision);
  declare_optimizer(f, o.common.optimizer), declare_sparsity(f, o.common.sparsity);
  declare_run(f, o.common.run, o.common.reports);
  f.add("hf", o.hf,
        "a folder of Hugging Face with BERT or RoBERTa: a run begins with its encoder, and with new layers "
        "for another task than its own")
      .of_one_command();
  declare_checkpoint_options(f, o.common);
  f.options_of("predict");
  f.add("out", o.predictions, "the file of the predictions; null: predictions.* in model_dir")
      .of_one_command();
  f.options_of("export");
  f.add("out", o.out, "the folder for the files of Hugging Face").of_one_command();
}

ml::encoder_task goal_of(const ml::text_processor& p) {
  const auto of_hidden_words = [](bool disable_nsp) {
    return disable_nsp ? ml::encoder_task::masked_words : ml::encoder_task::next_sentence;
  };
  if (const auto* x = std::get_if<ml::bert_csv_dynamic_mask_processor>(&p))
    return of_hidden_words(x->disable_nsp);
  if (const auto* x = std::get_if<ml::bert_csv_processor>(&p)) return of_hidden_words(x->disable_nsp);
  if (const auto* x = std::get_if<ml::bert_hdf5_processor>(&p)) return of_hidden_words(x->disable_nsp);
  if (const auto* x = std::get_if<ml::synthetic_encoder_processor>(&p))
    return of_hidden_words(x->disable_nsp);
  if (std::holds_alternative<ml::qa_processor>(p)) return ml::encoder_task::span;
  const bool of_tokens = std::holds_alternative<ml::bert_token_classifier_processor>(p) ||
                         std::holds_alternative<ml::bert_sum_csv_processor>(p);
  return of_tokens ? ml::encoder_task::token_classes : ml::encoder_task::sequence_classes;
}

int length_of(const ml::text_processor& p) {
  return std::visit(
      [](const auto& x) -> int {
        if constexpr (requires { x.max_sequence_length; }) return x.max_sequence_length;
        else return 0;
      },
      p);
}

void complete_length(ml::text_processor& p, const model_params& m) {
  if (auto* x = std::get_if<ml::bert_csv_processor>(&p); x && !x->max_sequence_length)
    x->max_sequence_length = m.max_position_embeddings;
}

void require_data(const options& o, bool trains) {
  const text_app::text_input& x = trains || o.eval.data_processor.empty() ? o.train : o.eval;
  const input_params& in = trains ? o.common.train_input : o.common.eval_input;
  if (in.data_dir.empty() && x.data_processor != synthetic_processor)
    throw std::invalid_argument(fmt::format("{}.data_dir is missing: name a file of texts or a folder",
                                            trains ? "train_input" : "eval_input"));
}

void require_positions(const model_params& m, int longest) {
  if (m.max_position_embeddings && longest > m.max_position_embeddings)
    throw std::invalid_argument(
        fmt::format("max_sequence_length {} is more than model.max_position_embeddings {}: take shorter "
                    "sequences, or more positions",
                    longest, m.max_position_embeddings));
}

std::unique_ptr<trainer_params> new_params() { return std::make_unique<params>(); }

}  // namespace bert_app
