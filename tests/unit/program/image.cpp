// SPDX-License-Identifier: MIT
// A program's table as engines read it: what a color, a control id or a local task calls, and which sends
// have a path.
#include <wsl/program/declarations.hpp>

#include <catch2/catch.hpp>
#include <string>

using namespace wsl;
using namespace wsl::detail;
using wsl::engines::program_image, wsl::engines::state_of;

namespace {

constexpr color<f32> red{0}, blue{9}, green{63};

struct helper {
  void step(pe&) {}
  void other(pe&) {}
  using tasks = task_list<local<&helper::step, blocked>, sends<green>>;
};
struct part {
  helper help;
  void start(pe&) {}
  void hear(pe&, f32) {}
  void step(pe&) {}
  void stop(pe&) {}
  using tasks = task_list<launch<&part::start>, local<&part::step, active>, on<red, &part::hear>,
                          on<green, &part::hear, blocked>, reads<blue>, sends<blue, red>,
                          control<5, &part::stop>, use<&part::help>>;
};

std::string name(const binding* b) { return b ? b->name : "nothing"; }

}  // namespace

TEST_CASE("an image finds what colors, control ids and local tasks call") {
  const program_image image{program_v<part>};
  CHECK(image.source == &program_v<part>);
  CHECK(name(image.data[red.id]) == "hear");
  CHECK(name(image.data[blue.id]) == "nothing");
  CHECK(name(image.local[0]) == "step");
  CHECK(name(image.local[1]) == "step");
  CHECK(image.locals == 2);
  CHECK(image.local[0]->key != image.local[1]->key);
  CHECK(name(image.control_with(5)) == "stop");
  CHECK(name(image.control_with(4)) == "nothing");
  CHECK(name(image.control_with(63)) == "nothing");
  CHECK(image.takes == (color_bit(red.id) | color_bit(green.id)));
  CHECK(image.reads == color_bit(blue.id));
  CHECK(image.sends == (color_bit(red.id) | color_bit(blue.id) | color_bit(green.id)));
}

TEST_CASE("an image knows which tasks are blocked or active at the start") {
  const program_image image{program_v<part>};
  CHECK(image.blocked_colors == color_bit(green.id));
  CHECK(image.active_locals == color_bit(0));
  CHECK(image.blocked_locals == color_bit(1));
}

TEST_CASE("a local task is found by what it is") {
  const program_image image{program_v<part>};
  CHECK(image.local_with(&task_key<&part::step>) == 0);
  CHECK(image.local_with(&task_key<&helper::step>) == 1);
  CHECK(image.local_with(&task_key<&helper::other>) == -1);
}

TEST_CASE("sends that have a path get channels in the order of the colors") {
  program_image image{program_v<part>};
  image.set_present(color_bit(green.id) | color_bit(blue.id) | color_bit(1), wse2);
  CHECK(image.present == (color_bit(green.id) | color_bit(blue.id)));
  CHECK(image.slot[blue.id] == 0);
  CHECK(image.slot[green.id] == 1);
  CHECK(image.sent_type[green.id] == &payload_type_of<f32>);
  CHECK(image.sent_type[red.id] == nullptr);
  CHECK(image.sent_type[1] == nullptr);
  CHECK_FALSE(image.sends_many);
  image.set_present(0, wse2);
  CHECK(image.sent_type[green.id] == nullptr);
}

TEST_CASE("an entry is found by role and color") {
  const program_image image{program_v<part>};
  CHECK(image.entry(role::read, blue.id) != nullptr);
  CHECK(image.entry(role::send, blue.id) != image.entry(role::read, blue.id));
  CHECK(image.entry(role::read, red.id) == nullptr);
}

TEST_CASE("a program is made with its default values, and runs its tasks on itself") {
  struct counter {
    int n = 40;
    void up(pe&, int by, const int& often) { n += by * often; }
    using tasks = task_list<launch<&counter::up>>;
  };
  const program& what = program_v<counter>;
  alignas(counter) unsigned char bytes[sizeof(counter)];
  what.construct(bytes);
  pe me;
  const std::tuple<int, int> arguments{1, 2};
  CHECK(what.table[0].run(bytes, me, &arguments, 1) == 1);
  CHECK(std::launder(reinterpret_cast<counter*>(bytes))->n == 42);
  what.destroy(bytes);
}

TEST_CASE(
    "a data task runs for a batch of words, until it does something after which the engine must choose") {
  struct listener {
    f32 sum = 0;
    void hear(pe& me, f32 x) {
      sum += x;
      if (x == 3) me.block<red>();
    }
    using tasks = task_list<on<red, &listener::hear>>;
  };
  listener l;
  pe me;
  program_image image{program_v<listener>};
  state_of(me).image = &image;
  const u32 words[] = {to_bits(1.f), to_bits(2.f), to_bits(3.f), to_bits(4.f)};
  const binding& hear = table_of<listener>.entries[0];
  CHECK(hear.run(&l, me, words, 2) == 2);
  CHECK(hear.run(&l, me, words, 4) == 3);
  CHECK(l.sum == 1 + 2 + 1 + 2 + 3);
  CHECK(state_of(me).blocked_colors == color_bit(red.id));
}

TEST_CASE("a payload of halves goes to a task as two parameters or as one") {
  static constexpr color<halves<i16>> pairs{2};
  struct split {
    int data = 0, index = 0;
    void two(pe&, i16 d, u16 i) { data = d, index = i; }
    void one(pe&, halves<i16> h) { data = 10 * h.data, index = 10 * h.index; }
    using tasks = task_list<on<pairs, &split::two>, on<pairs, &split::one>>;
  };
  split s;
  pe me;
  const u32 word = to_bits(halves<i16>{-3, 4});
  for (int k : {0, 1}) {
    table_of<split>.entries[k].run(&s, me, &word, 1);
    CHECK(s.data == (k ? -30 : -3));
    CHECK(s.index == (k ? 40 : 4));
  }
}

TEST_CASE("a module's tasks run on the member") {
  struct inner {
    int n = 0;
    void take(pe&, u16 data) { n += data; }
    using tasks = task_list<control<1, &inner::take>>;
  };
  struct outer {
    int padding[5]{};
    inner first, second;
    using tasks = task_list<use<&outer::first>, use<&outer::second>>;
  };
  outer o;
  pe me;
  const u32 word = control_word::of({}, 1, 7).bits;
  table_of<outer>.entries[1].run(&o, me, &word, 1);
  CHECK(o.first.n == 0);
  CHECK(o.second.n == 7);
}
