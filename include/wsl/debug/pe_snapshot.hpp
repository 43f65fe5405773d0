// SPDX-License-Identifier: MIT
// What an engine shows of one place of the grid (engine::look_at), kept until the next look.
#pragma once
#include <vector>

#include "../engine/diagnose/place_visitor.hpp"

namespace wsl::debug {

/// The words of one color at one place, oldest first.
struct queue_snapshot {
  using place = engines::queue_place;
  place where = place::input;
  port side = ramp;  ///< of a link
  u8 color = 0;
  struct word {
    u32 bits = 0;
    bool control = false;
  };
  std::vector<word> words{};
};

/// The switch of a color at the place's router.
struct switch_snapshot {
  u8 color = 0;
  bool closed = false;
  int position = -1;  ///< -1 without positions, or closed
};

class pe_snapshot final : public engines::place_visitor {
 public:
  engines::pe_state* state = nullptr;  ///< null where no program is placed
  const char* task = "";
  std::vector<const char*> calls;
  std::vector<engines::operation_in_flight> operations;
  std::vector<queue_snapshot> queues;
  std::vector<switch_snapshot> switches;

  void clear() {
    state = nullptr;
    task = "";
    calls.clear(), operations.clear(), queues.clear(), switches.clear();
  }
  /// Forgets queues without words.
  void drop_empty() {
    std::erase_if(queues, [](const queue_snapshot& q) { return q.words.empty(); });
  }

  void pe(engines::pe_state& s, const char* of_task) override { state = &s, task = of_task; }
  void call(const char* name) override { calls.push_back(name); }
  void operation(const engines::operation_in_flight& t) override { operations.push_back(t); }
  void queue(engines::queue_place where, int color, port side) override {
    queues.push_back({where, side, static_cast<u8>(color)});
  }
  void word(u32 bits, bool control) override { queues.back().words.push_back({bits, control}); }
  void unsent(const wavelet& w) override {
    constexpr auto where = engines::queue_place::unsent;
    if (queues.empty() || queues.back().where != where || queues.back().color != w.color)
      queue(where, w.color, ramp);
    word(w.bits, w.control);
  }
  void router_switch(int color, bool closed, int position) override {
    switches.push_back({static_cast<u8>(color), closed, position});
  }
};

}  // namespace wsl::debug
