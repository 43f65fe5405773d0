// SPDX-License-Identifier: MIT
// Filters: a vector is streamed through a row of PEs, and each PE keeps its own part. A filter in front of
// the processor compares the index that travels in the upper half of every wavelet. One path with one filter
// serves the whole row, because the filter's range advances from PE to PE.
#include <wsl/layout/filters.hpp>
#include <wsl/wsl.hpp>

#include <cstdio>
using namespace wsl;

constexpr int length = 4;  // of a part
constexpr color<halves<i16>> elements{0};

struct reader {
  void stream(pe& me, int parts) {
    for (int i = 0; i < parts * length; ++i)
      me.send(elements, {static_cast<i16>(i * i), static_cast<u16>(i)});
  }
  using tasks = task_list<launch<&reader::stream>, sends<elements>>;
};

struct owner {
  i16 part[length]{};
  void keep(pe&, i16 value, u16 index) { part[index % length] = value; }
  using tasks = task_list<on<elements, &owner::keep>>;
};

layout scatter(int parts) {
  const range_filter mine{.first = 0, .last = length - 1, .per_column = length};
  const range_filter the_last{.first = (parts - 1) * length, .last = parts * length - 1};
  return layout{wse2, 1 + parts, 1}
    .place<reader>(column(0))
    .place<owner>(columns(1, edge))
    .path(elements, column(0),           ramp >> east)
    .path(elements, columns(1, edge - 1), west >> (ramp | east), mine)
    .path(elements, column(edge - 1),     west >> ramp,          the_last);
}

int main() {
  int wrong = 0;
  for (int parts : {3, 6}) {
    fabric f{scatter(parts)};
    const outcome o = f.launch<&reader::stream>(column(0), parts);
    std::printf("%llu wavelets were sent, %llu delivered\n", static_cast<unsigned long long>(o.wavelets),
                static_cast<unsigned long long>(o.delivered));
    for (int x = 0; x < parts; ++x, std::printf("\n"))
      for (int i = 0; i < length; ++i) {
        const int value = f.program_at<owner>({1 + x, 0}).part[i], at = x * length + i;
        std::printf("%5d", value);
        wrong += value != at * at;
      }
  }
  return wrong == 0 ? 0 : 1;
}
