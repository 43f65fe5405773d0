// SPDX-License-Identifier: MIT
// Every reader of files gets bytes that nobody thought of (libFuzzer). It takes them or throws the error that
// it promises; whatever else happens is a fault: another exception, a crash, memory that the bytes do not
// account for, ten seconds of work, or something that was taken and does not come back when it is written and
// read again.
//   fuzz_readers --reader=idx [libFuzzer's options] [corpus...]
#include <sys/time.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <wsl/ml/io/input_file.hpp>

#include "fuzz.hpp"

namespace {
const fuzz::reader* chosen = nullptr;

// Of the process, not of the clock (libFuzzer's -timeout): on a busy machine a process waits for as long as
// it may.
constexpr itimerval longest{.it_interval = {}, .it_value = {.tv_sec = 10, .tv_usec = 0}};
extern "C" void hangs(int) { std::abort(); }
}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i)
    for (const fuzz::reader& r : fuzz::readers())
      if ((*argv)[i] == "--reader=" + std::string(r.name)) chosen = &r;
  std::signal(SIGVTALRM, &hangs);
  if (chosen) return 0;
  std::fputs("fuzz_readers: --reader=<name> chooses what is read:", stderr);
  for (const fuzz::reader& r : fuzz::readers()) std::fprintf(stderr, " %s", r.name.data());
  std::fputs("\n", stderr);
  std::exit(1);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ::setitimer(ITIMER_VIRTUAL, &longest, nullptr);
  try {
    chosen->reads({reinterpret_cast<const char*>(data), size});
  } catch (const wsl::ml::file_error& e) { fuzz::holds(std::string_view(e.what()).starts_with("wsl: ")); }
  return 0;
}
