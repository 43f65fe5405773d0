// SPDX-License-Identifier: MIT
// Every reader of files gets bytes that nobody thought of (libFuzzer). It takes them or throws the error that it promises; whatever else
// happens is a fault: another exception, a crash, memory that the bytes do not account for, or something that was taken and
// does not come back when it is written and read again.
//   fuzz_readers --reader=idx [libFuzzer's options] [corpus...]
#include <cstdint>
#include <cstdio>
#include <wsl/ml/file/input_file.hpp>

#include "fuzz.hpp"

namespace {
const fuzz::reader* chosen = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i)
    for (const fuzz::reader& r : fuzz::readers())
      if ((*argv)[i] == "--reader=" + std::string(r.name)) chosen = &r;
  if (chosen) return 0;
  std::fputs("fuzz_readers: --reader=<name> chooses what is read:", stderr);
  for (const fuzz::reader& r : fuzz::readers()) std::fprintf(stderr, " %s", r.name.data());
  std::fputs("\n", stderr);
  std::exit(1);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    chosen->reads({reinterpret_cast<const char*>(data), size});
  } catch (const wsl::ml::file_error& e) {
    fuzz::holds(std::string_view(e.what()).starts_with("wsl: "));
  }
  return 0;
}
