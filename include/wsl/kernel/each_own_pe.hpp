// SPDX-License-Identifier: MIT
// What each process does for its own PEs, such as getting their memory, may fail on one of them alone, and
// the others would wait for it. With `mpi::world()` as the engine all learn of the first failure; with any
// other engine this costs nothing.
#pragma once
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

#include "../fabric/host_gather.hpp"
#include "../support/exception_text.hpp"
#include "../support/text.hpp"

namespace wsl::kernel {

namespace detail {
inline std::string reason_of(const std::exception_ptr& of, coord pe) {
  try {
    std::rethrow_exception(of);
  } catch (const std::bad_alloc&) {
    return support::joined(
        {"wsl: the process that runs PE(", pe.x, ", ", pe.y, ") has not enough memory for it"});
  } catch (...) { return support::exception_text(of); }
}
}  // namespace detail

/// Calls `work(program, c)` for the PEs that this process runs, each on its thread. If it throws for some, so
/// do all processes: the one that runs the first of these PEs its own exception, the others
/// std::invalid_argument with the same text, or one that names the PE for which there was no memory.
/// Collective.
template <class Program, class Work>
void each_own_pe(fabric& f, Work work) {
  const region r = f.plan().inside(all);
  std::mutex alone;
  int failed = r.count();  // the first PE for which it throws
  coord place;
  std::exception_ptr own;
  f.prepare<Program>(all, [&](Program& p, coord c) {
    try {
      work(p, c);
    } catch (...) {
      const std::scoped_lock now(alone);
      if (r.rank(c) < failed) failed = r.rank(c), place = c, own = std::current_exception();
    }
  });
  if (!f.spread()) {
    if (own) std::rethrow_exception(own);
    return;
  }
  const std::string why = own ? detail::reason_of(own, place) : std::string();
  const auto sentences = gather_lists<char>(
      f, all, [&](coord c) { return std::string_view(r.rank(c) == failed ? why : std::string_view()); });
  for (std::size_t i = 0; i < sentences.size(); ++i)
    if (!sentences[i].empty()) {
      if (own && failed == static_cast<int>(i)) std::rethrow_exception(own);
      throw std::invalid_argument(std::string(sentences[i].begin(), sentences[i].end()));
    }
}

}  // namespace wsl::kernel
