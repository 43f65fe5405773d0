// SPDX-License-Identifier: MIT
// wsl-debug: looks at a dump, the state of all PEs that a program has written when it stopped
// (WSL_DUMP=file). Its commands come from -c, from a terminal with a prompt, or from the standard input.
#include <unistd.h>

#include <iostream>
#include <wsl/debug/commands.hpp>

#include "../command_line.hpp"

namespace {

using namespace wsl;

/// Reads commands from the standard input until it ends, or until `quit`. A mistake is named, and the next
/// command is read; without a terminal, it is the end's exit status.
int converse(debug::state_view& view) {
  const bool at_terminal = ::isatty(STDIN_FILENO) == 1;
  int status = 0;
  const auto prompt = [&] {
    if (at_terminal) std::cout << "(wsl-debug) " << std::flush;
  };
  prompt();
  for (std::string line; std::getline(std::cin, line); prompt()) {
    const auto words = debug::commands::words_of(line);
    if (!words.empty() && debug::commands::is_quit(words[0])) return status;
    try {
      std::cout << debug::carry_out(view, line) << std::flush;
    } catch (const std::invalid_argument& e) {
      app::complain(std::string("wsl-debug: ") + e.what());
      status = at_terminal ? 0 : 1;
    }
  }
  if (at_terminal) std::cout << "\n";
  return status;
}

int run(int argc, char** argv) {
  CLI::App app("The state of all PEs of a fabric, from the dump of a program that has stopped", "wsl-debug");
  app.allow_extras();
  std::string file;
  std::vector<std::string> commands;
  app.add_option("dump", file, "the dump: WSL_DUMP=file lets a program write one when it stops");
  app.add_option("-c,--command", commands,
                 "carry out this command, as \"pe 1,2\", and stop; may be given again")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.footer(std::string("Commands:\n") + debug::help_text);
  int status = 0;
  if (!app::parse(app, argc, argv, "option", status)) return status;
  if (file.empty()) throw std::invalid_argument("which dump? wsl-debug file.dump; see --help");
  const debug::machine_state state = debug::read_dump(file);
  debug::state_view view(state);
  for (const std::string& command : commands) std::cout << debug::carry_out(view, command) << std::flush;
  if (!commands.empty()) return 0;
  std::cout << file << ": " << view.title() << "\n";
  return converse(view);
}

}  // namespace

int main(int argc, char** argv) {
  return app::run("wsl-debug", [&] { return run(argc, argv); });
}
