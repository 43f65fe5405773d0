// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <synthetic.hpp>

namespace t5_app {

namespace ml = wsl::ml;
using namespace train_app;

namespace {

const std::vector<std::string> processors{"T5DynamicDataProcessor", "T5HDF5DataProcessor",
                                          "TransformerDynamicDataProcessor", synthetic_processor};

class params final : public trainer_params {
 public:
  params() { declare(f, o_); }

  void check(mistakes& found) override {
    check_common(found, o_.common);
    found.of([&] {
      if (o_.model.has_mup()) require_rule_for_mup(o_.common.optimizer);
    });
    found.of([&] {
      ml::text_processor p = o_.train.settings(f, o_.common.train_input.data_dir);
      require_texts(f, o_, true);
      if (o_.common.train_input.data_dir.empty()) text_app::require_settings(p);
      text_app::complete_synthetic(p, o_.common.train_input, true,
                                   o_.model.vocab_size ? o_.model.vocabulary() : 0,
                                   o_.model.max_position_embeddings);
    });
    found.of([&] { o_.eval.settings(f, o_.common.eval_input.data_dir, &o_.train); });
    // A file may have nothing to evaluate with, and only train.
    if (f.file_names_section("eval_input")) found.of([&] { require_texts(f, o_, false); });
    found.of([&] {
      model_params m = o_.model;
      m.vocab_size = std::max(m.vocab_size, 1);  // that of the data
      m.model();
    });
  }

 private:
  options o_;
};

}  // namespace

void declare(fields& f, options& o) {
  f.section("train_input");
  declare_input(f, o.common.train_input, true),
      o.train.declare(f, "train_input", ml::text_kind::encoder_decoder, processors);
  f.section("eval_input");
  declare_input(f, o.common.eval_input, false),
      o.eval.declare(f, "eval_input", ml::text_kind::encoder_decoder, processors);
  declare(f, o.model), declare_precision(f, o.common.precision);
  declare_optimizer(f, o.common.optimizer), declare_sparsity(f, o.common.sparsity);
  declare_run(f, o.common.run, o.common.reports);
  f.add("hf", o.hf, "a folder of Hugging Face with T5 or Marian, with whose model a run begins")
      .of_one_command();
  declare_checkpoint_options(f, o.common);
  f.options_of("predict");
  f.add("num_beams", o.search.num_beams,
        "hypotheses of a text that are followed; 1: the best token each time")
      .at_least(1)
      .at_most(1024);
  f.add("length_penalty", o.search.length_penalty, "above 0 it favours long texts");
  f.add("max_new_tokens", o.search.max_new_tokens, "of a text; null: tgt_max_sequence_length").at_least(1);
  f.add("limit", o.search.limit, "only the first texts; null: all").at_least(1);
  f.add("sample_columns", o.search.columns, "PEs that write; null: as many as threads").at_least(1);
  f.add("out", o.predictions, "the file of the predictions; null: predictions.txt in model_dir")
      .of_one_command();
  f.options_of("export");
  f.add("out", o.out, "the folder for the files of Hugging Face").of_one_command();
}

void require_texts(fields& f, const options& o, bool trains) {
  const text_app::text_input& x = trains ? o.train : o.eval;
  const std::string& processor =
      trains || !o.eval.data_processor.empty() ? x.data_processor : o.train.data_processor;
  if (processor == synthetic_processor ||
      x.names_files(f, (trains ? o.common.train_input : o.common.eval_input).data_dir))
    return;
  throw std::invalid_argument(fmt::format(
      "{0}.src_data_dir is missing: name files or a folder of texts, there or by --{0}.src_data_dir",
      trains ? "train_input" : "eval_input"));
}

std::unique_ptr<trainer_params> new_params() { return std::make_unique<params>(); }

}  // namespace t5_app
