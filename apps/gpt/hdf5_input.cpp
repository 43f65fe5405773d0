// SPDX-License-Identifier: MIT
#include "hdf5_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <wsl/ml/data/hdf5/language.hpp>
#include <wsl/ml/data/subset.hpp>
#include <wsl/ml/data/vocabulary.hpp>

namespace gpt_app {
namespace {

namespace fs = std::filesystem;
namespace ml = wsl::ml;

/// The paths of an input, those of all parts of a mixture together.
std::vector<std::string> paths_of(const hdf5_input& x) {
  if (x.how.mixture.empty()) return train_app::words_of_list(x.data_dir);
  std::vector<std::string> all;
  for (const train_app::mixture_source& part : x.how.mixture)
    for (std::string& path : train_app::words_of_list(part.data_dir)) all.push_back(std::move(path));
  return all;
}

ml::dataset read(const hdf5_input& x, int vocab_size, const char* section) {
  const auto at = [&](const std::string& data_dir) {
    return ml::hdf5_text({.paths = train_app::words_of_list(data_dir),
                          .max_sequence_length = x.max_sequence_length,
                          .vocabulary = vocab_size,
                          .use_vsl = x.how.use_vsl});
  };
  const auto part = [](ml::dataset all, const std::string& of) {
    return of.empty() ? all : ml::subset_of(std::move(all), of);
  };
  if (x.how.mixture.empty()) return part(at(x.data_dir), x.how.data_subset);
  if (!x.data_dir.empty())
    throw std::invalid_argument(
        fmt::format("{0}.data_dir and {0}.mixture both name the data: leave one of them out", section));
  if (!x.how.data_subset.empty())
    throw std::invalid_argument(
        fmt::format("{0}.data_subset is of data_dir: each part of {0}.mixture has one of its own", section));
  std::vector<ml::mixture_part> parts;
  for (const train_app::mixture_source& p : x.how.mixture)
    parts.push_back({part(at(p.data_dir), p.data_subset), p.weight});
  return ml::mixture_of(std::move(parts));
}

/// The folder of some data.
fs::path folder_of(const std::string& path) {
  return fs::is_directory(path) ? fs::path(path) : fs::path(path).parent_path();
}

/// The vocabulary beside some data.
struct words_beside {
  fs::path folder;
  bool is_tokenizer = false, is_characters = false;
};
words_beside words_in(const fs::path& folder) {
  const std::string here = folder.empty() ? "." : folder.string();
  const bool has_tokenizer = ml::tokenizer::is_in(here);
  return {here, has_tokenizer, !has_tokenizer && fs::exists(folder / "vocab.json")};
}
bool are_same(const words_beside& a, const words_beside& b) {
  if (a.is_tokenizer && b.is_tokenizer) return have_same_tokens(a.folder.string(), b.folder.string());
  if (!a.is_characters || !b.is_characters) return false;
  const auto letters_in = [](const words_beside& x) {
    return ml::read_characters((x.folder / "vocab.json").string()).letters();
  };
  return letters_in(a) == letters_in(b);
}

/// Throws std::invalid_argument if vocabularies beside the files are not the one of the run, or each other's;
/// files without one may be of any.
void require_one_vocabulary(const std::vector<std::string>& files, const std::string& tokenizer_dir) {
  const auto kind_of = [](const words_beside& x) { return x.is_tokenizer ? "the tokenizer" : "characters"; };
  std::optional<words_beside> first;
  if (!tokenizer_dir.empty()) first = words_beside{.folder = tokenizer_dir, .is_tokenizer = true};
  std::vector<fs::path> seen;
  for (const std::string& file : files) {
    const fs::path folder = folder_of(file);
    if (std::find(seen.begin(), seen.end(), folder) != seen.end()) continue;
    seen.push_back(folder);
    const words_beside x = words_in(folder);
    if (!x.is_tokenizer && !x.is_characters) continue;
    if (!first) first = x;
    if (are_same(*first, x)) continue;
    const std::string of_first = first->folder.string();
    throw std::invalid_argument(
        tokenizer_dir.empty()
            ? fmt::format(
                  "the examples in {} are of {} there, and those in {} of {} there: a run has one "
                  "vocabulary; convert the texts of one of them again with the --tokenizer of the other",
                  of_first, kind_of(*first), x.folder.string(), kind_of(x))
            : fmt::format(
                  "the examples in {0} are of {1} there, and the run's tokenizer is that in {2}, which "
                  "has other tokens: convert the texts again with `wsl-data convert --tokenizer {2}`",
                  x.folder.string(), kind_of(x), of_first));
  }
}

/// Finds the vocabulary that the options name, or that is beside the files.
void take_words(hdf5_corpus& c, const hdf5_corpus_words& asked, const std::vector<std::string>& paths) {
  const fs::path folder = folder_of(paths.front()), letters = folder / "vocab.json";
  const bool has_tokenizer = fs::exists(folder / "tokenizer.json") || fs::exists(folder / "tokenizer.model");
  c.tokenizer_dir = !asked.tokenizer_dir.empty() ? asked.tokenizer_dir : has_tokenizer ? folder.string() : "";
  if (!c.tokenizer_dir.empty()) {
    if (asked.kind == "characters")
      throw std::invalid_argument(
          fmt::format("train_input.vocabulary is characters, and the tokens of {} are of the "
                      "tokenizer in {}: take --vocabulary null",
                      paths.front(), c.tokenizer_dir));
    c.words = vocabulary::gpt2(c.tokenizer_dir);
  } else if (fs::exists(letters)) {
    c.words = vocabulary(ml::read_characters(letters.string()));
  } else if (asked.kind == "characters") {
    throw std::invalid_argument(
        fmt::format("train_input.vocabulary is characters, and which ones the tokens of {} are "
                    "nobody says: `wsl-data convert` writes vocab.json beside them; --vocabulary "
                    "null takes them as numbers",
                    paths.front()));
  } else if (asked.kind == "gpt2") {
    c.words = vocabulary::gpt2("");
  }
}

std::string about(const hdf5_input& x, const ml::dataset& d) {
  const std::vector<std::string> paths = paths_of(x);
  return fmt::format("{} examples of {} tokens of {}{}{}", d.count, d.length, paths.front(),
                     paths.size() > 1 ? " and others" : "",
                     x.how.data_subset.empty() ? "" : " (" + x.how.data_subset + ")");
}

}  // namespace

hdf5_corpus read_hdf5_corpus(const hdf5_corpus_words& asked) {
  require_files(asked.train);
  const std::vector<std::string> paths = ml::hdf5_files_of(paths_of(asked.train));
  std::vector<std::string> all = paths;
  const bool has_held_out = !paths_of(asked.held_out).empty();
  if (has_held_out)
    for (std::string& file : ml::hdf5_files_of(paths_of(asked.held_out))) all.push_back(std::move(file));
  require_one_vocabulary(all, asked.tokenizer_dir);
  hdf5_corpus c;
  take_words(c, asked, paths);
  c.vocab_size = asked.vocab_size ? asked.vocab_size : c.words.size();
  if (const nlohmann::json params = ml::hdf5_params(paths.front()); !c.vocab_size && params.is_object() &&
                                                                    params.contains("vocab_size") &&
                                                                    params["vocab_size"].is_number_integer())
    c.vocab_size = params["vocab_size"].get<int>();
  c.train = read(asked.train, c.vocab_size, "train_input");
  c.held_out = has_held_out ? read(asked.held_out, c.vocab_size, "eval_input") : c.train;
  c.about = about(asked.train, c.train) + (has_held_out ? "; held out: " + about(asked.held_out, c.held_out)
                                                        : "; nothing is held out, evaluations read the same");
  return c;
}

}  // namespace gpt_app
