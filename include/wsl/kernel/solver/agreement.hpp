// SPDX-License-Identifier: MIT
// Several processes that solve one system must be given the same, and must end together: where one of them
// refuses what the others take, they would wait for it. With `mpi::world()` as the engine the ranks compare
// what they have, and all of them learn of the first failure; with any other engine this costs nothing.
#pragma once
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>

#include "../../fabric/host_gather.hpp"
#include "../../support/exception_text.hpp"
#include "../pe_a_thread.hpp"

namespace wsl::solver {

using kernel::agreement;

/// Calls `work(program, c)` for the PEs that this process runs, each on its thread. If it throws for some, so
/// do all processes: the one that runs the first of these PEs its own exception, the others
/// std::invalid_argument with the same text. Collective.
template <class Program, class Work>
void each_own_pe(fabric& f, Work work) {
  const region r = f.plan().inside(all);
  std::mutex alone;
  int failed = r.count();  // the first PE for which it throws
  std::exception_ptr own;
  f.prepare<Program>(all, [&](Program& p, coord c) {
    try {
      work(p, c);
    } catch (...) {
      const std::scoped_lock now(alone);
      if (r.rank(c) < failed) failed = r.rank(c), own = std::current_exception();
    }
  });
  if (!f.spread()) {
    if (own) std::rethrow_exception(own);
    return;
  }
  const std::string why = own ? support::exception_text(own) : std::string();
  const auto sentences = gather_lists<char>(
      f, all, [&](coord c) { return std::string_view(r.rank(c) == failed ? why : std::string_view()); });
  for (std::size_t i = 0; i < sentences.size(); ++i)
    if (!sentences[i].empty()) {
      if (own && failed == static_cast<int>(i)) std::rethrow_exception(own);
      throw std::invalid_argument(std::string(sentences[i].begin(), sentences[i].end()));
    }
}

}  // namespace wsl::solver
