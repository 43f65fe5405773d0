// SPDX-License-Identifier: MIT
// The PEs of a layout: their programs' memory, and what the engine keeps for each. PEs of one placement stand together in
// row-major order, their memories in one block, so that an engine walks over equal programs in a straight line.
#pragma once
#include <algorithm>
#include <bit>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "../program/pe.hpp"
#include "deliveries.hpp"

namespace wsl::engines {

class tiles {
 public:
  tiles(const layout& plan, const deliveries& routes, engine_link& engine) : grid_(plan.grid()), index_(static_cast<std::size_t>(grid_.count()), none) {
    std::size_t n = 0;
    for (const placement& p : plan.placements()) n += static_cast<std::size_t>(p.where.count());
    pes_.resize(n);
    u32 next = 0;
    for (const placement& p : plan.placements()) {
      blocks_.emplace_back(*p.what, p.where.count());
      blocks_.back().build();
      for (int i = 0; i < p.where.count(); ++i) settle(p.where.nth(i), next++, blocks_.back(), i, routes, engine);
    }
  }

  tiles(const tiles&) = delete;
  tiles& operator=(const tiles&) = delete;
  ~tiles() {
    for (pe& p : pes_)
      if (void* waiting = state_of(p).suspended) std::coroutine_handle<>::from_address(waiting).destroy();
  }

  std::size_t size() const { return pes_.size(); }
  pe& operator[](std::size_t i) { return pes_[i]; }

  /// The PE at c, null where no program is placed or c is outside the grid.
  pe* find(coord c) {
    if (!grid_.has(c)) return nullptr;
    const u32 i = index_[static_cast<std::size_t>(grid_.rank(c))];
    return i == none ? nullptr : &pes_[i];
  }

 private:
  static constexpr u32 none = ~u32{0};

  /// The memories of the PEs of one placement.
  class block {
   public:
    block(const program& p, int count)
        : program_(&p), count_(static_cast<std::size_t>(count)),
          bytes_(::operator new(static_cast<std::size_t>(p.bytes) * count_, alignment())) {}
    block(block&& other) noexcept
        : program_(other.program_), count_(other.count_), bytes_(std::exchange(other.bytes_, nullptr)), built_(other.built_) {}
    block& operator=(block&&) = delete;
    ~block() {
      if (!bytes_) return;
      for (std::size_t i = 0; i < built_; ++i) program_->destroy(memory(i));
      ::operator delete(bytes_, alignment());
    }
    void build() {
      for (; built_ < count_; ++built_) program_->construct(memory(built_));
    }
    const program& what() const { return *program_; }
    void* memory(std::size_t i) const { return static_cast<unsigned char*>(bytes_) + i * static_cast<std::size_t>(program_->bytes); }

   private:
    std::align_val_t alignment() const { return std::align_val_t{static_cast<std::size_t>(std::max(program_->alignment, 64))}; }

    const program* program_;
    std::size_t count_;
    void* bytes_;
    std::size_t built_ = 0;
  };

  void settle(coord c, u32 i, const block& b, int nth, const deliveries& routes, engine_link& engine) {
    pe_state& s = state_of(pes_[i]);
    const program_image& image = image_for(b.what(), c, routes);
    s.engine = &engine;
    s.image = &image;
    s.memory = b.memory(static_cast<std::size_t>(nth));
    s.blocked_colors = image.blocked_colors;
    s.active = image.active_locals;
    s.blocked = image.blocked_locals;
    s.index = i;
    s.x = static_cast<i16>(c.x);
    s.y = static_cast<i16>(c.y);
    index_[static_cast<std::size_t>(grid_.rank(c))] = i;
  }

  // PEs of one program whose ramps send the same colors share an image: inner PEs, an edge, a corner.
  const program_image& image_for(const program& p, coord c, const deliveries& routes) {
    u64 present = 0;
    for (u64 left = p.colors_of(role::send); left; left &= left - 1)
      if (routes.at(c, std::countr_zero(left)).from.has(ramp)) present |= left & (~left + 1);
    for (auto i = images_.rbegin(); i != images_.rend(); ++i)
      if ((*i)->source == &p && (*i)->present == present) return **i;
    images_.push_back(std::make_unique<program_image>(p));
    images_.back()->set_present(present);
    images_.back()->width = static_cast<i16>(grid_.x1);
    images_.back()->height = static_cast<i16>(grid_.y1);
    return *images_.back();
  }

  region grid_;
  std::vector<u32> index_;
  std::vector<std::unique_ptr<program_image>> images_;
  std::vector<block> blocks_;
  std::vector<pe> pes_;
};

}  // namespace wsl::engines
