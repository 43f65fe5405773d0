// SPDX-License-Identifier: MIT
// A control wavelet brings 16 bits. says: wsl: a control task takes the PE, and the wavelet's 16 bits if it
// wants them: void f.pe& me, u16 data.
#include <wsl/wsl.hpp>

using namespace wsl;

constexpr color<f32> red{0}, blue{1}, green{2};

#ifdef WSL_MISUSE
struct part {
  void stop(pe&, f32) {}
  using tasks = task_list<control<7, &part::stop>>;
};
#else
struct part {
  void stop(pe&, u16) {}
  using tasks = task_list<control<7, &part::stop>>;
};
#endif

constexpr layout l = layout{wse2, 1, 1}.place<part>(all);
