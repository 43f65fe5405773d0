// SPDX-License-Identifier: MIT
// How the applications end: each mistake gets one sentence with the program's name before it and the exit
// status 1, and so does a standard output that cannot take all that was printed.
#pragma once
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace app {

/// Whether this process prints what it ends with. One of several that end with the same sentence leaves it to
/// another.
inline bool (*says)(const std::string& sentence) = [](const std::string&) { return true; };

inline void complain(const std::string& sentence) {
  if (says(sentence)) std::fprintf(stderr, "%s\n", sentence.c_str());
}

/// Runs an application's main part and says what it throws. Returns the exit status.
template <class F>
int run(const char* program, F f) {
  try {
    const int status = f();
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
    complain(std::string(program) + ": cannot write all of the standard output: is its disk full?");
  } catch (const std::bad_alloc&) {
    complain(std::string(program) + ": there is not enough memory: take a smaller model, batch or file");
  } catch (const std::exception& e) {
    std::string_view sentence = e.what();
    if (sentence.starts_with("wsl: ")) sentence.remove_prefix(5);
    complain(std::string(program) + ": " + std::string(sentence));
  }
  return 1;
}

}  // namespace app
