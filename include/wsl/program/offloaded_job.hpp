// SPDX-License-Identifier: MIT
// What a PE computes beside its tasks, in memory that none of them touches meanwhile; on the machine,
// operations on memory in a microthread. It hears and sends nothing, so an engine may do it on any thread and
// at any time before it says that it is complete. Programs ask for it with `pe::async_compute`;
// ml/train/streaming/worker.hpp does.
#pragma once
#include "descriptor/transfer.hpp"

namespace wsl {

struct offloaded_job {
  void (*compute)(void* part) = nullptr;
  void* part = nullptr;
  const char* name = "";  ///< for reports
  transfer then;          ///< its completions happen
};

}  // namespace wsl
