// SPDX-License-Identifier: MIT
// Law: in a layout that the checker accepts no wavelet is lost, stuck or delivered twice. Programs that send
// tagged words on every color they may send, and keep everything that they take, stand where the random
// layouts have programs; who must hear whom is found by walking from router to router.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include <wsl/engine/reference.hpp>
#include <wsl/fabric/fabric.hpp>
#include <wsl/layout/check.hpp>
#include <wsl/program/descriptor/ops.hpp>

#include "checker_layouts.hpp"
#include "seeds.hpp"

using namespace wsl;
using namespace wsl::detail;
using wsl::engines::program_image, wsl::engines::state_of;

namespace {

constexpr int colors = oracle::random_layout::colors, words_by_task = 2, words_by_operation = 3;
constexpr int words_of_a_sender = words_by_task + words_by_operation;

constexpr u32 tag(int sender, int nth) { return static_cast<u32>(sender * words_of_a_sender + nth); }
std::vector<u32> tags_of(int sender) {
  std::vector<u32> words;
  for (int n = 0; n < words_of_a_sender; ++n) words.push_back(tag(sender, n));
  return words;
}

/// Uses f with the color c of the payload type that `type` stands for.
template <class Use>
void typed(const payload_type* type, int c, Use use) {
  if (type == &payload_type_of<f32>) use(color<f32>{c});
  else if (type == &payload_type_of<u32>) use(color<u32>{c});
  else use(color<i16>{c});
}

/// Sends its tags with a task and with operations, and keeps what arrives in tasks and in operations.
struct courier {
  std::vector<u32> got[colors];
  std::vector<u32> tags;

  template <int c, class T>
  void hear(pe&, T x) {
    got[c].push_back(to_bits(x));
  }

  void go(pe& me) {
    const program_image& image = *state_of(me).image;  // a random table may name a color twice
    for (int k = 0; k < colors; ++k) {
      if (image.reads & color_bit(k))
        typed(image.entry(role::read, k)->type, k, [&](auto c) { collect(me, c); });
      if (image.present & color_bit(k))
        typed(image.entry(role::send, k)->type, k, [&](auto c) { say(me, c); });
    }
  }

  template <class T>
  struct of_type {
    template <int c>
    using hearing = on<color<T>{c}, &courier::hear<c, T>>;
    using list = task_list<numbered<colors, hearing>, reads<color_range<T, colors>{0}>,
                           sends<color_range<T, colors>{0}>>;
  };
  using tasks = task_list<launch<&courier::go>>;

 private:
  template <class T>
  void collect(pe& me, color<T> c) {
    std::vector<u32>& to = got[c.id];  // as long as what must arrive
    if (!to.empty()) me.async(map_each([](T x) { return to_bits(x); }, mem(std::span<u32>(to)), fabin(c)));
  }
  template <class T>
  void say(pe& me, color<T> c) {
    const std::span<u32> all_tags(tags);
    for (u32 w : all_tags.first(words_by_task)) me.send(c, from_bits<T>(w));
    me.async(
        map_each([](u32 w) { return from_bits<T>(w); }, fabout(c), mem(all_tags.subspan(words_by_task))));
  }
};

/// The entry of a real program for an entry of a random one.
const binding* real(const binding& b) {
  const auto find = [&](const auto& entries) -> const binding* {
    for (const binding& r : entries)
      if (r.what == b.what && r.id == b.id && r.type == b.type) return &r;
    return nullptr;
  };
  static constexpr auto of_f32 = detail::table_for<courier, courier::of_type<f32>::list>(),
                        of_u32 = detail::table_for<courier, courier::of_type<u32>::list>(),
                        of_i16 = detail::table_for<courier, courier::of_type<i16>::list>();
  if (const binding* r = find(of_f32.entries)) return r;
  if (const binding* r = find(of_u32.entries)) return r;
  return find(of_i16.entries);
}

/// The same layout with couriers.
class staffed {
 public:
  explicit staffed(const layout& l) : plan_(with_queues(l.machine()), l.width(), l.height()) {
    for (const placement& p : l.placements()) plan_.place(p.where, courier_for(*p.what));
    for (const path_record& p : l.paths())
      typed(p.type, p.color, [&](auto c) {
        p.merges ? plan_.path(c, p.where, p.how, merges) : plan_.path(c, p.where, p.how);
      });
    for (int c = 0; c < colors; ++c)
      if (l.idle_colors() & color_bit(c)) plan_.path(color<u32>{c}, region{}, ramp >> east);
    for (const stream_record& s : l.streams()) add_stream(s);
  }
  const layout& plan() const { return plan_; }

