// SPDX-License-Identifier: MIT
#include "checkpoint.hpp"

#include <cstdio>

namespace train_app {
namespace {

namespace ml = wsl::ml;
using wsl::u64;

std::vector<ml::named_array> arrays_of(ml::training_run& t) {
  std::vector<ml::named_array> all;
  for (const ml::state_array& a : t.state()) all.push_back({a.name, {static_cast<u64>(a.rows), static_cast<u64>(a.columns)}, a.numbers});
  return all;
}
run_state state_in(const ml::checkpoint& c) { return {.data = c.place_in_data(), .params = c.fact("params"), .vocabulary = c.fact("vocabulary")}; }

}  // namespace

std::string save_checkpoint(const ml::checkpoints& to, ml::training_run& t, const run_state& s) {
  ml::text_by_name facts{{"seed", std::to_string(t.position().seed)}, {"params", s.params}, {"vocabulary", s.vocabulary}};
  ml::add_facts(facts, s.data);
  return to.save(t.steps(), arrays_of(t), std::move(facts));
}

run_state load_checkpoint(const std::string& from, ml::training_run& t) {
  ml::checkpoint c(from);
  const run_state s = state_in(c);
  const ml::position at{.steps = c.step(), .seed = c.whole_number<u64>("seed")};
  c.restore(arrays_of(t));
  t.go_on_from(at);
  return s;
}

run_state describe_checkpoint(const std::string& from) { return state_in(ml::checkpoint(from)); }

std::string newest_checkpoint(const std::string& folder) {
  std::vector<std::string> refused;
  const auto newest = ml::checkpoints(folder).newest(&refused);
  for (const std::string& why : refused) std::fprintf(stderr, "%s\n", why.c_str());
  return newest.value_or("");
}

}  // namespace train_app
