// SPDX-License-Identifier: MIT
// A layout as a skeleton in CSL, for who carries a proven layout to a wafer: layout.csl with the rectangle,
// the code of each PE and the routes of each color, and a stub for each program, with its colors, its tasks
// bound and as much memory as its members take. What CSL has no words for in a layout is there as a comment:
// host streams, and paths of a later phase.
//   for (const csl_file& f : csl_skeleton(l)) write(f.name, f.text);
#pragma once
#include <bit>
#include <string>
#include <vector>

#include "../../support/text.hpp"
#include "../layout.hpp"

namespace wsl {

struct csl_file {
  std::string name, text;
};

namespace drawing {

class csl_writer {
 public:
  explicit csl_writer(const layout& l) : layout_(l) {
    for (const placement& p : l.placements())
      if (index_of(*p.what) < 0) programs_.push_back(p.what);
    for (const program* p : programs_) files_.push_back(file_of(*p));
  }

  std::vector<csl_file> files() const {
    std::vector<csl_file> all{{"layout.csl", layout_text()}};
    for (std::size_t k = 0; k < programs_.size(); ++k) all.push_back({files_[k], stub(*programs_[k])});
    return all;
  }

 private:
  int index_of(const program& p) const {
    for (std::size_t k = 0; k < programs_.size(); ++k)
      if (programs_[k] == &p) return static_cast<int>(k);
    return -1;
  }
  /// The name of a program as that of a file: letters, digits and _, and a number where that is not enough.
  std::string file_of(const program& p) const {
    std::string name;
    for (const char c : std::string(p.name)) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (plain) name += c;
      else if (!name.empty() && name.back() != '_') name += '_';
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    std::string found = name.empty() ? "program" : name;
    for (int k = 2;; ++k) {
      bool is_new = found != "layout";
      for (const std::string& f : files_) is_new = is_new && f != found + ".csl";
      if (is_new) return found + ".csl";
      found = name + "_" + std::to_string(k);
    }
  }

  /// The parameter of a program for a color.
  static std::string parameter(int id) {
    return detail::is_symbolic(id) ? "s" + std::to_string(id - detail::first_symbolic)
                                   : "c" + std::to_string(id);
  }
  static u64 colors_named(const program& p) {
    u64 all = 0;
    for (const detail::binding& b : p)
      if (b.names_a_color()) all |= detail::color_bit(b.id);
    return all;
  }

  // ---- layout.csl

