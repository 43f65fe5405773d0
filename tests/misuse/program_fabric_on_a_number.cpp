// SPDX-License-Identifier: MIT
// Threads are a field of the threaded engine.
// says: wsl: behind the layout stands the choice of an engine: fabric f.plan, threaded.\.threads = 4..
#include <wsl/wsl.hpp>

using namespace wsl;

#ifdef WSL_MISUSE
void run(const layout& l) { fabric f{l, 4}; }
#else
void run(const layout& l) { fabric f{l, threaded{.threads = 4}}; }
#endif
