// SPDX-License-Identifier: MIT
// A computation that a PE runs beside its tasks, in memory that none of them touches meanwhile; on the
// machine, operations on memory in a microthread. It neither receives nor sends, so an engine may run it on
// any thread and at any time before it reports completion. Programs start one with `pe::async_compute`, as
// ml/train/streaming/worker.hpp does.
#pragma once
#include "descriptor/transfer.hpp"

namespace wsl::engines {

struct offloaded_job {
  void (*compute)(void* part) = nullptr;
  void* part = nullptr;
  const char* name = "";  ///< for reports
  transfer then;          ///< its completions take effect when the job is done
};

}  // namespace wsl::engines
