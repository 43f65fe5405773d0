// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dpr_app {

namespace ml = wsl::ml;
using namespace train_app;

namespace {

class params final : public trainer_params {
 public:
  params() { declare(f, o_); }

  void check(mistakes& found) override {
    check_common(found, o_.common);
    found.of([&] { require_data(o_, true); });
    // A file may have nothing to evaluate with, and only train.
    if (f.file_names_section("eval_input")) found.of([&] { require_data(o_, false); });
    const auto require_short = [&](const ml::text_processor& p) {
      require_positions(o_.model, length_of(std::get<ml::dpr_processor>(p)));
    };
    found.of([&] { require_short(o_.train.settings(f, o_.common.train_input.data_dir)); });
    found.of([&] { require_short(o_.eval.settings(f, o_.common.eval_input.data_dir, &o_.train)); });
    found.of([&] {
      // The data would say these.
      model_params m = o_.model;
      m.vocab_size = std::max(m.vocab_size, 1);
      m.max_position_embeddings = std::max(m.max_position_embeddings, 1);
      m.pair(1);
    });
  }

 private:
  options o_;
};

}  // namespace

void declare(fields& f, options& o) {
  const std::vector<std::string> processors{ml::dpr_processor::name};
  f.section("train_input");
  declare_input(f, o.common.train_input, true),
      o.train.declare(f, "train_input", ml::text_kind::encoder, processors);
  f.section("eval_input");
  declare_input(f, o.common.eval_input, false),
      o.eval.declare(f, "eval_input", ml::text_kind::encoder, processors);
  declare(f, o.model), declare_precision(f, o.common.precision);
  declare_optimizer(f, o.common.optimizer), declare_sparsity(f, o.common.sparsity);
  declare_run(f, o.common.run, o.common.reports);
  f.add("hf", o.hf,
        "a folder of Hugging Face with which a run begins: one with q_encoder and ctx_encoder, or BERT for "
        "both encoders, or, with hf_ctx, DPRQuestionEncoder")
      .of_one_command();
  f.add("hf_ctx", o.hf_ctx, "the folder of DPRContextEncoder, if that of questions is elsewhere")
      .of_one_command();
  declare_checkpoint_options(f, o.common);
  f.options_of("predict");
  f.add("best", o.best, "passages of each question that are written").at_least(1).at_most(10'000);
  f.add("passages", o.passages,
        "a table (.tsv, .csv) with the columns text and title, or objects with them (.jsonl): only these "
        "passages are encoded, to passages.npy, as for an index; null: what is held out")
      .of_one_command();
  f.add("out", o.vectors, "the folder for what is written; null: model_dir").of_one_command();
  f.options_of("export");
  f.add("out", o.out, "the folder for the two folders of Hugging Face").of_one_command();
}

void require_data(const options& o, bool trains) {
  if ((trains ? o.common.train_input : o.common.eval_input).data_dir.empty())
    throw std::invalid_argument(
        fmt::format("{}.data_dir is missing: name a file of questions and passages, or a folder",
                    trains ? "train_input" : "eval_input"));
}

int length_of(const ml::dpr_processor& p) { return std::max(p.max_sequence_length, p.max_passage_length); }

void require_positions(const model_params& m, int longest) {
  if (m.max_position_embeddings && longest > m.max_position_embeddings)
    throw std::invalid_argument(fmt::format(
        "max_sequence_length or max_passage_length is {}, more than model.max_position_embeddings "
        "{}: take shorter sequences, or more positions",
        longest, m.max_position_embeddings));
}

std::unique_ptr<trainer_params> new_params() { return std::make_unique<params>(); }

}  // namespace dpr_app
