// SPDX-License-Identifier: MIT
// A channel is one color of one PE as its final receivers see it: a ring that the PE's tasks and operations write and every
// receiver reads at its own pace. Routes are known before the run, so no router stands between. An engine without channels
// (the reference engine) gives its PEs none, and every send asks the engine.
#pragma once
#include "../core/scalar.hpp"

namespace wsl {

struct channel {
  u32* words = nullptr;    ///< the ring, lent while something is in it
  u64 tail = 0;            ///< words written so far
  u64 limit = 0;           ///< words that may be written before the engine must be asked again
  u64 announced = 0;       ///< words that the receivers know of
  u32 mask = 0;            ///< the ring's size minus one
  u32 writer = 0;          ///< the PE, or host stream, that writes
  u32 first_reader = 0;    ///< the only inlet, or where the list of inlets starts
  u16 readers = 0;
  u16 links = 0;           ///< links that one word crosses on its way to all receivers
  bool writer_waits = false;  ///< a receiver that makes room must wake the writer
  bool operated = false;      ///< an operation in flight writes here: tasks may not
};

}  // namespace wsl
