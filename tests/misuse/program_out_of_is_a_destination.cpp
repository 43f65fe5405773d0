// SPDX-License-Identifier: MIT
// The end of a FIFO from which elements come cannot be written. says: wsl: out_of is a source: the
// destination of an operation is memory, fabout, into or a scalar's address
#include <wsl/program/descriptor/fifo.hpp>
#include <wsl/wsl.hpp>

using namespace wsl;

struct part {
  f32 x[8]{};
  fifo<f32, 4> q;
#ifdef WSL_MISUSE
  void work(pe& me) { me.async(mov(out_of(q), mem(x))); }
#else
  void work(pe& me) { me.async(mov(into(q), mem(x))); }
#endif
  using tasks = task_list<launch<&part::work>>;
};
