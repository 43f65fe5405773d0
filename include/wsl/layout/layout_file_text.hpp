// SPDX-License-Identifier: MIT
// The text of a layout file. docs/guide/view.md describes the format; a change after which an older reader
// would show something wrong gives it another version. Every program with a timed fabric compiles this file,
// so it is written with few types.
#pragma once
#include <cstddef>
#include <new>
#include <string>

#include "../support/flat_vector.hpp"
#include "../support/text.hpp"
#include "../support/whole_file.hpp"
#include "exported_member.hpp"
#include "layout_file.hpp"

namespace wsl {
namespace detail {

class layout_writer {
 public:
  explicit layout_writer(const layout& l) : layout_(l) {
    for (const placement& p : l.placements())
      if (number_of(*p.what) == programs_.size()) programs_.push_back(p.what);
  }

  std::string text() {
    const wsl::machine& m = layout_.machine();
    add({"{\"format\":\"wsl layout\",\"version\":",
         layout_file_version,
         ",\n\"machine\":{\"name\":",
         quoted(m.name),
         ",\"width\":",
         m.width,
         ",\"height\":",
         m.height,
         ",\"colors\":",
         m.colors,
         ",\"memory\":",
         m.memory,
         ",\"color_owns_queue\":",
         word(m.color_owns_queue),
         ",\"prefers_injected\":",
         word(m.prefers_injected),
         ",\"swaps_colors\":",
         word(m.swaps_colors),
         "},\n\"width\":",
         layout_.width(),
         ",\"height\":",
         layout_.height()});
    begin("programs");
    for (const program* p : programs_) add(*p);
    begin("placements");
    for (const placement& p : layout_.placements()) add(p);
    begin("paths");
    for (const path_record& p : layout_.paths()) add(p);
    begin("streams");
    for (const stream_record& s : layout_.streams()) {
      place(s.where);
      add({",\"color\":", s.color, ",\"side\":", letters(s.side), ",\"inbound\":", word(s.inbound), "}"});
    }
    begin("claims");
    for (const claim& c : layout_.claims()) {
      place(c.where);
      add({",\"module\":", quoted(c.module), ",\"first\":", c.first, ",\"count\":", c.count, "}"});
    }
    return std::move(text_ += "]}\n");
  }

 private:
  void add(std::initializer_list<support::piece> pieces) {
    for (const support::piece& p : pieces) support::append(text_, p);
  }
  /// Begins a list of the file, and ends the one before.
  void begin(const char* name) {
    add({started_ ? "],\n\"" : ",\n\"", name, "\":["}), started_ = true, first_ = true;
  }
  /// Begins an entry of a list.
  void next() { text_ += first_ ? "\n{" : ",\n{", first_ = false; }
  static const char* word(bool b) { return b ? "true" : "false"; }
  /// Names are those that the compiler prints; what is not ASCII in them may have been cut.
  static std::string quoted(const char* name) {
    std::string t = "\"";
    for (; *name; ++name) {
      if (*name == '"' || *name == '\\') t += '\\';
      t += *name >= ' ' && *name < 127 ? *name : '?';
    }
    return t += '"';
  }
  /// A letter for each port: "RE".
  static std::string letters(ports p) {
    std::string t = "\"";
    for (const port side : every_port)
      if (p.has(side)) t += static_cast<char>(*name_of(side) - 'a' + 'A');
    return t += '"';
  }
  /// Begins an entry with the first column and row, the numbers of columns and rows, and both strides.
  void place(const region& r) {
    next();
    add({"\"where\":[", r.x0, ",", r.y0, ",", r.columns(), ",", r.rows(), ",", r.sx, ",", r.sy, "]"});
  }
  void payload(const payload_type* type) {
    if (type) add({",\"payload\":[", quoted(type->name), ",", type->bytes, "]"});
  }

