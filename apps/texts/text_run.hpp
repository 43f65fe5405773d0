// SPDX-License-Identifier: MIT
// Parts of runs that wsl-bert, wsl-dpr and wsl-t5 have in common: their modes, models that are read and
// written, and the vocabulary of a run.
#pragma once
#include <command.hpp>
#include <functional>
#include <machine.hpp>
#include <memory>
#include <optional>
#include <session.hpp>
#include <wsl/ml/data/text/encode/processors.hpp>
#include <wsl/ml/model/weights.hpp>

#include "text_meaning.hpp"

namespace text_app {

/// A mode and the checkpoint that it looks at. Modes that train read the training data, and what is held out
/// if they evaluate as well; the others have a checkpoint, which says what its numbers mean, and read only
/// what is held out.
struct stage {
  std::string mode;
  std::string checkpoint = {};             ///< the one that the mode looks at; empty: it trains
  std::optional<text_meaning> kept = {};   ///< of that checkpoint
  std::optional<text_meaning> begun = {};  ///< of the checkpoint from which a run that trains goes on

  bool trains() const { return !kept; }
  /// Those that only check a configuration read what is held out if it names some.
  bool reads_held_out(bool is_named) const {
    return mode == "validate" || mode == "compile" ? is_named : mode != "export" && mode != "train";
  }
  wsl::ml::text_use use() const {
    return mode == "predict" ? wsl::ml::text_use::prediction : wsl::ml::text_use::evaluation;
  }
};

/// A program of texts: the parts in which they differ.
struct text_program {
  train_app::program_words words;              ///< without the modes
  const char *predicts, *exports;              ///< descriptions of these modes
  std::function<void(const stage&)> complete;  ///< sets and checks params that follow from others
  std::function<train_app::task(const stage&)> read;
  std::function<void(const stage&)> predict, write_model;
};
/// Reads the command line and runs a mode. Returns the exit status.
int run(int argc, char** argv, train_app::fields& f, train_app::common_params& common,
        const text_program& program);

/// A machine with the weights of a checkpoint. Throws std::invalid_argument if it is of another model.
std::unique_ptr<train_app::machine> trained(const std::string& checkpoint, const train_app::common_params& p,
                                            const train_app::task& t);

/// Some data that `read` takes from files, where data are read; elsewhere what is known of them without their
/// examples. Collective.
wsl::ml::text_task read_task(const std::function<wsl::ml::text_task()>& read);

/// The vocabulary of both processors, which they have from here on: if none is named, that of the run that
/// goes on. Throws std::invalid_argument if they differ.
std::string share_vocabulary(const stage& now, wsl::ml::text_processor& train,
                             wsl::ml::text_processor& held_out);
/// The vocabulary of a processor in a mode that does not train: that of the checkpoint, unless the command
/// line or a params file other than the run's own names one.
std::string take_vocabulary(train_app::fields& f, const train_app::common_params& p, const stage& now,
                            wsl::ml::text_processor& held_out);
/// Throws std::invalid_argument if a vocabulary is not that of a folder of Hugging Face: if the folder has
/// another tokenizer, if it has none and the model knows another number of tokens, unless it `may_have_spare`
/// rows, and in any case if the model knows fewer. `option` is the name of the vocabulary's file.
void require_vocabulary_of_folder(const wsl::ml::tokenizer& words, const std::string& folder, int of_model,
                                  const char* option, bool may_have_spare = false);

/// Throws std::invalid_argument if the tokens of some data have more types than a model (num_segments), which
/// has some.
void require_token_types(int of_model, const wsl::ml::text_task& data);
/// The sentence about the data of a run; `held_out` is empty if none is read.
std::string data_words(const wsl::ml::text_task& train, const wsl::ml::text_task& held_out);

/// Lets checkpoints of a task keep a meaning, and refuses those with another one.
void keep_meaning(train_app::task& t, const text_meaning& m, const train_app::run_params& r);
/// Lets a run begin with the model of a folder of Hugging Face, whose weights `set` takes. The folder of the
/// run has what lies beside that model.
void begin_with_folder(train_app::task& t, const std::string& folder, const std::string& model_dir,
                       std::function<void(wsl::ml::trainer_base&)> set);

/// The weights of a machine, and its weights set.
wsl::ml::weights weights_of(wsl::ml::trainer_base& t);
void set_weights(wsl::ml::trainer_base& t, const wsl::ml::weights& w);

/// Sets the fields of the section `model` by a folder of Hugging Face: `set` does so. Throws
/// std::invalid_argument for an option that says otherwise.
void take_model(train_app::fields& f, const std::string& folder, const std::function<void()>& set);

/// A text as a field of a table: tabs and ends of lines become blanks.
std::string as_field(std::string text);

}  // namespace text_app
