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

  /// All of it.
  std::string text() {
    limited_text all;
    if (a_.cycle != b_.cycle) all.add([&] { return fmt::format("cycle {} | {}\n", a_.cycle, b_.cycle); });
    find_on(a_.grid(), all);
    return shown(all);
  }
  /// What differs on the PEs of a region.
  std::string text(const region& where) {
    limited_text all;
    find_on(where, all);
    return shown(all);
  }
  /// The elements of a member that differ there: all of them, where the other texts have the first of a PE.
  std::string text(const region& where, const std::string& member) {
    limited_text all;
    for (int k = 0; k < where.count(); ++k) {
      const coord c = where.nth(k);
      const std::size_t i = a_.rank(c);
      const place_state &a = places_of_a_[i], &b = places_of_b_[i];
      const member_info* const m = a.has_pe ? a_.programs[a.program].find(member) : nullptr;
      const member_info* const n = b.has_pe ? b_.programs[b.program].find(member) : nullptr;
      if (!m && !n) continue;
      const auto differs = [&](const std::string& what, const std::string& here, const std::string& there) {
        add(all, c, what, here, there);
        return true;
      };
      if (!m || !n || type_of(*m) != type_of(*n))
        differs(member, m ? type_of(*m) : "none", n ? type_of(*n) : "none");
      else if (a_.memories[i] && b_.memories[i])
        of_member(differs, *m, a_.values(c, a_.programs[a.program], *m),
                  b_.values(c, b_.programs[b.program], *n));
    }
    return shown(all);
  }

 private:
  static std::string shown(const limited_text& all) {
    return all.empty() ? "no difference\n" : all.text("more differences");
  }
  static void add(limited_text& all, coord c, const std::string& what, const std::string& here,
                  const std::string& there) {
    if (here != there)
      all.add([&] { return fmt::format("{}  {}: {} | {}\n", wsl::text_of(c), what, here, there); });
  }
  void find_on(const region& where, limited_text& all) {
    for (int k = 0; k < where.count(); ++k) {
      const coord c = where.nth(k);
      find_at(a_.rank(c), [&](const std::string& what, const std::string& here, const std::string& there) {
        add(all, c, what, here, there);
        return false;
      });
    }
  }
  /// Calls differs(what, here, there) for all that may be different at a place.
  template <class Differs>
  void find_at(std::size_t i, Differs differs) {
    const place_state &a = places_of_a_[i], &b = places_of_b_[i];
    if (a.has_pe != b.has_pe)
      return void(differs("program", a.has_pe ? "some" : "none", b.has_pe ? "some" : "none"));
    differs("words and switches", joined_lines(router_text(a_, a)), joined_lines(router_text(b_, b)));
    if (!a.has_pe) return;
    const program_info &p = a_.programs[a.program], &q = b_.programs[b.program];
    if (p.name != q.name) return void(differs("program", p.name, q.name));
    differs("state", joined_lines(doing(a, p)), joined_lines(doing(b, q)));
    if (a_.memories[i] == 0 || b_.memories[i] == 0) return;
    machine_state::each_member(
        a_.blocks[a_.memories[i]], p, [&](const member_info& m, const member_values& v) {
          const member_info* same = q.find(m.name);
          if (!same || type_of(*same) != type_of(m))
            return void(differs(m.name, type_of(m), same ? type_of(*same) : "none"));
          of_member(differs, m, v, b_.values(a_.grid().nth(static_cast<int>(i)), q, *same));
        });
  }
  /// Goes on to the next element of a member where differs(...) wants it.
  template <class Differs>
  static void of_member(Differs differs, const member_info& m, const member_values& v,
                        const member_values& w) {
    if (v.count != w.count &&
        !differs("number of elements of " + m.name, std::to_string(v.count), std::to_string(w.count)))
      return;
    for (u64 k = 0; k < std::min(v.count, w.count); ++k) {
      const char *x = v.first + k * m.element_bytes, *y = w.first + k * m.element_bytes;
      if (std::memcmp(x, y, m.element_bytes) == 0) continue;
      if (!differs(m.name + index_text(m, k), debug::text_of(m, x), debug::text_of(m, y))) return;
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
