// SPDX-License-Identifier: MIT
// What each process does alone, such as reading a file or getting the memory of its PEs: what fails on one of
// them must end all with one sentence, for the others would wait. With any engine but `mpi::world()` this
// costs nothing.
#pragma once
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../fabric/host_gather.hpp"
#include "../support/exception_text.hpp"
#include "../support/file_error.hpp"

namespace wsl::kernel {

namespace detail {

/// A sentence behind a letter for what throws it and whether it says by itself where: `f`ile_error,
/// `i`nvalid_argument, or that of an `a`rgument, which is clear without the process.
inline std::string sentence_of(const std::exception_ptr& of, bool is_of_arguments) {
  try {
    std::rethrow_exception(of);
  } catch (const support::file_error& e) {
    return std::string("f") + e.what();
  } catch (const std::bad_alloc&) {
    return "iwsl: there is not enough memory";
  } catch (const std::invalid_argument& e) {
    return (is_of_arguments ? "a" : "i") + std::string(e.what());
  } catch (...) { return "i" + support::exception_text(of); }
}

/// Throws on all processes what some of them have caught, if there is something. `place` is that of its own.
inline void throw_together(fabric& on, const std::exception_ptr& own, bool is_of_arguments,
                           const std::string& place) {
  if (!on.spread()) {
    if (own) std::rethrow_exception(own);
    return;
  }
  std::string why = own ? sentence_of(own, is_of_arguments) : std::string();
  if (own && why.front() != 'a') why += " (" + place + ")";
  const auto sentences = gather_lists<char>(on, all, [&](coord) { return std::string_view(why); });
  int failed = 0;
  const std::vector<char>* first = nullptr;
  for (const std::vector<char>& sentence : sentences)
    if (!sentence.empty() && failed++ == 0) first = &sentence;
  if (own && (failed == static_cast<int>(sentences.size()) || failed == 0)) std::rethrow_exception(own);
  if (failed == 0) return;
  const std::string sentence(first->begin() + 1, first->end());
  if (first->front() == 'f') throw support::file_error(sentence);
  throw std::invalid_argument(sentence);
}

}  // namespace detail

/// Calls part(), which is not collective. If it throws on some processes, all throw std::invalid_argument, or
/// support::file_error, with the sentence of the first of them and its rank; where it has failed on all, each
/// throws its own. A process that runs no PE fails alone. Collective.
template <class F>
void fail_together(fabric& on, F part) {
  std::exception_ptr own;
  try {
    part();
  } catch (...) { own = std::current_exception(); }
  detail::throw_together(on, own, false, "on " + on.process_name());
}

/// Calls work(program, pe) for the PEs that this process runs, each on its thread. If it throws for some, all
/// processes throw as those of fail_together do, of the first of its PEs that a process has, which the
/// sentence names; one about arguments stays as it is. Collective.
template <class Program, class Work>
void each_own_pe(fabric& on, Work work) {
  const region r = on.plan().inside(all);
  std::mutex alone;
  int failed = r.count();
  std::exception_ptr own;
  on.prepare<Program>(all, [&](Program& p, coord pe) {
    try {
      work(p, pe);
    } catch (...) {
      const std::scoped_lock now(alone);
      if (r.rank(pe) < failed) failed = r.rank(pe), own = std::current_exception();
    }
  });
  detail::throw_together(on, own, true,
                         own ? text_of(r.nth(failed)) + " on " + on.process_name() : std::string());
}

/// Room for n elements, on all processes or on none. Collective.
template <class T>
std::vector<T> room_for(fabric& on, std::size_t n) {
  std::vector<T> room;
  fail_together(on, [&] { room.resize(n); });
  return room;
}

}  // namespace wsl::kernel
