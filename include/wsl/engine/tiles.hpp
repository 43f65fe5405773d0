// SPDX-License-Identifier: MIT
// The PEs of a layout: the memory of their programs, and their states. The PEs of one placement are
// contiguous in row-major order, and their memories form one block, so that an engine traverses equal
// programs linearly.
#pragma once
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "../program/pe.hpp"
#include "../support/flat_vector.hpp"
#include "resolved_routes.hpp"

namespace wsl::engines {

/// When the programs of PEs are built.
enum class memories : u8 {
  built,       ///< all of them, with the engine
  zeroed,      ///< so too, and all padding is zero, so that equal programs are equal byte by byte
  when_asked,  ///< each when its memory is asked for first: a process has those of its own PEs
};

class tiles {
 public:
  tiles(const layout& plan, const resolved_routes& routes, engine_port& engine,
        memories of_programs = memories::built) {
    std::size_t n = 0;
    for (const placement& p : plan.placements()) n += static_cast<std::size_t>(p.where.count());
    // one more, a sentinel that ends the receive windows of the last PE
    pes_ = support::flat_vector<pe>(n + 1);
    u32 first = 0;
    for (const placement& p : plan.placements()) {
      block& b = blocks_.push_back({p.where, p.colors.empty() ? p.what : in_colors(p), p.colors, first});
      b.allocate();
      if (of_programs == memories::zeroed) std::memset(b.bytes, 0, b.size());
      if (of_programs == memories::when_asked)
        b.is_built = support::flat_vector<u32>(std::size_t(p.where.count()));
      else b.build();
      for (int i = 0; i < p.where.count(); ++i) settle(b, i, plan, routes, engine);
      first += static_cast<u32>(p.where.count());
    }
  }

  tiles(const tiles&) = delete;
  tiles& operator=(const tiles&) = delete;
  ~tiles() {
    for (block& b : blocks_) b.clear();
    for (program_image* i : images_) delete i;
    while (in_colors_) delete std::exchange(in_colors_, in_colors_->next);
  }

  std::size_t size() const { return pes_.size() - 1; }
  /// Sets the arrays of all PEs' windows, which are ordered by PE.
  void set_windows(send_window* to_send, receive_window* to_receive) {
    for (program_image* i : images_) i->send_windows = to_send, i->receive_windows = to_receive;
  }
  pe& operator[](std::size_t i) { return pes_[i]; }

  /// The memory of a PE; if memories are built when they are asked for, this does it.
  void* memory_of(const pe_state& s) {
    for (block& b : blocks_)
      if (s.index >= b.first && s.index - b.first < static_cast<u32>(b.where.count()))
        b.build(s.index - b.first);
    return s.memory();
  }

  /// The PE at c, null where no program is placed or c is outside the grid.
  pe* find(coord c) {
    for (const block& b : blocks_)
      if (b.where.has(c)) return &pes_[b.first + static_cast<u32>(b.where.rank(c))];
    return nullptr;
  }

 private:
  /// The memories of the PEs of one placement.
  struct block {
    region where;
    const program* what = nullptr;  ///< without symbolic colors
    color_map colors;               ///< that its tasks know by symbolic ones
    u32 first = 0;                  ///< its first PE
    void* bytes = nullptr;
    int built = 0;                         ///< so many from the first on
    support::flat_vector<u32> is_built{};  ///< of each PE, if they are built when they are asked for

    void allocate() {
      bytes = is_large() ? support::new_in_large_pages(size()) : ::operator new(size(), alignment());
    }
    void build() {
      for (; built < where.count(); ++built) what->construct(memory(built));
    }
    void build(u32 nth) {
      if (is_built.empty() || is_built[nth]) return;
      what->construct(memory(static_cast<int>(nth)));
      is_built[nth] = 1;
    }
    void clear() {
      while (built > 0) what->destroy(memory(--built));
      for (std::size_t i = 0; i < is_built.size(); ++i)
        if (is_built[i]) what->destroy(memory(static_cast<int>(i)));
      if (!bytes) return;
      is_large() ? support::delete_in_large_pages(bytes) : ::operator delete(bytes, alignment());
    }
    void* memory(int i) const {
      return static_cast<unsigned char*>(bytes) + static_cast<std::size_t>(i) * stride();
    }
    std::size_t size() const { return stride() * static_cast<std::size_t>(where.count()); }
    bool is_large() const { return size() > support::large_array && what->alignment <= 4096; }
    /// Bytes from one memory to the next. Each memory begins a cache line if that costs less than a quarter
    /// more: storing a vector across two lines takes twice as long.
    std::size_t stride() const {
      constexpr std::size_t line = 64;
      const std::size_t n = static_cast<std::size_t>(what->bytes);
      return n < 4 * line ? n : (n + line - 1) / line * line;
    }
    std::align_val_t alignment() const {
      return std::align_val_t{static_cast<std::size_t>(what->alignment > 64 ? what->alignment : 64)};
    }
  };

  void settle(const block& b, int nth, const layout& plan, const resolved_routes& routes,
              engine_port& engine) {
    const coord c = b.where.nth(nth);
    const u32 i = b.first + static_cast<u32>(nth);
    const program_image& image = image_for(b, c, plan, routes, engine);
    pe_state& s = state_of(pes_[i]);
    s.image = &image;
    s.blocked_colors = image.blocked_colors;
    s.active = image.active_locals;
    s.blocked = image.blocked_locals;
    s.index = i;
    s.x = static_cast<i16>(c.x);
    s.y = static_cast<i16>(c.y);
  }

  // PEs of one placement whose ramps send the same colors share an image, for instance all inner PEs, or
  // those of one edge or corner.
  const program_image& image_for(const block& b, coord c, const layout& plan, const resolved_routes& routes,
                                 engine_port& engine) {
    u64 present = 0;
    for (u64 left = b.what->colors_of(role::send); left; left &= left - 1)
      if (routes.at(c, std::countr_zero(left)).from.has(ramp)) present |= left & (~left + 1);
    for (std::size_t i = images_.size(); i-- > 0 && images_[i]->memories == b.bytes;)
      if (images_[i]->present == present) return *images_[i];
    program_image& image = *images_.push_back(new program_image(*b.what, b.colors));
    image.engine = &engine;
    image.memories = b.bytes;
    image.stride = b.stride();
    image.first = b.first;
    image.set_present(present, image.engine->target());
    image.width = static_cast<i16>(plan.width());
    image.height = static_cast<i16>(plan.height());
    return image;
  }

  /// A program with the colors of one placement in place of its symbolic ones.
  struct program_in_colors {
    program what;
    binding* table;
    program_in_colors* next;

    program_in_colors(const placement& p, program_in_colors* others)
        : what(*p.what), table(new binding[static_cast<unsigned>(what.entries)]), next(others) {
      for (int i = 0; i < what.entries; ++i) {
        binding& b = table[i] = p.what->table[i];
        if (b.names_a_color()) b.id = p.colors(b.id), b.after = p.colors(b.after);
      }
      what.table = table;
    }
    program_in_colors(const program_in_colors&) = delete;
    program_in_colors& operator=(const program_in_colors&) = delete;
    ~program_in_colors() { delete[] table; }
  };
  const program* in_colors(const placement& p) {
    in_colors_ = new program_in_colors(p, in_colors_);
    return &in_colors_->what;
  }

  support::flat_vector<program_image*> images_;
  program_in_colors* in_colors_ = nullptr;
  support::flat_vector<block> blocks_;
  support::flat_vector<pe> pes_;
};

}  // namespace wsl::engines
