// SPDX-License-Identifier: MIT
// Dumps need zlib, so the umbrella does not bring them.
// says: wsl: f.dump\(file\) needs #include <wsl/debug/dump.hpp>, and zlib: link with -lz
#include <wsl/wsl.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
void run(fabric& f) { f.dump("row.dump"); }
#else
void run(fabric& f) { f.launch(); }
#endif