  std::string layout_text() const {
    std::string t = support::joined(
        {"// The layout of ", layout_.width(), " x ", layout_.height(), " PEs of a program for ",
         layout_.machine().name, ", as its checker has proved it.\n",
         "// A program that talks with the host imports <memcpy> and passes its parameters on to the "
         "PEs.\n\n",
         "layout {\n  @set_rectangle(", layout_.width(), ", ", layout_.height(), ");\n"});
    for (const placement& p : layout_.placements()) {
      t += support::joined({"\n  // ", p.what->name, "\n"});
      std::string parameters;
      for (u64 left = colors_named(*p.what); left; left &= left - 1) {
        const int id = std::countr_zero(left);
        parameters += support::joined(
            {parameters.empty() ? " " : ", ", ".", parameter(id), " = @get_color(", p.colors(id), ")"});
      }
      const auto file = static_cast<std::size_t>(index_of(*p.what));
      t += on_each(p.where, support::joined({"@set_tile_code(x, y, \"", files_[file], "\", .{", parameters,
                                             parameters.empty() ? "" : " ", "});"}));
    }
    for (const path_record& p : layout_.paths()) {
      t += support::joined(
          {"\n  // color ", p.color, ", ", p.type->name, p.phase > 0 ? ", after a teardown, phase " : "",
           p.phase > 0 ? std::to_string(int{p.phase}) : "", p.merges ? ", words merge" : "", "\n"});
      const std::string config =
          support::joined({"@set_color_config(x, y, @get_color(", p.color, "), .{ ", config_of(p), " });"});
      t += p.phase > 0 ? "  // <tile_config>: " + config + "\n" : on_each(p.where, config);
    }
    for (const auto& s : layout_.streams())
      t += support::joined({"\n  // The host ", s.inbound ? "writes" : "reads", " color ", s.color,
                            " through the ", name_of(s.side), " of ", text_of(s.where), ".\n"});
    return t + "}\n";
  }
  static std::string on_each(const region& r, const std::string& what) {
    return support::joined({"  for (@range(i16, ", r.x0, ", ", r.x1, ", ", r.sx,
                            ")) |x| {\n    for (@range(i16, ", r.y0, ", ", r.y1, ", ", r.sy,
                            ")) |y| {\n      ", what, "\n    }\n  }\n"});
  }
  static std::string directions(ports p) {
    std::string t = ".{";
    for (const port side : every_port) {
      if (!p.has(side)) continue;
      std::string name = name_of(side);
      for (char& c : name) c = static_cast<char>(c - 'a' + 'A');
      t += (t.size() == 2 ? " " : ", ") + name;
    }
    return t + " }";
  }
  std::string config_of(const path_record& p) const {
    std::string t = ".routes = .{ .rx = " + directions(p.how.from) + ", .tx = " + directions(p.how.to);
    if (p.swaps.has(east) || p.swaps.has(west)) t += ", .color_swap_x = true";
    if (p.swaps.has(north) || p.swaps.has(south)) t += ", .color_swap_y = true";
    t += " }";
    if (const detail::switch_record* s = layout_.switch_of(p)) t += ", " + switches_of(*s);
    if (const detail::filter_record* f = layout_.filter_of(p)) t += ", " + filter_of(p, *f);
    if (p.closed) t += ", .teardown = true";
    return t;
  }
  static std::string switches_of(const detail::switch_record& s) {
    std::string t = ".switches = .{";
    for (int i = 1; i < s.count; ++i) {
      const route now = s.position(i), before = s.position(i - 1);
      t += support::joined({i == 1 ? " " : ", ", ".pos", i, " = .{"});
      const bool from = now.from != before.from, to = now.to != before.to;
      if (from) t += " .rx = " + direction(now.from);
      if (to) t += std::string(from ? "," : "") + " .tx = " + direction(now.to);
      t += " }";
    }
    constexpr const char* pops[] = {"no_pop", "always_pop", "pop_on_advance", "pop_on_advance_nop"};
    return t + support::joined({", .current_switch_pos = ", int{s.start},
                                ", .ring_mode = ", s.ring ? "true" : "false", ", .pop_mode = .{ .",
                                pops[static_cast<int>(s.pop)], " = true } }"});
  }
  static std::string direction(ports p) {
    std::string t = directions(p);  // ".{ EAST }"
    return t.substr(3, t.size() - 5);
  }
  /// A number that moves from PE to PE of a path.
  static std::string moving(const region& r, int at, int per_column, int per_row, int period) {
    const auto kept = [period](int n) { return period > 0 ? ((n % period) + period) % period : n; };
    std::string t = std::to_string(kept(at));
    if (kept(per_column))
      t += support::joined({" + ", kept(per_column), " * ((x - ", r.x0, ") / ", r.sx, ")"});
    if (kept(per_row)) t += support::joined({" + ", kept(per_row), " * ((y - ", r.y0, ") / ", r.sy, ")"});
    return period > 0 ? support::joined({"(", t, ") % ", period}) : t;
  }
  static std::string filter_of(const path_record& p, const detail::filter_record& f) {
    if (f.by_index)
      return ".filter = .{ .kind = .{ .range = true }, .min_idx = " +
             moving(p.where, f.first, f.per_column, f.per_row, 0) +
             ", .max_idx = " + moving(p.where, f.last, f.per_column, f.per_row, 0) + " }";
    const auto word = [](bool b) { return b ? "true" : "false"; };
    return support::joined({".filter = .{ .kind = .{ .counter = true }, .count_data = ", word(f.counts_data),
                            ", .count_control = ", word(f.counts_control),
                            ", .init_counter = ", moving(p.where, f.start, f.per_column, f.per_row, f.period),
                            ", .max_counter = ", f.last, ", .limit1 = ", f.period - 1,
                            ", .filter_control = ", word(f.holds_control), " }"});
  }

  // ---- the stub of a program

