// SPDX-License-Identifier: MIT
// The engines that a behaviour is tested on.
#pragma once
#include <tuple>

#include <wsl/engine/reference.hpp>
#include <wsl/engine/timed.hpp>
#include <wsl/fabric/fabric.hpp>
#include <wsl/layout/check.hpp>
#include <wsl/layout/filters.hpp>
#include <wsl/layout/switches.hpp>

/// The threaded engine with partitions of one PE, so that small grids have several.
template <int n, wsl::depth queues = wsl::depth::deep>
struct on_threads {
  auto make(const wsl::layout& plan) const {
    return wsl::threaded{.threads = n, .queues = queues, .pes_per_partition = 1}.make(plan);
  }
};

using machine_depth = on_threads<2, wsl::depth::machine>;
using threaded_engines =
    std::tuple<on_threads<1>, on_threads<2>, on_threads<3>, on_threads<8>, machine_depth>;
using every_engine = std::tuple<wsl::reference, wsl::timed, on_threads<1>, on_threads<2>, on_threads<3>,
                                on_threads<8>, machine_depth>;
using long_queues = std::tuple<on_threads<1>, on_threads<2>, on_threads<3>, on_threads<8>>;
/// Those that run routes that change.
using changing_engines = std::tuple<wsl::reference, wsl::timed, on_threads<1>, on_threads<2>, on_threads<3>,
                                    on_threads<8>, machine_depth>;
/// Those whose queues are as long as the machine's, and whose ramps hold no words.
using short_queues = std::tuple<wsl::reference, machine_depth>;
