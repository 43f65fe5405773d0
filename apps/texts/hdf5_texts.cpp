// SPDX-License-Identifier: MIT
#include <filesystem>
#include <wsl/ml/data/hdf5/encoder_decoder.hpp>
#include <wsl/ml/data/hdf5/masked.hpp>

#include "text_input.hpp"

namespace text_app {
namespace {

namespace ml = wsl::ml;
namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  return fs::is_directory(path) ? path : fs::path(path).parent_path().string();
}
/// The tokenizer beside some data, if no vocabulary is named.
void take_vocabulary(std::string& vocabulary, const std::vector<std::string>& data) {
  if (const std::string folder = folder_of(data.front()); vocabulary.empty() && ml::tokenizer::is_in(folder))
    vocabulary = folder;
}
void take_length(int& length, int of_data, const char* name, const std::string& file) {
  if (length && length != of_data)
    throw std::invalid_argument(fmt::format("{} is {}, and the examples of {} have {} tokens: leave it out",
                                            name, length, file, of_data));
  length = of_data;
}

void complete(ml::bert_hdf5_processor& p) {
  p.reads = [](const ml::bert_hdf5_processor& how, int vocabulary) {
    return ml::hdf5_masked({.paths = how.data_dir,
                            .max_sequence_length = how.max_sequence_length,
                            .vocabulary = vocabulary,
                            .next_sentences = !how.disable_nsp});
  };
  if (p.data_dir.empty()) return;
  take_vocabulary(p.vocab_file, p.data_dir);
  take_length(p.max_sequence_length, ml::hdf5_masked({.paths = p.data_dir}).data.length,
              "max_sequence_length", p.data_dir.front());
}
void complete(ml::t5_hdf5_processor& p) {
  p.reads = [](const ml::t5_hdf5_processor& how, int vocabulary) {
    return ml::hdf5_encoder_decoder({.paths = how.src_data_dir, .vocabulary = vocabulary});
  };
  if (p.src_data_dir.empty()) return;
  const std::string& path = p.src_data_dir.front();
  take_vocabulary(p.src_vocab_file, p.src_data_dir);
  const ml::text_task t = ml::hdf5_encoder_decoder({.paths = p.src_data_dir});
  ml::encoder_decoder_settings& s = p.sequences;
  take_length(s.src_max_sequence_length, t.data.named[0].count, "src_max_sequence_length", path);
  take_length(s.tgt_max_sequence_length, t.data.named[3].count, "tgt_max_sequence_length", path);
  // What `wsl-data convert` says of the tokens, unless other ones are named.
  const nlohmann::json params = ml::hdf5_params(ml::hdf5_files_of(p.src_data_dir).front());
  const ml::encoder_decoder_settings usual;
  for (const auto& [name, to, before] : {std::tuple("sos_token", &s.sos_token, &usual.sos_token),
                                         {"eos_token", &s.eos_token, &usual.eos_token},
                                         {"pad_token", &s.pad_token, &usual.pad_token},
                                         {"oov_token", &s.oov_token, &usual.oov_token}})
    if (params.is_object() && params.contains(name) && params[name].is_string() && *to == *before)
      *to = params[name].get<std::string>();
  if (params.is_object() && params.contains("extra_ids") && params["extra_ids"].is_number_integer() &&
      !p.extra_ids)
    p.extra_ids = params["extra_ids"].get<int>();
}

}  // namespace

void complete_hdf5(ml::text_processor& p) {
  if (auto* x = std::get_if<ml::bert_hdf5_processor>(&p)) complete(*x);
  if (auto* x = std::get_if<ml::t5_hdf5_processor>(&p)) complete(*x);
}

}  // namespace text_app
