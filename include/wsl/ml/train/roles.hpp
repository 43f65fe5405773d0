// SPDX-License-Identifier: MIT
// The roles of processes that train together by weight streaming, after the nodes of a Cerebras cluster:
// MemoryX keeps the weights and the optimizer's state, SwarmX adds up the gradients of several wafers, wafers
// compute, and input workers read the data. Who has which role changes no bit of what is learned.
//   const auto all = ml::roles_of("memoryx,wafer*2,input");
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/scalar.hpp"

namespace wsl::ml {

enum class role : u8 {
  memoryx,  ///< has the memory servers, and alone the parameters and the optimizer's state
  swarmx,   ///< has nodes of the trees that join wafers
  wafer,    ///< has workers, of one wafer or of several
  input     ///< is outside of the fabric, and makes the batches of the others
};

constexpr std::string_view name_of(role r) {
  constexpr std::string_view names[] = {"memoryx", "swarmx", "wafer", "input"};
  return names[static_cast<std::size_t>(r)];
}
inline int count_of(role r, const std::vector<role>& all) {
  return static_cast<int>(std::count(all.begin(), all.end(), r));
}

/// Throws std::invalid_argument unless there is a wafer, at most one memory, and not more ranks for the nodes
/// of the trees than wafers that have one.
inline void require_possible(const std::vector<role>& all, int wafers) {
  const int of_wafers = count_of(role::wafer, all), nodes = count_of(role::swarmx, all);
  if (of_wafers == 0)
    throw std::invalid_argument("wsl: the roles have no wafer, which computes: name one or more");
  if (count_of(role::memoryx, all) > 1)
    throw std::invalid_argument(
        fmt::format("wsl: the roles have memoryx {} times: one process keeps all weights, so that it is "
                    "named once, or not "
                    "at all",
                    count_of(role::memoryx, all)));
  if (wafers < of_wafers)
    throw std::invalid_argument(fmt::format(
        "wsl: the roles have {} processes for wafers, and there are {} wafers (num_csx): each of them "
        "has one or more",
        of_wafers, wafers));
  if (nodes > wafers - 1)
    throw std::invalid_argument(
        fmt::format("wsl: the roles have swarmx {} times, and {}: leave {} out, or take more wafers", nodes,
                    wafers == 1 ? "a single wafer's gradients are not added to others"
                                : fmt::format("{} wafers have {} nodes between them", wafers, wafers - 1),
                    nodes > 1 && wafers > 1 ? "some" : "it"));
}

/// The roles that a list names, as "memoryx,swarmx,wafer*2,input", one for each rank in order. Throws
/// std::invalid_argument for another word or number.
inline std::vector<role> roles_of(std::string_view list) {
  constexpr int most = 4096;
  std::vector<role> all;
  for (std::size_t at = 0; at <= list.size();) {
    const std::string_view word = list.substr(at, list.find(',', at) - at);
    at += word.size() + 1;
    const auto bare = [](std::string_view x) {
      while (x.starts_with(' ')) x.remove_prefix(1);
      while (x.ends_with(' ')) x.remove_suffix(1);
      return x;
    };
    const std::string_view name = bare(word.substr(0, word.find('*')));
    int times = 1;
    bool is_right = true;
    if (const auto star = word.find('*'); star != word.npos) {
      const std::string_view digits = bare(word.substr(star + 1));
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), times);
      is_right = error == std::errc{} && end == digits.data() + digits.size() && times >= 1 && times <= most;
    }
    constexpr role every[] = {role::memoryx, role::swarmx, role::wafer, role::input};
    const role* const found =
        std::find_if(std::begin(every), std::end(every), [&](role r) { return name_of(r) == name; });
    if (found == std::end(every) || !is_right)
      throw std::invalid_argument(fmt::format(
          "wsl: '{}' is no role in the list '{}': roles are memoryx, swarmx, wafer and input, one for each "
          "process in order, with commas between them; wafer*2 is wafer,wafer",
          bare(word), list));
    if (all.size() + static_cast<std::size_t>(times) > most)
      throw std::invalid_argument(fmt::format("wsl: a list of roles has at most {} of them", most));
    all.insert(all.end(), static_cast<std::size_t>(times), *found);
  }
  return all;
}

/// The ranks of the parts of some wafers; ranks are numbered by their roles.
class role_placement {
 public:
  /// Each process has wafers, and the first one the memory.
  role_placement(int processes, int wafers) : wafers_(wafers) {
    for (int k = 0; k < processes; ++k) of_wafers_.push_back(k);
  }
  /// Throws std::invalid_argument for roles that cannot be, and for input workers, which are outside of the
  /// fabric.
  role_placement(const std::vector<role>& all, int wafers) : wafers_(wafers) {
    if (count_of(role::input, all) > 0)
      throw std::invalid_argument(
          "wsl: an input worker is outside of the fabric: give a trainer the processes without it, and their "
          "roles");
    require_possible(all, wafers);
    for (int k = 0; k < static_cast<int>(all.size()); ++k)
      if (const role r = all[static_cast<std::size_t>(k)]; r == role::memoryx) memory_ = k;
      else (r == role::wafer ? of_wafers_ : of_nodes_).push_back(k);
  }

  bool has_wafer(int rank) const {
    return std::find(of_wafers_.begin(), of_wafers_.end(), rank) != of_wafers_.end();
  }
  int memory() const { return memory_ >= 0 ? memory_ : of_wafers_.front(); }
  int wafer(int w) const { return share(of_wafers_, w, wafers_); }
  /// Of the node beside a wafer w > 0.
  int node(int w) const { return of_nodes_.empty() ? wafer(w) : share(of_nodes_, w - 1, wafers_ - 1); }

 private:
  static int share(const std::vector<int>& ranks, int part, int of) {
    return ranks[static_cast<std::size_t>(i64{part} * static_cast<i64>(ranks.size()) / of)];
  }

  int wafers_, memory_ = -1;
  std::vector<int> of_wafers_, of_nodes_;
};

}  // namespace wsl::ml
