// SPDX-License-Identifier: MIT
// The part of a collective that each process does alone, such as reading a file: what fails on one of them,
// as on a computer whose disk is broken, must end all with one sentence, for the others would wait.
#pragma once
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../../fabric/host_gather.hpp"
#include "../../support/exception_text.hpp"
#include "../../support/file_error.hpp"

namespace wsl::grid {

/// Calls part(), which is not collective. If it throws on some processes, all throw std::invalid_argument, or
/// support::file_error, with the sentence of the first of them and a PE that it runs; where it has failed on
/// all, each throws its own. A process that runs no PE fails alone. Collective.
template <class F>
void fail_together(fabric& on, F part) {
  if (!on.spread()) return part();
  std::exception_ptr own;
  std::string why;  // behind a letter for the kind of the exception
  try {
    part();
  } catch (const support::file_error& e) {
    own = std::current_exception(), why = std::string("f") + e.what();
  } catch (...) { own = std::current_exception(), why = "i" + support::exception_text(own); }
  const auto sentences = gather_lists<char>(on, all, [&](coord) { return std::string_view(why); });
  const region r = on.plan().inside(all);
  int failed = 0, first = r.count();
  for (int i = r.count(); i-- > 0;)
    if (!sentences[static_cast<std::size_t>(i)].empty()) ++failed, first = i;
  if (own && (failed == r.count() || failed == 0)) std::rethrow_exception(own);
  if (failed == 0) return;
  const auto& text = sentences[static_cast<std::size_t>(first)];
  const std::string sentence =
      std::string(text.begin() + 1, text.end()) + " (on the process that runs " + text_of(r.nth(first)) + ")";
  if (text.front() == 'f') throw support::file_error(sentence);
  throw std::invalid_argument(sentence);
}

}  // namespace wsl::grid
