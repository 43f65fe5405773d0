// SPDX-License-Identifier: MIT
// For kernels that give each thread of a computer one large PE, or a few. Any choice of an engine will do;
// one with threads, `threaded{}` or `mpi::world()`, gets small partitions, so that all threads have work.
#pragma once
#include <exception>
#include <functional>
#include <string_view>

#include "../fabric/fabric.hpp"
#include "../support/exception_text.hpp"
#include "../support/fingerprint.hpp"
#include "named_values.hpp"

namespace wsl::kernel {

/// The threads of all processes of an engine, if each has so many; 0 stands for default_threads().
template <class Engine>
int threads_in_all(const Engine& e, int threads) {
  return (threads > 0 ? threads : default_threads()) * wsl::detail::processes_of(e);
}

/// Throws fault on all processes of an engine if `fingerprint()` is not the same on all of them; `what` names
/// that of which it is one.
template <class Engine, class Fingerprint>
void require_same(const Engine& e, const char* what, Fingerprint fingerprint) {
  if constexpr (requires { e.require_same(u64{}, what); }) e.require_same(fingerprint(), what);
}
/// The same; `name(named_values)` adds what differs in it to the sentence, which has the first of those whose
/// values are not alike.
template <class Engine, class Fingerprint, class Name>
void require_same(const Engine& e, const char* what, Fingerprint fingerprint, Name name) {
  const auto lines = [&] {
    named_values all;
    name(all);
    return all.lines();
  };
  if constexpr (requires { e.require_same(u64{}, what, lines); }) e.require_same(fingerprint(), what, lines);
  else kernel::require_same(e, what, fingerprint);
}

/// Calls check(), which may throw on one process and not on another: then all throw, those for which it does
/// not a fault that `what` is not the same on all of them. Collective.
template <class Engine, class Check>
void check_alike(const Engine& e, const char* what, Check check) {
  std::exception_ptr own;
  std::string sentence;
  u64 said = 0;
  try {
    check();
  } catch (const std::exception& x) {
    own = std::current_exception(), sentence = x.what();
    support::fingerprint f;
    f.add(sentence.data(), sentence.size());
    said = f.value();
  }
  try {
    kernel::require_same(
        e, what, [&] { return said; },
        [&](named_values& all) {
          all.add(what,
                  own ? "one that is refused (" + sentence + ")" : std::string("one that is not refused"));
        });
  } catch (...) {
    if (!own) throw;
  }
  if (own) std::rethrow_exception(own);
}

/// The processes over which an engine spreads the PEs, for what they compare later. With any engine but
/// `mpi::world()` this costs nothing.
class agreement {
 public:
  template <class Engine>
  explicit agreement(const Engine& e) {
    if (threads_in_all(e, 1) == 1) return;
    require_same_ = [e](const char* what, u64 number, const std::function<void(named_values&)>& name) {
      kernel::require_same(e, what, [=] { return number; }, name);
    };
  }

  /// Throws fault on all processes if what `describe(fingerprint)` adds is not the same on all of them;
  /// `what` names it. Collective.
  template <class Describe>
  void require_same(const char* what, Describe describe) const {
    require_same(what, describe, [](named_values&) {});
  }
  /// The same; `name(named_values)` says where it differs.
  template <class Describe, class Name>
  void require_same(const char* what, Describe describe, Name name) const {
    if (!require_same_) return;
    support::fingerprint f;
    describe(f);
    require_same_(what, f.value(), name);
  }
  /// The same for a call of an object: before processes wait for each other in one that others do not make.
  template <class... Number>
  void require_same_call(const char* of, std::string_view call, const Number&... arguments) const {
    require_same(
        of, [&](support::fingerprint& f) { f.add(call.data(), call.size()), (f.add(arguments), ...); },
        [&](named_values& all) { all.add(of, text_of_call(call, arguments...)); });
  }
  /// "slice(0, 3, 0)"
  template <class... Number>
  static std::string text_of_call(std::string_view call, const Number&... arguments) {
    std::string text(call), between = "(";
    ((text += between + support::joined({arguments}), between = ", "), ...);
    return text + (sizeof...(arguments) ? ")" : "()");
  }
  /// The same for what a process makes, or does not, as it has caught something; then it throws that.
  template <class Describe, class Name>
  void throw_alike(const std::exception_ptr& own, const char* what, Describe describe, Name name) const {
    try {
      require_same(
          what,
          [&](support::fingerprint& f) {
            f.add(own != nullptr);
            describe(f);
          },
          [&](named_values& all) {
            all.add(what,
                    own ? "the exception \"" + support::exception_text(own) + '"' : std::string("a number"));
            name(all);
          });
    } catch (...) {
      if (!own) throw;
    }
    if (own) std::rethrow_exception(own);
  }

 private:
  std::function<void(const char* what, u64 number, const std::function<void(named_values&)>& name)>
      require_same_;
};

/// The engine with as many threads a process and so many PEs in a partition, unless it says something else.
template <class Engine>
Engine with_partitions(Engine e, int threads, int pes = 1) {
  const auto set = [&](threaded& how) {
    if (how.threads == 0) how.threads = threads;
    if (how.pes_per_partition == threaded{}.pes_per_partition) how.pes_per_partition = static_cast<u32>(pes);
    how.cut_lines = true;  // also where rows have several PEs, and there are fewer of them than threads
  };
  if constexpr (std::is_same_v<Engine, threaded>) set(e);
  else if constexpr (requires { set(e.how); }) set(e.how);
  return e;
}

}  // namespace wsl::kernel
