// SPDX-License-Identifier: MIT
// A program's template parameters are known at compile time, its members are the PE's memory, and a pointer
// points into that memory.
#include <wsl/wsl.hpp>
#include <cstdio>
using namespace wsl;

template <i16 first, std::size_t count>
struct program_with_parameters {
  i16 data[count]{}, sum = 0;

  static void increment_and_sum(i16 (*numbers)[count], i16* result) {
    for (i16& n : *numbers) *result = static_cast<i16>(*result + ++n);
  }
  void run(pe&) {
    for (i16 next = first; i16& n : data) n = next++;
    increment_and_sum(&data, &sum);
  }
  using tasks = task_list<local<&program_with_parameters::run, active>>;
};
using small = program_with_parameters<1, 3>;
using large = program_with_parameters<-10, 20>;

int main() {
  fabric f{layout{wse2, 2, 1}.place<small>(column(0)).place<large>(column(1))};
  f.run();
  const int three = f.read(0, 0, &small::sum), twenty = f.read(1, 0, &large::sum);
  std::printf("2 + 3 + 4 = %d, -9 + ... + 10 = %d\n", three, twenty);
  return three == 9 && twenty == 10 ? 0 : 1;
}