  static std::string type_of(const detail::payload_type* t) {
    if (!t) return "u32";
    const std::string name = t->name;
    if (name == "float") return "f32";
    if (name.find("16") != name.npos && name.find("int") == name.npos) return "f16";
    const bool is_signed = name == "int" || name == "short";
    return std::string(is_signed ? "i" : "u") + (t->bytes == 2 ? "16" : "32");
  }
  std::string stub(const program& p) const {
    using detail::role;
    const bool owns = layout_.machine().color_owns_queue;
    std::string t =
        support::joined({"// A stub of ", p.name,
                         ": its colors, its tasks and its memory. What the tasks do is to be written.\n\n"});
    for (u64 left = colors_named(p); left; left &= left - 1)
      t += "param " + parameter(std::countr_zero(left)) + ": color;\n";
    t += support::joined({"\n// The members take ", p.bytes, " bytes.\nvar members = @zeros([",
                          (p.bytes + 3) / 4, "]u32);\n"});
    std::string tasks, bound;
    int input = 2, output = 2;  // queues 0 and 1 are those of <memcpy>
    for (const detail::binding& b : p) {
      const std::string name = b.name, color = b.names_a_color() ? parameter(b.id) : "";
      switch (b.what) {
        case role::launch:
          tasks += support::joined(
              {"\nfn ", name, "() void {  // the host gives ", b.arguments, " arguments\n}\n"});
          bound += "  @export_symbol(" + name + ");\n";
          break;
        case role::data:
          if (owns) {
            tasks += support::joined({"\nconst ", name, "_queue = @get_input_queue(", input++, ");"});
            bound += "  @initialize_queue(" + name + "_queue, .{ .color = " + color + " });\n";
          }
          tasks += "\nconst " + name + "_id: data_task_id = @get_data_task_id(" +
                   (owns ? name + "_queue" : color) + ");\ntask " + name + "(data: " + type_of(b.type) +
                   ") void {\n}\n";
          bound += "  @bind_data_task(" + name + ", " + name + "_id);\n" + start_of(b, name);
          break;
        case role::local:
          if (name == "then_advance") break;  // .advance_switch of the operation
          tasks +=
              support::joined({"\nconst ", name, "_id: local_task_id = @get_local_task_id(", 8 + b.id, ");"});
          if (b.arrivals > 1) tasks += support::joined({"  // when it was activated ", b.arrivals, " times"});
          tasks += "\ntask " + name + "() void {\n}\n";
          bound += "  @bind_local_task(" + name + ", " + name + "_id);\n" + start_of(b, name);
          break;
        case role::control:
          tasks += support::joined({"\nconst ", name, "_id: control_task_id = @get_control_task_id(", b.id,
                                    ");\ntask ", name, "(data: u16) void {\n}\n"});
          bound += "  @bind_control_task(" + name + ", " + name + "_id);\n";
          break;
        case role::torn_down:
          tasks += "\nfn " + name + "() void {  // after a teardown of " + color + "\n}\n";
          bound += "  @set_teardown_handler(" + name + ", " + color + ");\n";
          break;
        case role::read:
          tasks +=
              support::joined({"\nconst from_", color, " = @get_dsd(fabin_dsd, .{ .fabric_color = ", color,
                               ", .extent = 1, .input_queue = @get_input_queue(", input, ") });\n"});
          if (owns)
            bound += support::joined(
                {"  @initialize_queue(@get_input_queue(", input, "), .{ .color = ", color, " });\n"});
          ++input;
          break;
        case role::send:
          tasks +=
              support::joined({"\nconst to_", color, " = @get_dsd(fabout_dsd, .{ .fabric_color = ", color,
                               ", .extent = 1, .output_queue = @get_output_queue(", output, ") });\n"});
          if (owns)
            bound += support::joined(
                {"  @initialize_queue(@get_output_queue(", output, "), .{ .color = ", color, " });\n"});
          ++output;
          break;
        case role::steer:
          tasks += "\n// Control wavelets of " + color + " carry commands for switches.\n";
          break;
        case role::share: break;
      }
    }
    return t + tasks + "\ncomptime {\n" + bound + "}\n";
  }
  static std::string start_of(const detail::binding& b, const std::string& name) {
    return b.start == detail::initially::blocked  ? "  @block(" + name + "_id);\n"
           : b.start == detail::initially::active ? "  @activate(" + name + "_id);\n"
                                                  : std::string();
  }

  const layout& layout_;
  std::vector<const program*> programs_;
  std::vector<std::string> files_;
};

}  // namespace drawing

/// layout.csl, then a file for each program of the layout.
inline std::vector<csl_file> csl_skeleton(const layout& l) { return drawing::csl_writer(l).files(); }

}  // namespace wsl
