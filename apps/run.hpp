// SPDX-License-Identifier: MIT
// The end of an application: each error is reported in one sentence after the program's name, with exit
// status 1, and so is a failure to write all of the standard output.
#pragma once
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

namespace app {

/// Whether this process prints the sentence with which it ends. If several processes end with the same
/// sentence, one of them prints it.
inline bool (*says)(const std::string& sentence) = [](const std::string&) { return true; };

inline void complain(const std::string& sentence) {
  if (says(sentence)) std::fprintf(stderr, "%s\n", sentence.c_str());
}

/// Called before the main part; throws if the program cannot be run as it was started.
inline void (*begins)() = [] {};

/// The sentence about the exception that is handled, one of the standard library.
inline std::string sentence_of_failure() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "there is not enough memory: take a smaller model, batch or file";
  } catch (const std::filesystem::filesystem_error& e) {
    return "cannot use " + e.path1().string() + ": " + e.code().message();
  } catch (const std::exception& e) {
    std::string_view sentence = e.what();
    if (sentence.starts_with("wsl: ")) sentence.remove_prefix(5);
    return std::string(sentence);
  }
}

/// Runs an application's main part and reports its exceptions. Returns the exit status.
template <class F>
int run(const char* program, F f) {
  // so that a limit on the size of files is reported as an error, like a full disk
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    begins();
    const int status = f();
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
    complain(std::string(program) + ": cannot write all of the standard output: is its disk full?");
  } catch (const std::exception&) { complain(std::string(program) + ": " + sentence_of_failure()); }
  return 1;
}

}  // namespace app
