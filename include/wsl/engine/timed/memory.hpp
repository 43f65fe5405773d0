// SPDX-License-Identifier: MIT
// The memory that the timed engine takes for its PEs, part by part: of a wafer it is gigabytes.
#pragma once
#include "worker.hpp"

namespace wsl::engines {

/// A part of the engine's memory, in bytes.
struct memory_use {
  const char* what;
  u64 bytes;
};

template <class T>
u64 bytes_of(const support::flat_vector<T>& v) {
  return v.capacity() * sizeof(T);
}

/// The parts of what the PEs of an engine share or have for themselves, without their programs.
inline support::flat_vector<memory_use> memory_of(const timed_state& s) {
  support::flat_vector<memory_use> parts;
  const auto add = [&](const char* what, u64 bytes) { parts.push_back({what, bytes}); };
  u64 gates = 0, scripts = 0, registers = 0, queues = 0, flights = 0;
  for (const timed_processor& p : s.processors) {
    gates += bytes_of(p.gates) + bytes_of(p.flights);
    scripts += bytes_of(p.script);
    registers += p.registers.bytes();
    queues += p.outbox.bytes() + p.calls.bytes();
  }
  for (const flight_store& f : s.flights) flights += f.bytes();
  const mesh_topology& m = s.routers;
  add("processors", bytes_of(s.processors));
  add("operations", flights);
  add("gates", gates);
  add("scripts", scripts);
  add("descriptor registers", registers);
  add("outboxes and calls", queues);
  add("pipes", bytes_of(s.all_pipes.all));
  add("their places", bytes_of(s.all_pipes.places));
  add("steady readers", s.all_pipes.readers.bytes());
  add("arbiters", bytes_of(m.arbiters) + bytes_of(m.targets));
  add("colors of routers", m.channels.bytes());
  add("origins of pipes", bytes_of(m.origins));
  add("switches", bytes_of(m.switches) + bytes_of(m.switched_channels));
  add("events", bytes_of(s.events.actors) + bytes_of(s.events.next) + bytes_of(s.events.busy));
  return parts;
}

}  // namespace wsl::engines
