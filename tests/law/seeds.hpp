// SPDX-License-Identifier: MIT
// The random inputs on which a law is judged. Each is drawn from a seed, so that it can be drawn again; the
// seeds are consecutive. The command line of a law's program chooses them:
//   law_checker                             as many as the law says, from seed 0 on
//   law_checker --long                      the larger number that the law says: scripts/test all
//   law_checker --few                       a tenth of its number, as with the sanitizers
//   law_checker --seed 7000 --count 100000  others
//   law_checker --seed 7321 --count 1       one: a law that does not hold says these words
#pragma once
#include <catch2/catch.hpp>

namespace law {

/// The choice on the command line.
struct chosen_seeds {
  unsigned first = 0, count = 0;  ///< a count of 0: what the law says
  bool many = false, few = false;
};
inline chosen_seeds chosen;

class seeds {
 public:
  /// Of a law on `of_what`: its quick number of inputs, and its larger one.
  constexpr seeds(const char* of_what, unsigned quick, unsigned many)
      : of_what_(of_what), quick_(quick), many_(many) {}

  unsigned count() const {
    return chosen.count ? chosen.count : chosen.many ? many_ : chosen.few ? (quick_ + 9) / 10 : quick_;
  }
  /// Whether the inputs are enough to expect something of their mixture. The first ones are known; of others
  /// it takes more.
  bool are_a_sample() const { return count() >= (chosen.first == 0 ? quick_ : many_); }

  template <class Judge>
  void each(Judge judge) const {
    for (unsigned i = 0; i < count(); ++i) {
      const unsigned seed = chosen.first + i;
      INFO(of_what_ << " of seed " << seed << "; alone: --seed " << seed << " --count 1");
      judge(seed);
    }
  }

 private:
  const char* of_what_;
  unsigned quick_, many_;
};

}  // namespace law
