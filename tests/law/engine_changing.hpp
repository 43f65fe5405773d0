// SPDX-License-Identifier: MIT
// Actors for random layouts whose routes change: each sends what its script says, data and commands, and
// writes down what it hears.
#pragma once
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include <wsl/fabric/fabric.hpp>
#include <wsl/layout/filters.hpp>
#include <wsl/layout/switches.hpp>

#include "checker_layouts.hpp"

namespace law::changing {

using namespace wsl;
using namespace wsl::detail;
using namespace wsl::engines;

constexpr int colors = oracle::random_layout::colors, cue_id = 5;

struct send_action {
  int color;
  u32 word;  // of data
  std::optional<control_word> control;
};

/// Sends what its script says, and writes down what it hears.
struct actor {
  std::vector<send_action> script;
  // of each color, and then how often it was torn down: no order holds between these
  std::vector<u32> heard[2 * colors];
  int next_phase[colors]{};

  template <int c, class T>
  void hear(pe&, T x) {
    heard[c].push_back(to_bits(x));
  }
  void cue(pe&, u16 data) { heard[data % colors].push_back(0xc0000000 | data); }

  void act(pe& me) {
    for (const send_action& a : script) {
      const payload_type* type = state_of(me).image->entry(role::send, a.color)->type;
      if (type == &payload_type_of<f32>) say(me, color<f32>{a.color}, a);
      else if (type == &payload_type_of<u32>) say(me, color<u32>{a.color}, a);
      else say(me, color<i16>{a.color}, a);
    }
  }
  template <class T>
  void say(pe& me, color<T> c, const send_action& a) {
    if (!a.control) return me.send(c, from_bits<T>(a.word));
    state_of(me).image->engine->send_control(state_of(me), c.id, &payload_type_of<T>, a.control->bits);
  }

  /// Goes on in the next phase that the PE has.
  template <int c>
  void torn_down(pe& me) {
    heard[colors + c].push_back(static_cast<u32>(next_phase[c]));
    me.reopen(color<u32>{c}, phase{next_phase[c]});
    next_phase[c] = alternates[c] ? 1 - next_phase[c] : next_phase[c];
  }
  bool alternates[colors]{};

  template <class T>
  struct of_type {
    template <int c>
    using hearing = on<color<T>{c}, &actor::hear<c, T>>;
    template <int c>
    using tearing = on_teardown<color<u32>{c}, &actor::torn_down<c>>;
    using list =
        task_list<numbered<colors, hearing>, sends<color_range<T, colors>{0}>, numbered<colors, tearing>>;
  };
  using tasks = task_list<launch<&actor::act>, control<cue_id, &actor::cue>>;
};

/// The entry of the actor for an entry of a random program: what descriptors would read, a task takes.
inline binding real(const binding& b) {
  static constexpr auto of_f32 = detail::table_for<actor, actor::of_type<f32>::list>(),
                        of_u32 = detail::table_for<actor, actor::of_type<u32>::list>(),
                        of_i16 = detail::table_for<actor, actor::of_type<i16>::list>();
  const role what = b.what == role::read ? role::data : b.what;
  for (const auto* entries : {&of_f32.entries, &of_u32.entries, &of_i16.entries})
    for (const binding& r : *entries)
      if (r.what == what && r.id == b.id && (r.type == b.type || what == role::torn_down)) return r;
  return b;  // the commands of a steer
}

/// The same layout with actors, on a machine with room for them.
class staged {
 public:
  explicit staged(const layout& l) : plan_(l) {
    for (const placement& p : l.placements()) programs_.try_emplace(p.what, with_actor(*p.what));
  }
  /// Placements of a layout cannot be taken back, so it is built again.
  layout build(const oracle::random_layout& source) const { return build(source, roomy_machine()); }
  layout build(const oracle::random_layout& source, const machine& m) const {
    return source.build(m, [&](const program& p) -> const program& { return programs_.at(&p); });
  }

