// SPDX-License-Identifier: MIT
// The end of a random program on an engine, as far as it can be observed, and the check that two ends are the
// same.
#pragma once
#include <catch2/catch.hpp>

#include "engine_random.hpp"

namespace law {

/// The observable state of a program that has run.
struct ending {
  std::vector<u32> memories;            // a digest for every PE that is here
  std::vector<std::vector<u32>> words;  // of every stream out of the grid
  outcome counts;
  std::string deadlock;  // its report, or nothing
};

template <class Engine>
ending run(const random_program& p, const Engine& engine) {
  ending e;
  fabric f{p.plan(), engine};
  give_scripts(f, p);
  try {
    for (int round = 0; round < p.rounds(); ++round) {
      write_streams(f, p, round);
      f.start();
      e.counts = e.counts + f.run();
    }
  } catch (const deadlock& d) { e.deadlock = d.what(); }
  // of the reference engine alone; an activation is a bit, so local tasks may run once for two
  e.counts.cycles = e.counts.tasks = 0;
  for (int i = 0; i < p.plan().grid().count(); ++i) {
    const coord at = p.plan().grid().nth(i);
    e.memories.push_back(f.here(at) ? actor_at(f, at).digest() : 0);
  }
  for (const stream_flow& s : p.outbound()) {
    e.words.emplace_back(100'000);
    e.words.back().resize(f.engine_in_use().stream_read(s.color, s.at, e.words.back()));
  }
  return e;
}

inline void must_agree(const ending& a, const ending& b, const std::string& who) {
  if (a.deadlock != b.deadlock) FAIL(who << " reports\n" << b.deadlock << "\ninstead of\n" << a.deadlock);
  for (std::size_t i = 0; i < a.memories.size(); ++i)
    if (a.memories[i] != b.memories[i])
      FAIL(who << ": another memory of the PE with number " << i << " in row-major order");
  if (a.words != b.words) FAIL(who << ": other words in a stream");
  if (!(a.counts == b.counts)) FAIL(who << ": other counts");
}

}  // namespace law
