// SPDX-License-Identifier: MIT
// The command lines of the applications: each mistake gets one sentence, printed by run.hpp.
#pragma once
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <wsl/version.hpp>

#include "nearest.hpp"
#include "run.hpp"

namespace app {

/// Accepts numbers of at least, or above, `least`. (The messages of CLI11's own validators name a largest
/// number of 300 digits.)
inline CLI::Validator at_least(double least, bool above = false) {
  const auto check = [=](std::string& text) -> std::string {
    double x = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
    if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(x) &&
        (above ? x > least : x >= least))
      return {};
    char limit[32];
    std::snprintf(limit, sizeof limit, "%s %g", above ? "above" : "at least", least);
    return "it is a number " + std::string(limit) + ", not '" + text + "'";
  };
  return CLI::Validator(check, "");
}

/// Accepts whole numbers of at least `least` that a T holds. (CLI11 takes the largest one for those beyond.)
template <class T = int>
CLI::Validator whole_at_least(T least) {
  const auto check = [=](std::string& text) -> std::string {
    T x = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
    if (error == std::errc{} && end == text.data() + text.size() && x >= least) return {};
    return "it is a whole number from " + std::to_string(least) + " to " +
           std::to_string(std::numeric_limits<T>::max()) + ", not '" + text + "'";
  };
  return CLI::Validator(check, "");
}

/// Refuses an unknown word: an option, or a command of an application that has commands.
[[noreturn]] inline void refuse_word(const CLI::App& app, const std::string& word, const char* what) {
  std::vector<std::string> known;
  const std::string asked = word.substr(0, word.find('='));
  const auto options_of = [&](const CLI::App& a) {
    for (const CLI::Option* o : a.get_options())
      for (const std::string& name : o->get_lnames()) known.push_back("--" + name);
  };
  if (word.starts_with("-")) {
    options_of(app);
    for (const CLI::App* chosen : app.get_subcommands()) options_of(*chosen);
    throw std::invalid_argument(asked + " is no option" + nearest_words(asked, known));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(command->get_name());
  if (const auto chosen = app.get_subcommands(); !chosen.empty()) {
    const bool second = std::find(known.begin(), known.end(), word) != known.end();
    throw std::invalid_argument(second ? "one " + std::string(what) + " at a time, not " +
                                             chosen.front()->get_name() + " and " + word
                                       : word + " is one word too many after " + chosen.front()->get_name());
  }
  throw std::invalid_argument(word + " is no " + what + nearest_words(word, known));
}

/// The sentence that says what is wrong in the file of --config.
inline std::string sentence_of(const CLI::App& app, const CLI::ConfigError& e) {
  const std::string sentence = e.what();
  constexpr std::string_view extra = "INI was not able to parse ";
  try {
    if (sentence.starts_with(extra)) refuse_word(app, "--" + sentence.substr(extra.size()), "option");
  } catch (const std::invalid_argument& word) {
    return "the file of --config: " + std::string(word.what()).substr(2);
  }
  return "the file of --config: " + sentence + "; it has one `name = value` a line, with the names of --help";
}

/// Refuses an option that is given twice, unless it takes a list.
inline void refuse_twice(const CLI::App& app) {
  for (const CLI::Option* o : app.get_options())
    if (o->count() > 1 && o->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeLast)
      throw std::invalid_argument("--" + o->get_lnames().front() + " is given " + std::to_string(o->count()) +
                                  " times: leave out all but one");
}

/// The version of the library and its applications.
inline std::string version() {
  return std::to_string(WSL_VERSION_MAJOR) + "." + std::to_string(WSL_VERSION_MINOR) + "." +
         std::to_string(WSL_VERSION_PATCH);
}

/// Parses the command line. Returns whether there is something to do; if not, because help was asked for or a
/// mistake was reported, `status` is set. `what` is the application's word for its commands. The application
/// declares extra words as allowed; those that are left over are refused here.
inline bool parse(CLI::App& app, int argc, char** argv, const char* what, int& status) {
  app.set_version_flag("--version", app.get_name() + " " + version(), "print the version, and stop");
  try {
    app.parse(argc, argv);
    refuse_twice(app);
    for (const CLI::App* chosen : app.get_subcommands()) refuse_twice(*chosen);
    auto extra = app.remaining(true);
    std::erase(extra, "--");  // words behind it are no options; CLI11 counts it as a word itself
    if (!extra.empty()) refuse_word(app, extra.front(), what);
    return true;
  } catch (const CLI::Success& e) { status = app.exit(e); } catch (const CLI::ConfigError& e) {
    complain(app.get_name() + ": " + sentence_of(app, e));
    status = 1;
  } catch (const std::exception& e) {
    complain(app.get_name() + ": " + e.what() + "; see --help");
    status = 1;
  }
  return false;
}

}  // namespace app
