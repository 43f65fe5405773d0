// SPDX-License-Identifier: MIT
// What gdb shows of the library's values (scripts/gdb/wsl.py): the test beside it stops in `look`.
#include <wsl/engine/reference.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> values{3};

struct adder {
  f32 row[6]{1, 2, 3, 4, 5, 6};
  f16 half{1.5f};
  void add(pe& me, f32 x);
  void begin(pe& me) { me.send(values, 2.f); }
  using tasks = task_list<launch<&adder::begin>, on<values, &adder::add>, sends<values>>;
};

[[gnu::noinline]] void look(pe& me, const memory<f32>& part, const coord& at, const color<f32>& c,
                            const region& r, const route& how, const wavelet& w, const f16& half) {
  static volatile int seen = 0;
  seen = seen + part.length() + at.x + c.id + r.x0 + how.to.bits + w.color + me.x() +
         static_cast<int>(f32(half));
}

void adder::add(pe& me, f32) {
  look(me, mem(row).from(1).every(2), {7, 8}, values, {0, 8, 1, 2, 2, 1}, west >> (ramp | east),
       {255, 4, false}, half);
}

constexpr layout two = layout{wse2, 2, 1}
                           .place<adder>(all)
                           .path(values, column(0), ramp >> east)
                           .path(values, column(1), west >> ramp);

int main() { fabric{two, reference{}}.launch(at(0, 0)); }
