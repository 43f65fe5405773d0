// SPDX-License-Identifier: MIT
// Dumps of a fabric: the state of all its PEs in a file, for wsl-debug. A program that includes this header,
// and is linked with zlib (-lz), writes one where WSL_DUMP=file says when a run ends with a deadlock or a
// fault, and at any time between runs by f.dump("file"). docs/guide/debug.md shows a session.
#pragma once
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "capture.hpp"
#include "dump_file.hpp"

namespace wsl {

/// Writes the state of a fabric into a file; `f.dump(file)` is the same. With several processes, each writes
/// what it runs itself. Throws support::file_error if the file cannot be written, fault if a task calls it.
inline void write_dump(fabric& f, const std::string& file) {
  f.resting_engine();
  debug::machine_state state = debug::capture(
      f, f.stopped_by().empty() ? debug::dump_reason::asked : debug::dump_reason::fault, f.stopped_by());
  debug::write_dump(state, file);
}

namespace debug {

/// The file for the next dump of this process: the second has ".2" behind its name, and so on.
inline std::string next_file(const std::string& named) {
  static std::atomic<int> dumps = 0;
  const int n = ++dumps;
  return n == 1 ? named : named + "." + std::to_string(n);
}

/// Writes the dump for which WSL_DUMP asks when a run has stopped. The run's own error goes on in any case.
inline void dump_stopped(fabric& f, const char* sentence, bool is_deadlock, const char* named) {
  try {
    const std::string file =
        next_file(f.spread() ? named + ("." + std::to_string(f.engine_in_use().process())) : named);
    machine_state state = capture(f, is_deadlock ? dump_reason::deadlock : dump_reason::fault, sentence);
    write_dump(state, file);
    std::fprintf(stderr, "wsl: the state of the PEs is in %s; wsl-debug %s shows it\n", file.c_str(),
                 file.c_str());
  } catch (const std::exception& e) { std::fprintf(stderr, "wsl: no dump was written: %s\n", e.what()); }
}

inline const bool dumps_when_stopped = (wsl::detail::when_stopped = &dump_stopped, true);

}  // namespace debug

}  // namespace wsl
