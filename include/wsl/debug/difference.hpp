// SPDX-License-Identifier: MIT
// What differs between two states of the same machine, PE by PE: the first one's value, a bar, the other's.
#pragma once
#include "limited_text.hpp"
#include "place_text.hpp"
#include "places.hpp"

namespace wsl::debug {

class difference {
 public:
  /// Both states must outlive it, and have equally large grids.
  difference(const machine_state& here, const machine_state& there)
      : a_(here), b_(there), places_of_a_(here), places_of_b_(there) {}

  std::string text() {
    limited_text all;
    if (a_.cycle != b_.cycle) all.add([&] { return fmt::format("cycle {} | {}\n", a_.cycle, b_.cycle); });
    for (std::size_t i = 0; i < a_.states.size(); ++i)
      find_at(i, [&](const std::string& what, const std::string& here, const std::string& there) {
        if (here == there) return;
        all.add([&] {
          return fmt::format("{}  {}: {} | {}\n", wsl::text_of(a_.grid().nth(static_cast<int>(i))), what,
                             here, there);
        });
      });
    return all.empty() ? "no difference\n" : all.text("more differences");
  }

 private:
  /// Calls differs(what, here, there) for all that may be different at a place.
  template <class Differs>
  void find_at(std::size_t i, Differs differs) {
    const place_state &a = places_of_a_[i], &b = places_of_b_[i];
    if (a.has_pe != b.has_pe)
      return differs("program", a.has_pe ? "some" : "none", b.has_pe ? "some" : "none");
    differs("words and switches", joined_lines(router_text(a_, a)), joined_lines(router_text(b_, b)));
    if (!a.has_pe) return;
    const program_info &p = a_.programs[a.program], &q = b_.programs[b.program];
    if (p.name != q.name) return differs("program", p.name, q.name);
    differs("state", joined_lines(doing(a, p)), joined_lines(doing(b, q)));
    if (a_.memories[i] == 0 || b_.memories[i] == 0) return;
    machine_state::each_member(
        a_.blocks[a_.memories[i]], p, [&](const member_info& m, const member_values& v) {
          const member_info* same = q.find(m.name);
          if (!same || type_of(*same) != type_of(m))
            return differs(m.name, type_of(m), same ? type_of(*same) : "none");
          of_member(differs, m, v, b_.values(a_.grid().nth(static_cast<int>(i)), q, *same));
        });
  }
  template <class Differs>
  static void of_member(Differs differs, const member_info& m, const member_values& v,
                        const member_values& w) {
    if (v.count != w.count)
      return differs("number of elements of " + m.name, std::to_string(v.count), std::to_string(w.count));
    for (u64 k = 0; k < v.count; ++k) {
      const char *x = v.first + k * m.element_bytes, *y = w.first + k * m.element_bytes;
      if (std::memcmp(x, y, m.element_bytes) == 0) continue;
      return differs(m.name + index_text(m, k), debug::text_of(m, x), debug::text_of(m, y));
    }
  }
  static std::string doing(const place_state& p, const program_info& what) {
    std::string text;
    if (*p.task) text += fmt::format("{} has begun and not ended\n", p.task);
    for (const char* call : p.calls) text += fmt::format("call of {}\n", call);
    for (const task_info& t : what.tasks) text += task_text(t, p);
    for (const operation_info& t : p.operations) text += operation_text(t, what) + "\n";
    return text;
  }
  static std::string joined_lines(const std::string& lines) {
    std::string text;
    for (char c : lines) {
      if (c == '\n') text += "; ";
      else if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
    }
    return text.empty() ? "nothing" : text.substr(0, text.size() - 2);
  }

  const machine_state &a_, &b_;
  places places_of_a_, places_of_b_;
};

}  // namespace wsl::debug