 private:
  // The checker is also asked about machines that have none; couriers send on all their colors at once.
  static machine with_queues(machine m) {
    m.input_queues = std::max(1, m.input_queues), m.output_queues = colors;
    for (int& d : m.output_depth) d = std::max(2, d);
    return m;
  }
  const program& courier_for(const program& p) {
    if (known_.count(&p)) return *known_[&p];
    std::vector<binding>& t =
        tables_.emplace_back(std::begin(table_of<courier>.entries), std::end(table_of<courier>.entries));
    for (const binding& b : p)
      if (b.type) t.push_back(*real(b));
    program& made = programs_.emplace_back(program_v<courier>);
    made.table = t.data();
    made.entries = static_cast<int>(t.size());
    known_[&p] = &made;
    return made;
  }
  void add_stream(const stream_record& s) {
    const area where{s.where.x0, s.where.x1, s.where.y0, s.where.y1, s.where.sx, s.where.sy};
    typed(s.type, s.color, [&](auto c) {
      s.inbound ? plan_.stream_in(c, where, s.side) : plan_.stream_out(c, where, s.side);
    });
  }

  layout plan_;
  std::deque<std::vector<binding>> tables_;
  std::deque<program> programs_;
  std::map<const program*, const program*> known_;
};

// ---- who must hear whom -------------------------------------------------------------------------

struct place {
  int color;
  coord at;
  friend bool operator<(const place& a, const place& b) {
    return std::tuple(a.color, a.at.x, a.at.y) < std::tuple(b.color, b.at.x, b.at.y);
  }
};

/// For every ramp, and for every PE at which words leave the grid, the senders whose words come there, each
/// as often as they do. The PEs of the grid are senders in row-major order, then the host at each of them.
class expectation {
 public:
  std::map<place, std::vector<int>> at_ramp, at_edge;
  std::map<place, int> hosts;

  explicit expectation(const layout& l) : l_(l) {
    for (const path_record& p : l.paths())
      for (int i = 0; i < p.where.count(); ++i)
        if (p.how.from.has(ramp)) walk({p.color, p.where.nth(i)}, l.grid().rank(p.where.nth(i)));
    for (const stream_record& s : l.streams())
      for (int i = 0; i < s.where.count(); ++i)
        if (s.inbound) hosts[{s.color, s.where.nth(i)}] = l.grid().count() + l.grid().rank(s.where.nth(i));
    for (const auto& [at, sender] : hosts) walk(at, sender);
  }

 private:
  void walk(const place& p, int sender) {
    const ports to = l_.route_at(p.at, p.color).to;
    if (to.has(ramp)) at_ramp[p].push_back(sender);
    for (port side : every_side) {
      if (!to.has(side)) continue;
      if (const coord next = p.at + step(side); l_.has(next)) walk({p.color, next}, sender);
      else at_edge[p].push_back(sender);
    }
  }