  machine roomy_machine() const {
    machine m = plan_.machine();
    m.data_tasks = wse2.data_tasks, m.local_tasks = wse2.local_tasks, m.task_ids = wse2.task_ids;
    m.input_queues = m.output_queues = 8, m.color_owns_queue = false;
    return m;
  }

 private:
  // descriptors may read one color, but one task takes it
  static bool has(const std::vector<binding>& t, const binding& b) {
    return std::any_of(t.begin(), t.end(), [&](const binding& old) {
      return old.what == b.what && old.id == b.id && old.run == b.run && old.commands == b.commands;
    });
  }
  program with_actor(const program& p) {
    std::vector<binding>& t =
        tables_.emplace_back(std::begin(table_of<actor>.entries), std::end(table_of<actor>.entries));
    for (const binding& b : p)
      if (b.what != role::launch && b.what != role::local && b.what != role::control && !has(t, real(b)))
        t.push_back(real(b));
    program made = program_v<actor>;
    made.table = t.data(), made.entries = static_cast<int>(t.size());
    return made;
  }

  const layout& plan_;
  std::deque<std::vector<binding>> tables_;
  std::map<const program*, program> programs_;
};

/// In every position of every path wavelets come from one port.
inline bool without_races(const layout& l) {
  for (const path_record& p : l.paths()) {
    const switch_record* s = l.switch_of(p);
    for (int i = 0; i < (s ? s->count : 1); ++i)
      if (!(s ? s->position(i) : p.how).from.single()) return false;
  }
  return true;
}

inline command any_command(std::mt19937& random, u8 allowed) {
  const command c = static_cast<command>(random() % 4);
  return c == nop || (allowed & command_bit(c)) ? c : nop;
}

inline std::vector<send_action> random_script(std::mt19937& random, const program_image& image, u32 sender) {
  std::vector<send_action> script;
  for (int c = 0; c < colors; ++c) {
    if (!(image.present & color_bit(c))) continue;
    for (u32 n = static_cast<u32>(random() % 14); n > 0; --n) {
      const u32 word = sender << 8 | n;
      if (random() % 3) script.push_back({c, static_cast<u32>(random() % 20) << 16 | word, {}});
      else if (const u8 may = image.steers[c]; may && random() % 4) {
        const command_list list{any_command(random, may), any_command(random, may), any_command(random, may)};
        const u16 data = static_cast<u16>(word << 2 | static_cast<u32>(c));
        script.push_back(
            {c, 0, random() % 3 ? control_word::of(list) : control_word::of(list, cue_id, data)});
      } else
        script.push_back(
            {c, 0, control_word::of({}, cue_id, static_cast<u16>(word << 2 | static_cast<u32>(c)))});
    }
  }
  return script;
}

template <class Use>
void each_actor(fabric& f, const layout& l, Use use) {
  for (const placement& p : l.placements())
    for (int i = 0; i < p.where.count(); ++i) {
      pe& at = *f.engine_in_use().find(p.where.nth(i));
      use(*static_cast<actor*>(state_of(at).memory()), state_of(at));
    }
}
inline void give_scripts(fabric& f, const layout& l, unsigned seed) {
  std::mt19937 random(seed);
  each_actor(f, l, [&](actor& a, pe_state& s) {
    a.script = random_script(random, *s.image, static_cast<u32>(l.grid().rank({s.x, s.y})));
    for (int c = 0; c < colors; ++c)
      a.alternates[c] = l.path_at({s.x, s.y}, c, 1) && l.path_at({s.x, s.y}, c, 0),
      a.next_phase[c] = a.alternates[c];
  });
}
inline void start_all(fabric& f, const layout& l) {
  for (const placement& p : l.placements())
    f.start(area{p.where.x0, p.where.x1, p.where.y0, p.where.y1, p.where.sx, p.where.sy});
}
/// By PE and color.
inline std::vector<std::vector<u32>> heard_by_all(fabric& f, const layout& l) {
  std::vector<std::vector<u32>> heard;
  each_actor(f, l,
             [&](actor& a, pe_state&) { heard.insert(heard.end(), std::begin(a.heard), std::end(a.heard)); });
  return heard;
}

}  // namespace law::changing
