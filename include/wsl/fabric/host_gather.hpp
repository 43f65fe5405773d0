// SPDX-License-Identifier: MIT
// Collects elements that the programs of many PEs have, or own, on the host. If several processes share the
// PEs, the elements of one process travel together, and every process gets all of them.
//   host_gather all(f);
//   for (int x = 0; x < 8; ++x)
//     all.add({x, 0}, f.here({x, 0}) ? line_of({x, 0}) : nullptr, &host[100 * x], 100);
//   all.run();
#pragma once
#include <span>
#include <vector>

#include "fabric.hpp"

namespace wsl {

class host_gather {
 public:
  explicit host_gather(fabric& from) : engine_(&from.engine_in_use()) {}

  /// n elements of the PE at c go from `from`, which only the process that runs the PE looks at, to the
  /// host's memory at `to`, where there is room for them until `run` has returned. Throws fault if no program
  /// is at c.
  template <class T>
  void add(coord c, const T* from, T* to, std::size_t n) {
    static_assert(std::is_trivially_copyable_v<T>);
    pe* const of = engine_->find(c);
    if (!of)
      throw fault(support::joined({"wsl: there is no program at ", text_of(c), " from which to gather"}));
    if (n > 0) parts_.push_back({of, from, to, n * sizeof(T)});
  }
  /// Copies what was added. Collective: every process must have added the same PEs and numbers of elements,
  /// in the same order.
  void run() {
    engine_->fetch(parts_.data(), parts_.size());
    parts_.clear();
  }

 private:
  engines::engine* engine_;
  support::flat_vector<engines::memory_part> parts_;
};

/// A plain value of each PE of an area, along its rows: `of(c)`, which is called for the PEs of this process.
/// Collective.
template <class Of>
auto gather_values(fabric& from, const area& where, Of of) {
  const region r = from.plan().inside(where);
  std::vector<decltype(of(coord{}))> values(static_cast<std::size_t>(r.count()));
  host_gather parts(from);
  for (int i = 0; i < r.count(); ++i) {
    auto& value = values[static_cast<std::size_t>(i)];
    if (from.here(r.nth(i))) value = of(r.nth(i));
    parts.add(r.nth(i), &value, &value, 1);
  }
  parts.run();
  return values;
}

/// The elements of a span of each PE of an area, whose length only its program knows, along the rows:
/// `of(c)`, which is called for the PEs of this process. Collective.
template <class T, class Of>
std::vector<std::vector<T>> gather_lists(fabric& from, const area& where, Of of) {
  const region r = from.plan().inside(where);
  const std::vector<std::size_t> sizes =
      gather_values(from, where, [&](coord c) { return std::span<const T>(of(c)).size(); });
  std::vector<std::vector<T>> lists;
  host_gather parts(from);
  for (int i = 0; i < r.count(); ++i) {
    std::vector<T>& list = lists.emplace_back(sizes[static_cast<std::size_t>(i)]);
    const T* const elements = from.here(r.nth(i)) ? std::span<const T>(of(r.nth(i))).data() : nullptr;
    parts.add(r.nth(i), elements, list.data(), list.size());
  }
  parts.run();
  return lists;
}

}  // namespace wsl