  const layout& l_;
};

/// Every word of each sender came as often as it should, in the order in which it was sent.
void must_be_all_of(const std::vector<int>& senders, const std::vector<u32>& got, const place& p) {
  INFO("color " << p.color << " at PE(" << p.at.x << ", " << p.at.y << ")");
  if (got.size() != senders.size() * words_of_a_sender)
    FAIL(got.size() << " words instead of " << senders.size() * words_of_a_sender);
  std::map<int, int> times, taken;  // how often a sender's words come here; how many have
  for (int s : senders) ++times[s];
  std::map<u32, int> came;
  for (u32 w : got) {
    const int s = static_cast<int>(w) / words_of_a_sender;
    if (!times.count(s)) FAIL("a word of sender " << s << ", who does not send here");
    if (++came[w] > times[s]) FAIL("word " << w << " came " << came[w] << " times");
    // Out of the two sides of a corner a word comes twice, to the host in one stream.
    if (times[s] == 1 && w != tag(s, taken[s]++))
      FAIL("word " << w << " of sender " << s << " is out of order");
  }
}

courier& courier_at(fabric& f, coord c) {
  return *static_cast<courier*>(state_of(*f.engine_in_use().find(c)).memory());
}

void start(fabric& f, const layout& l, const expectation& e) {
  for (const placement& p : l.placements()) {
    for (int i = 0; i < p.where.count(); ++i)
      courier_at(f, p.where.nth(i)).tags = tags_of(l.grid().rank(p.where.nth(i)));
    f.start(area{p.where.x0, p.where.x1, p.where.y0, p.where.y1, p.where.sx, p.where.sy});
  }
  for (const auto& [p, senders] : e.at_ramp)
    if (state_of(*f.engine_in_use().find(p.at)).image->reads & color_bit(p.color))
      courier_at(f, p.at).got[p.color].resize(senders.size() * words_of_a_sender);
  for (const auto& [p, number] : e.hosts) f.engine_in_use().stream_write(p.color, p.at, tags_of(number));
}

template <class Engine>
u64 nothing_gets_lost(const layout& l, const expectation& e, const Engine& engine) {
  fabric f{l, engine};
  start(f, l, e);
  const outcome done = f.run();
  std::size_t expected = 0;
  for (const auto& [p, senders] : e.at_ramp)
    must_be_all_of(senders, courier_at(f, p.at).got[p.color], p), expected += senders.size();
  for (const auto& [p, senders] : e.at_edge) {
    std::vector<u32> words(100'000);
    words.resize(f.engine_in_use().stream_read(p.color, p.at, words));
    must_be_all_of(senders, words, p), expected += senders.size();
  }
  if (done.delivered != expected * words_of_a_sender)
    FAIL(done.delivered << " wavelets were delivered instead of " << expected * words_of_a_sender);
  return done.delivered;
}

/// The number of wavelets that were delivered; 0 if the checker refuses the layout.
long judge(unsigned seed, u64& delivered) {
  const oracle::random_layout source(seed);
  const layout drawn = source.build();
  if (check(drawn).found()) return 0;
  const staffed real_one(drawn);
  const layout& l = real_one.plan();
  const expectation e(l);
  const u64 n = nothing_gets_lost(l, e, reference{});
  const threaded engine{.threads = 1 + static_cast<int>(seed / 2 % 3),
                        .pes_per_partition = 1 + seed / 6 % 5,
                        .cut_lines = seed / 30 % 2 == 1};
  if (nothing_gets_lost(l, e, engine) != n) FAIL("the engines deliver different numbers of wavelets");
  if (seed % 4 == 0)
    nothing_gets_lost(l, e,
                      threaded{.threads = 1,
                               .queues = depth::machine,
                               .order = schedule::shuffled{seed},
                               .pes_per_partition = 3});
  delivered += n;
  return 1;
}

}  // namespace

TEST_CASE("in a layout that the checker accepts every wavelet arrives once, where it should") {
  constexpr law::seeds layouts{"layout", 2'000, 6'000};
  long accepted = 0;
  u64 delivered = 0;
  layouts.each([&](unsigned seed) { accepted += judge(seed, delivered); });
  std::printf("%u layouts, %ld accepted; %llu wavelets delivered\n", layouts.count(), accepted,
              static_cast<unsigned long long>(delivered));
  if (layouts.are_a_sample()) CHECK(accepted * 4 >= layouts.count());
}
