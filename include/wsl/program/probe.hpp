// SPDX-License-Identifier: MIT
// A probe is an object that all PEs of a fabric share and that watches them: a check of what several PEs do
// together, a counter, a recorder. The library's own check that the PEs of a team call a collective with the
// same sizes is one (collective/team_calls.hpp). The PEs of a machine share no memory, so a probe is no part
// of the program: no result may depend on it.
#pragma once
#include <atomic>
#include <utility>

namespace wsl::engines {

/// The probes of an engine, one of each type, made when a PE first asks for it.
class probe_list {
 public:
  probe_list() = default;
  probe_list(const probe_list&) = delete;
  probe_list& operator=(const probe_list&) = delete;
  ~probe_list() {
    for (const entry* e = first_.load(); e;) delete std::exchange(e, e->next);
  }

  template <class T>
  T& get() {
    const entry* first = first_.load(std::memory_order_acquire);
    if (const entry* e = find<T>(first)) [[likely]]
      return *static_cast<T*>(e->object);
    // Not a unique_ptr: <memory> would be a tenth of what every program compiles.
    auto* const made = new entry_of<T>();
    do {
      if (const entry* e = find<T>(first)) {  // another thread was faster
        delete made;
        return *static_cast<T*>(e->object);
      }
      made->next = first;
    } while (!first_.compare_exchange_weak(first, made, std::memory_order_acq_rel));
    return made->probe;
  }

 private:
  struct entry {
    const void* type;
    void* object;
    const entry* next = nullptr;
    entry(const void* t, void* o) : type(t), object(o) {}
    virtual ~entry() = default;
  };
  template <class T>
  struct entry_of final : entry {
    T probe;
    entry_of() : entry(&key<T>, &probe) {}
  };
  template <class T>
  static constexpr char key = 0;

  template <class T>
  static const entry* find(const entry* e) {
    while (e && e->type != &key<T>) e = e->next;
    return e;
  }

  std::atomic<const entry*> first_ = nullptr;
};

}  // namespace wsl::engines
