// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <wsl/support/progress.hpp>

using wsl::support::progress;
using namespace std::chrono_literals;

namespace {

struct screen {
  std::string text;
  progress::sink sink() {
    return [this](std::string_view s) { text += s; };
  }
};

}  // namespace

TEST_CASE("progress shows lines", "[progress]") {
  screen s;
  {
    progress p{"steps", 4, s.sink(), progress::shape::lines, 0s};
    p.tick();
    p.tick(2);
    CHECK(p.done() == 3);
  }
  CHECK(s.text == "steps 1 of 4, 25 %\nsteps 3 of 4, 75 %\n");
}

TEST_CASE("progress rewrites its line on a terminal and leaves it at the end", "[progress]") {
  screen s;
  {
    progress p{"words", 0, s.sink(), progress::shape::one_line, 0s};
    p.tick();
    p.tick();
  }
  CHECK(s.text == "\rwords 1\x1b[K\rwords 2\x1b[K\n");
}

TEST_CASE(
    "progress shows little: nothing of a short run, a long one at most once an interval and where it ended",
    "[progress]") {
  screen s;
  {
    progress p{"steps", 1000, s.sink(), progress::shape::lines, 1h};
    for (int i = 0; i < 1000; ++i) p.tick();
  }
  CHECK(s.text.empty());
  {
    progress p{"steps", 3, s.sink(), progress::shape::lines, 50ms};
    const auto until = progress::clock::now() + 10s;  // on a busy machine much passes between two ticks
    while (s.text.empty() && progress::clock::now() < until) p.tick(0);
    p.tick(2);
  }
  CHECK(s.text == "steps 0 of 3, 0 %\nsteps 2 of 3, 66 %\n");
}

TEST_CASE("progress without a sink counts in silence", "[progress]") {
  progress p{"steps", 2, progress::sink{}, progress::shape::lines, 0s};
  p.tick(2);
  CHECK(p.done() == 2);
}

TEST_CASE("a sink that throws at the end does not end the program", "[progress]") {
  int calls = 0;
  const auto check = [&] {
    progress p{"steps", 2,
               [&](std::string_view) {
                 if (++calls > 1) throw 1;
               },
               progress::shape::one_line, 0s};
    p.tick();
  };
  CHECK_NOTHROW(check());
  CHECK(calls == 2);
}