  std::size_t number_of(const program& p) const {
    std::size_t k = 0;
    while (k < programs_.size() && programs_[k] != &p) ++k;
    return k;
  }
  void add(const program& p) {
    next();
    add({"\"name\":", quoted(p.name), ",\"bytes\":", p.bytes});
    if (p.exported) members(p);
    text_ += ",\"tasks\":[";
    for (const binding& b : p) {
      constexpr const char* roles[] = {"launch", "data", "local", "control", "torn_down",
                                       "read",   "send", "steer", "share"};
      add({&b == p.begin() ? "\n{\"what\":\"" : ",\n{\"what\":\"", roles[static_cast<int>(b.what)],
           "\",\"id\":", b.id, ",\"name\":", quoted(b.name)});
      payload(b.type);
      if (b.start != initially::ready)
        text_ += b.start == initially::blocked ? ",\"start\":\"blocked\"" : ",\"start\":\"active\"";
      if (b.arguments) add({",\"arguments\":", b.arguments});
      if (b.arrivals) add({",\"arrivals\":", b.arrivals});
      text_ += '}';
    }
    text_ += "]}";
  }
  void members(const program& p) {
    // Places of members need the address of a program, which does not have to live.
    const std::align_val_t alignment{static_cast<std::size_t>(p.alignment)};
    void* const nobody = ::operator new(static_cast<std::size_t>(p.bytes), alignment);
    text_ += ",\"members\":[";
    for (int k = 0; k < p.exported; ++k) {
      const exported_member& m = p.exports[k];
      const auto offset =
          m.place ? static_cast<const std::byte*>(m.place(nobody)) - static_cast<std::byte*>(nobody)
                  : std::ptrdiff_t{m.offset};
      add({k ? ",\n{\"name\":" : "\n{\"name\":", quoted(m.name), ",\"type\":", quoted(m.type),
           ",\"offset\":", offset, ",\"bytes\":", m.bytes});
      if (m.rank) {
        for (int i = 0; i < m.rank; ++i) add({i ? "," : ",\"extents\":[", m.extents[i]});
        text_ += ']';
      }
      text_ += '}';
    }
    text_ += ']';
    ::operator delete(nobody, alignment);
  }
  void add(const placement& p) {
    place(p.where);
    add({",\"program\":", number_of(*p.what)});
    if (!p.colors.empty()) {
      const char* before = ",\"colors\":{\"";
      for (int id = first_symbolic; id < max_colors; ++id)
        if (p.colors(id) != id) add({before, id, "\":", p.colors(id)}), before = ",\"";
      text_ += '}';
    }
    text_ += '}';
  }
  void add(const path_record& p) {
    place(p.where);
    add({",\"color\":", p.color});
    payload(p.type);
    add({",\"from\":", letters(p.how.from), ",\"to\":", letters(p.how.to)});
    if (p.merges) text_ += ",\"merges\":true";
    if (p.closed) text_ += ",\"closed\":true";
    if (p.phase) add({",\"phase\":", int{p.phase}});
    if (p.injects) add({",\"injects\":", int{p.injects}});
    if (!p.swaps.empty()) add({",\"swaps\":", letters(p.swaps)});
    if (const switch_record* s = layout_.switch_of(p)) add(*s);
    if (const filter_record* f = layout_.filter_of(p)) add(*f);
    text_ += '}';
  }
  void add(const switch_record& s) {
    constexpr const char* pops[] = {"never", "always", "on_advance", "on_advance_or_nop"};
    text_ += ",\"switch\":{\"positions\":[";
    for (int i = 0; i < s.count; ++i)
      add({i ? ",[" : "[", letters(s.position(i).from), ",", letters(s.position(i).to), "]"});
    add({"],\"start\":", int{s.start}, ",\"ring\":", word(s.ring), ",\"pop\":\"",
         pops[static_cast<int>(s.pop)], "\"}"});
  }
  void add(const filter_record& f) {
    add({",\"filter\":{\"by_index\":",
         word(f.by_index),
         ",\"first\":",
         f.first,
         ",\"last\":",
         f.last,
         ",\"period\":",
         f.period,
         ",\"start\":",
         f.start,
         ",\"per_column\":",
         f.per_column,
         ",\"per_row\":",
         f.per_row,
         ",\"counts_data\":",
         word(f.counts_data),
         ",\"counts_control\":",
         word(f.counts_control),
         ",\"holds_control\":",
         word(f.holds_control),
         "}"});
  }

  const layout& layout_;
  support::flat_vector<const program*> programs_;
  std::string text_;
  bool started_ = false, first_ = true;
};

WSL_COMPILED_PART void write_layout_file(const layout& l, const std::string& file) {
  support::write_whole_file(file, layout_json(l));
}

}  // namespace detail

WSL_COMPILED_PART std::string layout_json(const layout& l) { return detail::layout_writer(l).text(); }

}  // namespace wsl
