// SPDX-License-Identifier: MIT
// The layout files of fabrics, which WSL_LAYOUT asks for.
#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/wsl.hpp>

#include <unistd.h>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <wsl/support/file_error.hpp>

using namespace wsl;
using Catch::Contains;

namespace {

struct idle {
  void start(pe&) {}
  using tasks = task_list<launch<&idle::start>>;
};

layout line_of(int width) {
  layout l{wse2, width, 1};
  l.place<idle>(all);
  return l;
}

std::string text_of(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("WSL_LAYOUT lets each fabric write its layout") {
  const std::string file = "layout_of_fabric_" + std::to_string(::getpid()) + ".json";
  { fabric{line_of(3)}; }
  CHECK(text_of(file).empty());
  ::setenv("WSL_LAYOUT", file.c_str(), 1);
  fabric first{line_of(3)};
  fabric second{line_of(4), timed{}};
  fabric third{line_of(5), reference{}};
  ::setenv("WSL_LAYOUT", "no_such_folder/layout.json", 1);
  CHECK_THROWS_WITH(fabric{line_of(3)}, Contains("cannot write no_such_folder/layout.json.4"));
  ::unsetenv("WSL_LAYOUT");
  CHECK(text_of(file) == layout_json(line_of(3)));
  CHECK(text_of(file + ".2") == layout_json(line_of(4)));
  CHECK(text_of(file + ".3") == layout_json(line_of(5)));
  for (const char* of : {"", ".2", ".3"}) std::remove((file + of).c_str());
}
