// SPDX-License-Identifier: MIT
#include "trainer_main.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>
#include <wsl/support/file_error.hpp>

#include "../copies.hpp"
#include "../run.hpp"
#include "command.hpp"
#include "ranks.hpp"
#include "yaml_text.hpp"

namespace train_app {
namespace {

/// The options of wsl-ctl that a trainer's command line may have; those of the first line are of all its
/// commands.
constexpr std::array general{"--cluster", "--token", "--certificate", "--patience"};
constexpr std::array of_job{"--job_labels", "--job_priority", "--job_time_sec"};

bool is_one_of(std::string_view word, const auto& options) {
  const std::string_view name = word.substr(0, word.find('='));
  return std::find(options.begin(), options.end(), name) != options.end();
}

bool is_for_cluster(int argc, char** argv) {
  return std::any_of(argv + std::min(1, argc), argv + argc,
                     [](const char* word) { return is_one_of(word, std::array{general[0]}); });
}

/// Becomes wsl-ctl, which is beside this program or on the path. Throws std::runtime_error if it is not
/// there.
void become_wsl_ctl(const char* program, int argc, char** argv) {
  std::vector<std::string> before{"wsl-ctl"}, after{"submit", "--follow"}, command{"--", program};
  for (int k = 1; k < argc; ++k) {
    const std::string_view word = argv[k];
    const bool is_general = is_one_of(word, general), is_own = is_general || is_one_of(word, of_job);
    auto& to = is_general ? before : is_own ? after : command;
    to.emplace_back(word);
    if (!is_own || word.find('=') != word.npos) continue;
    if (++k == argc) throw std::invalid_argument(std::string(word) + " is given without its value");
    to.emplace_back(argv[k]);
    const auto is_label = [](std::string_view x) { return !x.starts_with("-") && x.find('=') != x.npos; };
    while (word == "--job_labels" && k + 1 < argc && is_label(argv[k + 1])) to.emplace_back(argv[++k]);
  }
  before.insert(before.end(), after.begin(), after.end());
  before.insert(before.end(), command.begin(), command.end());
  std::vector<char*> words;
  for (std::string& w : before) words.push_back(w.data());
  words.push_back(nullptr);
  std::error_code none;
  const auto beside = std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / "wsl-ctl";
  ::execv(beside.c_str(), words.data());
  ::execvp("wsl-ctl", words.data());
  throw std::runtime_error(std::string("--cluster needs wsl-ctl, which is not installed beside ") + program +
                           ": " + std::strerror(errno));
}

}  // namespace

int run_trainer(const char* program, int argc, char** argv, int (*f)(int, char**)) {
  app::says = &ranks::first_to_say;
  return app::run(program, [&] {
    if (is_for_cluster(argc, argv)) become_wsl_ctl(program, argc, argv);
    if (!ranks::has_mpi()) app::refuse_copies("or start it alone");
    try {
      return f(argc, argv);
    } catch (const std::invalid_argument& e) {
      // What is wrong with a field is said with its place in the params file, and the name that it has there.
      mistakes found;
      for (const std::string& sentence : sentences_of(e))
        found.add(sentence.starts_with("wsl: ") ? sentence.substr(5) : sentence);
      const bool is_of_file = dynamic_cast<const wsl::support::file_error*>(&e) != nullptr;
      found.report([&](const std::string& sentence) {
        const std::string said = words_of_params().said(sentence);
        return is_of_file && said == sentence ? words_of_params().said_of_file(said) : said;
      });
      throw;
    } catch (const std::system_error&) { throw; } catch (const std::runtime_error& e) {
      throw std::runtime_error(words_of_params().said_of_file(e.what()));
    }
  });
}

}  // namespace train_app
