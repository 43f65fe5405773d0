// SPDX-License-Identifier: MIT
// Texts to examples in HDF5, and what is in such files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <wsl/ml/data/hdf5/files.hpp>
#include <wsl/ml/data/hdf5/writer.hpp>
#include <wsl/ml/tokenizer/tokenizer.hpp>
#include <wsl/support/progress.hpp>
#include <wsl/support/resumable_folder.hpp>

#include "examples.hpp"

namespace data_app {
namespace {
using namespace wsl;
using namespace wsl::ml;
namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

/// The name, the size and the time of a file, or of all files of a folder.
void add_file(nlohmann::json& to, const fs::path& path) {
  std::vector<fs::path> files{path};
  if (fs::is_directory(path)) files.assign(fs::directory_iterator(path), fs::directory_iterator());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files)
    if (fs::is_regular_file(file))
      to.push_back(
          {file.string(), fs::file_size(file), fs::last_write_time(file).time_since_epoch().count()});
}

/// All that the files depend on, so that a conversion goes on only as it was begun.
std::string recipe_of(const example_conversion& how) {
  nlohmann::json files = nlohmann::json::array();
  for (const std::string& path : how.in) add_file(files, path);
  if (!how.tokenizer.empty()) add_file(files, how.tokenizer);
  return nlohmann::json{{"files", files}, {"settings", how.settings()}}.dump() + "\n";
}

std::unique_ptr<example_maker> maker_of(const example_conversion& how) {
  switch (how.form) {
    case example_form::bert: return masked_examples(how);
    case example_form::t5: return corrupted_examples(how);
    default: return language_examples(how);
  }
}

void write_file(const std::string& name, const std::vector<example_maker::form>& forms,
                const std::vector<std::vector<i32>>& numbers, bool gzip) {
  std::vector<hdf5_set> sets;
  for (std::size_t k = 0; k < forms.size(); ++k)
    sets.push_back({forms[k].name, numbers[k], forms[k].features, forms[k].length});
  write_hdf5(name, sets,
             {.compression = gzip ? 4 : 0,
              .threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))});
}

}  // namespace

std::string example_conversion::settings() const {
  return nlohmann::json{static_cast<int>(form),
                        length,
                        name,
                        samples_per_file,
                        text_key,
                        prompt_key,
                        completion_key,
                        eos_token,
                        pad_token,
                        sep_token,
                        packs,
                        lines,
                        gzip,
                        least,
                        seed,
                        do_lower,
                        masked_lm_prob,
                        max_predictions_per_seq,
                        mask_whole_word,
                        next_sentences,
                        gathers,
                        target_length,
                        extra_ids,
                        pack_sequences,
                        sos_token,
                        oov_token,
                        tokenizer}
      .dump();
}

void convert_to_examples(const example_conversion& how, const std::string& out) {
  if (how.prompt_key.empty() != how.completion_key.empty())
    refuse("--prompt_key and --completion_key belong together: give both, or neither for running text");
  if (how.name.empty() || how.name.find('/') != std::string::npos)
    refuse(fmt::format("--name: '{}' is no name of a file", how.name));
  support::resumable_folder folder(out, recipe_of(how));
  const std::unique_ptr<example_maker> maker = maker_of(how);
  i64 files = 0, written = 0;
  if (!folder.state().empty()) {
    const nlohmann::json state = nlohmann::json::parse(folder.state(), nullptr, false);
    bool goes_on = false;
    try {
      goes_on = maker->resume(state.at("maker"));
      files = state.at("files").get<i64>(), written = state.at("examples").get<i64>();
    } catch (const nlohmann::json::exception&) {}
    if (!goes_on)
      throw file_error(fmt::format("wsl: {}/resume.state is damaged: remove the folder, and begin again",
                                   folder.unfinished()));
    std::fprintf(stderr, "wsl-data: %s goes on behind %lld files that are finished\n", out.c_str(),
                 static_cast<long long>(files));
  }
  support::progress bar(maker->what(), static_cast<u64>(maker->count()));
  const std::vector<example_maker::form> forms = maker->forms();
  std::vector<std::vector<i32>> numbers;
  while (const i64 n = maker->take(how.samples_per_file, numbers)) {
    write_file(folder / fmt::format("{}-{}.h5", how.name, ++files), forms, numbers, how.gzip);
    written += n;
    folder.record(nlohmann::json{{"files", files}, {"examples", written}, {"maker", maker->state()}}.dump());
    bar.tick(static_cast<u64>(maker->done()) - bar.done());
  }
  if (written == 0)
    throw file_error(
        fmt::format("wsl: {}: there is no example of at least {} tokens in it: take longer texts, or a "
                    "smaller --min_sequence_len",
                    how.in.front(), how.least));
  nlohmann::ordered_json params{{"n_examples", written}};
  params.update(maker->params());
  params.update({{"output_dir", out},
                 {"dtype", "i4"},
                 {"compression", how.gzip ? "gzip" : "none"},
                 {"samples_per_file", how.samples_per_file}});
  support::write_whole_file(folder / "data_params.json", params.dump(2) + "\n");
  maker->write_vocabulary(folder.unfinished());
  folder.finish();
  std::string shapes;
  for (const example_maker::form& x : forms)
    if (x.length > 1 && (shapes.empty() || x.name.starts_with("data")))
      shapes += fmt::format("{}{}", shapes.empty() ? "" : " and ", x.length);
  std::printf("%s\n",
              fmt::format("{}: {} examples of {} tokens in {} files {}-*.h5, made of {} {}{}", out, written,
                          shapes, files, how.name, maker->count(), maker->what(), maker->left_out())
                  .c_str());
}

void inspect_hdf5(const std::string& path) {
  const auto n = hdf5_attribute(path, "n_examples");
  std::printf("  HDF5%s\n", n ? fmt::format(": n_examples {}", *n).c_str() : "");
  for (const std::string& name : hdf5_datasets(path)) {
    try {
      const hdf5_rows x(path, name);
      std::printf("  %-16s %s\n", name.c_str(), x.about().c_str());
      if (x.count() == 0 || x.row() == 0) continue;
      std::vector<i32> row(static_cast<std::size_t>(x.row()));
      x.read(0, 1, row);
      const std::vector<i64>& shape = x.shape();
      // The first numbers of each line of the first example.
      const std::size_t length = static_cast<std::size_t>(shape.size() > 1 ? shape.back() : 1);
      const std::size_t lines = std::min<std::size_t>(row.size() / length, 5);
      for (std::size_t k = 0; k < lines && shape.size() > 1; ++k) {
        constexpr std::size_t most = 12;
        std::string words;
        for (std::size_t i = 0; i < std::min(length, most); ++i)
          words += fmt::format(" {}", row[k * length + i]);
        std::printf("   %s%s\n", words.c_str(), length > most ? " ..." : "");
      }
    } catch (const file_error& e) {
      const std::string why = e.what();
      std::printf("  %-16s %s\n", name.c_str(), why.substr(why.find("': ") + 3).c_str());
    }
  }
}

}  // namespace data_app
