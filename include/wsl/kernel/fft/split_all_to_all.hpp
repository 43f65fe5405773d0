// SPDX-License-Identifier: MIT
// An all-to-all whose data is split into parts that travel at the same time, each on colors of its own. On a
// wafer one part is as good, as a link carries one word a cycle. On this computer a partition exchanges as
// many words as its channels hold in a superstep, so more channels mean fewer supersteps. See pencil.hpp.
#pragma once
#include <utility>

#include "../../collective/all_to_all.hpp"

namespace wsl::fft {

template <int count>
struct split_all_to_all {
  int first;
  collective::team among;

  constexpr all_to_all<f32> part_of(int k) const { return {.first = first + 4 * k, .among = among}; }
  constexpr void wire(layout& l) const {
    for (int k = 0; k < count; ++k) part_of(k).wire(l);
  }

  template <auto net>
  class part {
   public:
    /// Sends `give` and receives `take`. Each of the `used` parts has an equal share of both arrays, and in
    /// it a block for each PE of the line.
    void start(pe& me, std::span<f32> give, std::span<f32> take, int used, completion done) {
      const std::size_t size = give.size() / static_cast<std::size_t>(used);
      done_ = done, under_way_ = used;
      [&]<int... k>(std::integer_sequence<int, k...>) {
        const auto begin = [&]<int n>(std::integral_constant<int, n>) {
          const std::size_t from = static_cast<std::size_t>(n) * size;
          if (n < used)
            bundle_.template at<n>().start(me, mem(give.subspan(from, size)), mem(take.subspan(from, size)),
                                           then<&part::template ended<n>>());
        };
        (begin(std::integral_constant<int, k>{}), ...);
      }(std::make_integer_sequence<int, count>{});
    }

   private:
    /// The endpoints of the parts k, k + 1, ...
    template <int k, bool last>
    struct bundle {
      endpoint<net.part_of(k)> one;
      bundle<k + 1, k + 2 == count> others;
      template <int n>
      auto& at() {
        if constexpr (n == k) return one;
        else return others.template at<n>();
      }
      using tasks = task_list<use<&bundle::one>, use<&bundle::others>>;
    };
    template <int k>
    struct bundle<k, true> {
      endpoint<net.part_of(k)> one;
      template <int>
      auto& at() {
        return one;
      }
      using tasks = task_list<use<&bundle::one>>;
    };

    template <int>
    void ended(pe& me) {
      if (--under_way_ == 0) collective::finish(me, net.first, unused_, done_);
    }

    bundle<0, count == 1> bundle_;
    completion done_{};
    int under_way_ = 0;
    f32 unused_ = 0;

    template <int k>
    using ended_strand = local<&part::template ended<k>>;

   public:
    using tasks = task_list<use<&part::bundle_>, numbered<count, ended_strand>>;
  };
};

}  // namespace wsl::fft
