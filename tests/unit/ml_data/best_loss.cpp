// SPDX-License-Identifier: MIT
// The lowest loss of a run, and that a checkpoint remembers it.
#include <wsl/ml/run/best_loss.hpp>

#include <catch2/catch.hpp>
#include <cmath>

#include "files.hpp"

using namespace wsl;

TEST_CASE("The lowest loss is found, and the evaluations since are counted") {
  ml::best_loss best;
  CHECK((std::isinf(best.loss()) && best.step() < 0 && best.evaluations_since() == 0));
  CHECK(best.add(5, 2.5));
  CHECK(!best.add(10, 2.5));  // no lower
  CHECK(!best.add(15, std::nan("")));
  CHECK((best.loss() == 2.5 && best.step() == 5 && best.evaluations_since() == 2));
  CHECK(best.add(20, 0.1));
  CHECK((best.step() == 20 && best.evaluations_since() == 0));
}

TEST_CASE("A checkpoint remembers the lowest loss of its run, and one without an evaluation has none") {
  const files::folder here;
  const ml::checkpoints saved(here / "run");
  const auto remembered = [&](const ml::text_by_name& facts) {
    return ml::best_loss(ml::checkpoint(saved.save(1, {}, facts)));
  };
  ml::best_loss best;
  best.add(5, 1 / 3.), best.add(10, 1);
  ml::text_by_name facts, none;
  best.add_facts(facts), ml::best_loss().add_facts(none);
  CHECK(none.empty());
  CHECK((remembered(facts).loss() == 1 / 3. && remembered(facts).step() == 5));
  CHECK(remembered(facts).evaluations_since() == 1);
  CHECK(remembered({}).step() < 0);
  facts["best.step"] = "-3";
  CHECK_THROWS_WITH(remembered(facts), Catch::Matchers::Contains("should be 0 or more, not -3 and 1"));
}
