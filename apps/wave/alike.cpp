// SPDX-License-Identifier: MIT
#include "alike.hpp"

#include <unistd.h>

#include "../ranks.hpp"
#include "../run.hpp"
#include "volume.hpp"

namespace wave_app {
namespace {

std::string computer() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "a computer without a name";
}

}  // namespace

void do_alike(bool are_several, const std::function<void()>& part) {
  if (!are_several || app::ranks() == 1) return part();
  std::string why;
  try {
    part();
  } catch (const std::invalid_argument& e) { why = sentence_of(e); } catch (const std::exception&) {
    why = app::sentence_of_failure();
  }
  const wsl::u64 failed = app::sum(!why.empty());
  if (failed == 0) return;
  const bool on_all = failed == static_cast<wsl::u64>(app::ranks());
  try {
    app::together([&] {
      if (!why.empty())
        throw std::invalid_argument(on_all ? why
                                           : fmt::format("rank {} ({}): {}", app::rank(), computer(), why));
    });
  } catch (const std::exception& first) { throw std::invalid_argument(first.what()); }
}

}  // namespace wave_app
