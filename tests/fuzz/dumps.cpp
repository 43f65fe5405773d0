// SPDX-License-Identifier: MIT
// Dumps of fabrics. A checksum and zlib would stop most of what a fuzzer changes, so its bytes are read as
// the contents of a dump as well. What is read is shown in every way, and comes back when it is written
// again.
#include <wsl/debug/commands.hpp>

#include "fuzz.hpp"

namespace {

void show(wsl::debug::machine_state s) {
  using namespace wsl::debug;
  state_view view(s);
  const std::string at = std::to_string(s.width - 1) + "," + std::to_string(s.height - 1);
  for (const std::string& command :
       {std::string("list"), "pe " + at, "who " + at, std::string("color 0"), "print " + at + " x",
        std::string("print all x"), std::string("find x > 0")})
    try {
      carry_out(view, command);
    } catch (const command_error&) {
    } catch (const wsl::fault& f) { fuzz::holds(std::string_view(f.what()).starts_with("wsl: ")); }
  const std::string bytes = contents_of(s);
  machine_state again = state_of_contents(bytes);
  fuzz::holds(contents_of(again) == bytes);
  state_view other(again);
  fuzz::holds(view.diff(again) == "no difference\n");
}

void dump(std::string_view bytes) {
  namespace debug = wsl::debug;
  for (const auto read : {&debug::state_of_contents, &debug::state_of_dump}) {
    std::optional<debug::machine_state> s;
    try {
      s = read(bytes);
    } catch (const wsl::support::file_error&) { continue; }
    show(std::move(*s));
  }
}

const fuzz::enter table{{"dump", dump}};

}  // namespace
