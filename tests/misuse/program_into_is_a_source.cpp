// SPDX-License-Identifier: MIT
// The end of a FIFO into which elements go cannot be read.
// says: wsl: into is a destination: the sources of an operation are memory, fabin, out_of or scalars
#include <wsl/program/descriptor/fifo.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  f32 x[8]{};
  fifo<f32, 4> q;
#ifdef WSL_MISUSE
  void work(pe& me) { me.async(mov(mem(x), into(q))); }
#else
  void work(pe& me) { me.async(mov(mem(x), out_of(q))); }
#endif
  using tasks = task_list<launch<&part::work>>;
};
