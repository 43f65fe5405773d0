// SPDX-License-Identifier: MIT
// Catch2's main with the options of the laws (law/seeds.hpp), compiled once for all test programs.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "law/seeds.hpp"

int main(int count, char** words) {
  using Catch::clara::Opt;
  Catch::Session session;
  law::chosen_seeds& chosen = law::chosen;
  session.cli(
      session.cli() | Opt(chosen.first, "number")["--seed"]("laws: the first seed, 0 unless told") |
      Opt(chosen.count, "number")["--count"]("laws: how many random inputs, instead of what each law says") |
      Opt(chosen.many)["--long"]("laws: the larger number of random inputs that each law says") |
      Opt(chosen.few)["--few"]("laws: a tenth of the number that each law says"));
  return session.run(count, words);
}
