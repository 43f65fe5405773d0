// SPDX-License-Identifier: MIT
// Collects elements that the programs of many PEs have, or own, on the host. If several processes share the
// PEs, the elements of one process travel together, and every process gets all of them.
//   gather all(f);
//   for (int x = 0; x < 8; ++x)
//     all.add({x, 0}, f.here({x, 0}) ? f.program_at<part>({x, 0}).line.data() : nullptr, &host[100 * x], 100);
//   all.run();
#pragma once
#include "fabric.hpp"

namespace wsl {

class gather {
 public:
  explicit gather(fabric& from) : engine_(&from.engine_in_use()) {}

  /// n elements of the PE at c go from `from`, which only the process that runs the PE looks at, to the host's
  /// memory at `to`, where there is room for them until `run` has returned. Throws fault if no program is at c.
  template <class T>
  void add(coord c, const T* from, T* to, std::size_t n) {
    static_assert(std::is_trivially_copyable_v<T>);
    pe* const of = engine_->find(c);
    if (!of)
      throw fault(support::joined({"wsl: there is no program at ", text_of(c), " from which to gather"}));
    parts_.push_back({of, from, to, n * sizeof(T)});
  }
  /// Copies what was added. Collective: every process must have added the same PEs and numbers of elements, in
  /// the same order.
  void run() {
    engine_->fetch(parts_.data(), parts_.size());
    parts_.clear();
  }

 private:
  engines::engine* engine_;
  support::flat_vector<engines::memory_part> parts_;
};

}  // namespace wsl
