// SPDX-License-Identifier: MIT
// Control wavelets as words: what is packed comes out again, command by command, whatever else the wavelet
// carries.
#include <wsl/core/control.hpp>

#include <catch2/catch.hpp>

#include <random>
#include <vector>

using namespace wsl;
using Catch::Contains;
using wsl::detail::command_bit, wsl::detail::command_list, wsl::detail::control_word;

namespace {

std::vector<command> random_commands(std::mt19937& random, std::size_t most) {
  std::vector<command> list(random() % (most + 1));
  for (command& c : list) c = static_cast<command>(random() % 8);
  return list;
}

command_list packed(const std::vector<command>& list) {
  const auto at = [&](std::size_t i) { return i < list.size() ? list[i] : nop; };
  switch (list.size()) {
    case 0: return {};
    case 1: return at(0);
    case 2: return {at(0), at(1)};
    case 3: return {at(0), at(1), at(2)};
    case 4: return {at(0), at(1), at(2), at(3)};
    case 5: return {at(0), at(1), at(2), at(3), at(4)};
    case 6: return {at(0), at(1), at(2), at(3), at(4), at(5)};
    case 7: return {at(0), at(1), at(2), at(3), at(4), at(5), at(6)};
    default: return {at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
  }
}

/// The routers of a way that all pop see the commands in order, then nops.
void must_yield(control_word w, const std::vector<command>& list, std::size_t room, bool heard) {
  bool still_heard = room > list.size() ? heard : true;
  for (std::size_t k = 0; k < 12; ++k, w = w.popped()) {
    const command expected = k < list.size() ? list[k] : nop;
    CHECK((static_cast<int>(w.head()) == (static_cast<int>(expected) & 3)));
    if (k < room) still_heard = heard && !(static_cast<int>(expected) & 4);
    CHECK(w.heard() == still_heard);
  }
}

}  // namespace

TEST_CASE("commands come out in order, with the id and the data") {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const int id = static_cast<int>(random() % 64);
    const u16 data = static_cast<u16>(random());
    const auto eight = random_commands(random, 8), three = random_commands(random, 3);
    must_yield(control_word::of(packed(eight)), eight, 8, false);
    must_yield(control_word::of(packed(eight), id), eight, 8, true);
    must_yield(control_word::of(packed(three), id, data), three, 3, true);
    control_word plain = control_word::of(packed(eight), id),
                 with_data = control_word::of(packed(three), id, data);
    for (int k = 0; k < 10; ++k, plain = plain.popped(), with_data = with_data.popped()) {
      CHECK(plain.id() == id);
      CHECK(with_data.id() == id);
      CHECK(with_data.data() == data);
      CHECK((!plain.has_data() && with_data.has_data()));
    }
  }
}

TEST_CASE("the set of commands leaves out nops and what processors hear") {
  CHECK(command_list{}.set() == 0);
  CHECK(command_list{nop, nop}.set() == 0);
  CHECK(command_list{switch_adv, nop, unheard(switch_rst)}.set() ==
        (command_bit(switch_adv) | command_bit(switch_rst)));
  CHECK(command_list{teardown}.count() == 1);
  CHECK(std::string(name_of(unheard(teardown))) == "teardown");
}

TEST_CASE("too many commands, too many beside data, and ids that do not exist are faults") {
  CHECK_THROWS_WITH((command_list{nop, nop, nop, nop, nop, nop, nop, nop, nop}),
                    Contains("at most 8 commands, not 9"));
  CHECK_THROWS_WITH(control_word::of({nop, nop, nop, nop}, 1, 2),
                    Contains("with data carries at most 3 commands, not 4"));
  CHECK_THROWS_WITH(control_word::of(switch_adv, 64), Contains("no control task 64"));
  CHECK_THROWS_WITH(control_word::of(switch_adv, -1), Contains("no control task -1"));
}
