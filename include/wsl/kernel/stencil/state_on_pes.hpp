// SPDX-License-Identifier: MIT
// The numbers of a simulation's state where they are. A grid's lines along z lie on PEs, and a process has
// the lines of those PEs that it runs. So all processes together write a state that is larger than the memory
// of one to a file, and read it, each its own lines:
//   mpi::joint_file f(mpi::world().who, "field", 4 * size.count());
//   const auto where = s.on_pes();
//   grid::write(f, 0, where.blocks, where.field), f.finish();
// A checkpoint is such a file; see wave25/checkpoint.hpp and wave/checkpoint.hpp.
#pragma once
#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "../../fabric/host_gather.hpp"
#include "../../support/file_reader.hpp"
#include "../../support/fingerprint.hpp"
#include "../../support/scattered_file.hpp"
#include "../fail_together.hpp"
#include "grid.hpp"

namespace wsl::grid {

/// The lines that a PE has.
struct block {
  coord pe;
  lines where;
  bool is_here;  ///< this process runs the PE
};

/// An array with some numbers for each line of a grid, one line after the other, y fastest.
template <class T>
struct line_array {
  /// Of the numbers of a line, counted in numbers. Those of (x, size.y - 1) end where those of (x + 1, 0)
  /// would begin, and those of a line end where the next one begins.
  std::function<std::size_t(int x, int y)> begin;
  std::function<std::span<T>(coord pe, int x, int y)> line;  ///< of a PE of this process
};

/// Until the next run, or until the simulation goes on from another state.
template <class T>
struct state_on_pes {
  fabric* on = nullptr;
  cells size;
  std::vector<block> blocks;               ///< of all PEs, by x, then by y
  std::vector<line_array<T>> now, before;  ///< by fields
  line_array<T> border;                    ///< what lines remember near the sides
  /// What its users see after the last step; a line until the next one is asked for.
  line_array<const T> field;

  std::size_t count(const line_array<T>& a) const { return a.begin(size.x, 0); }
};

/// Calls f(lines, line) for the blocks of this process; line(x, y) has the field's cells of one of them.
template <class T, class F>
void each_own_block(const state_on_pes<T>& s, F f) {
  for (const block& b : s.blocks)
    if (b.is_here) f(b.where, [line = s.field.line, pe = b.pe](int x, int y) { return line(pe, x, y); });
}

namespace detail {

/// Bytes of a PE that are written, or read, at once.
inline constexpr std::size_t bytes_at_once = std::size_t{1} << 22;

/// The value that a PE's process has, for all; collective.
template <class T>
void pass_on(fabric& on, coord pe, T& value) {
  if (!on.spread()) return;
  host_gather from(on);
  from.add(pe, &value, &value, 1);
  from.run();
}

/// The numbers of some lines of a plane of x, in their order: those of lines y.from .. y.to - 1.
template <class T, class F>
void each_line_of(const line_array<T>& a, const block& b, int x, F f) {
  for (int y = b.where.y.from; y < b.where.y.to; ++y) f(a.line(b.pe, x, y));
}

}  // namespace detail

/// The numbers that a PE has of an array.
template <class T>
std::size_t count_of(const block& b, const line_array<T>& a) {
  std::size_t count = 0;
  for (int x = b.where.x.from; x < b.where.x.to; ++x)
    count += a.begin(x, b.where.y.to) - a.begin(x, b.where.y.from);
  return count;
}
/// Those that this process has.
template <class T>
std::size_t own_count(const std::vector<block>& blocks, const line_array<T>& a) {
  std::size_t count = 0;
  for (const block& b : blocks) count += b.is_here ? count_of(b, a) : 0;
  return count;
}

/// Calls f(x, y, line) for the lines of this process, block after block, by x, then by y.
template <class T, class F>
void each_own_line(const std::vector<block>& blocks, const line_array<T>& a, F f) {
  for (const block& b : blocks)
    for (int x = b.where.x.from; b.is_here && x < b.where.x.to; ++x)
      for (int y = b.where.y.from; y < b.where.y.to; ++y) f(x, y, a.line(b.pe, x, y));
}

/// Adds all numbers, in the order of the array, to a fingerprint that all processes have; collective. One
/// process after the other adds its own.
template <class T>
void add_to(support::fingerprint& sum, const state_on_pes<T>& s, const line_array<T>& a) {
  const std::span all(s.blocks);
  for (std::size_t first = 0, next = 0; first < all.size(); first = next) {
    const range x = all[first].where.x;
    while (next < all.size() && all[next].where.x == x) ++next;
    // Blocks beside each other take turns in each plane.
    const int planes = next - first == 1 ? x.size() : 1;
    for (int from = x.from; from < x.to; from += planes)
      for (const block& b : all.subspan(first, next - first)) {
        if (b.is_here)
          for (int at = from; at < from + planes; ++at)
            detail::each_line_of(a, b, at,
                                 [&](std::span<T> line) { sum.add(line.data(), line.size_bytes()); });
        detail::pass_on(*s.on, b.pe, sum);
      }
  }
}

/// Writes all numbers to a file from byte `at` on, which has room for them: to a mpi::joint_file of all
/// processes, or to a support::scattered_file of one. Throws support::file_error with its name. Collective.
template <class File, class T>
void write(File& to, u64 at, const std::vector<block>& blocks, const line_array<T>& a) {
  const auto begin = [&](const block& b, int x) { return a.begin(x, b.where.y.from); };
  const auto end = [&](const block& b, int x) { return a.begin(x, b.where.y.to); };
  std::size_t most = 0;  // bytes of a block
  for (const block& b : blocks) most = std::max(most, count_of(b, a) * sizeof(T));
  // Each block in as many parts, so that all processes write as often.
  const int parts = static_cast<int>((most + detail::bytes_at_once - 1) / detail::bytes_at_once);
  struct piece {
    std::size_t begin;
    int x;
    const block* of;
  };
  std::vector<piece> pieces;
  std::vector<support::file_run> runs;
  std::vector<std::remove_const_t<T>> numbers;
  for (int part = 0; part < parts; ++part) {
    to.together([&] {  // a process may lack the memory
      pieces.clear(), runs.clear(), numbers.clear();
      for (const block& b : blocks) {
        if (!b.is_here) continue;
        const range some = share(b.where.x.size(), parts, part);
        for (int x = b.where.x.from + some.from; x < b.where.x.from + some.to; ++x)
          pieces.push_back({begin(b, x), x, &b});
      }
      std::sort(pieces.begin(), pieces.end(),
                [](const piece& p, const piece& q) { return p.begin < q.begin; });
      for (const piece& p : pieces) {
        detail::each_line_of(a, *p.of, p.x, [&](std::span<T> line) {
          numbers.insert(numbers.end(), line.begin(), line.end());
        });
        const support::file_run run{at + sizeof(T) * p.begin, sizeof(T) * (end(*p.of, p.x) - p.begin)};
        if (!runs.empty() && runs.back().at + runs.back().size == run.at) runs.back().size += run.size;
        else runs.push_back(run);
      }
    });
    to.write(runs, numbers.data());
  }
}

/// Reads the numbers of this process, of an array that begins at byte `at` of a file. Throws
/// support::file_error with its name, also if it ends too early, on this process only.
template <class T>
void read(const support::file_reader& from, u64 at, const state_on_pes<T>& s, const line_array<T>& a) {
  std::vector<T> numbers;
  for (const block& b : s.blocks)
    for (int x = b.where.x.from; b.is_here && x < b.where.x.to; ++x) {
      const std::size_t begin = a.begin(x, b.where.y.from);
      numbers.resize(a.begin(x, b.where.y.to) - begin);
      from.read(at + sizeof(T) * begin, numbers.data(), numbers.size() * sizeof(T));
      const T* next = numbers.data();
      detail::each_line_of(a, b, x, [&](std::span<T> line) {
        std::copy_n(next, line.size(), line.data()), next += line.size();
      });
    }
}

/// Sets all numbers of this process to zero.
template <class T>
void clear(const state_on_pes<T>& s, const line_array<T>& a) {
  each_own_line(s.blocks, a, [](int, int, std::span<T> line) { std::fill(line.begin(), line.end(), T(0)); });
}

/// A number for each cell of this process, in the order of each_own_line, as an array.
template <class T>
line_array<const T> array_of(const cells& size, const std::vector<block>& blocks, std::vector<T> own) {
  struct part {
    block of;
    std::size_t begin;
  };
  struct numbers {
    std::vector<part> parts;
    std::vector<T> own;
  };
  const auto n = static_cast<std::size_t>(size.z);
  std::vector<part> parts;
  std::size_t begin = 0;
  for (const block& b : blocks)
    if (b.is_here) {
      parts.push_back({b, begin});
      begin += static_cast<std::size_t>(b.where.count()) * n;
    }
  const auto all = std::make_shared<const numbers>(numbers{std::move(parts), std::move(own)});
  return {[size](int x, int y) { return size.index({x, y, 0}); },
          [all, n](coord pe, int x, int y) {
            const part& p = *std::find_if(all->parts.begin(), all->parts.end(),
                                          [&](const part& one) { return one.of.pe == pe; });
            const lines& l = p.of.where;
            const int line = (x - l.x.from) * l.y.size() + y - l.y.from;
            return std::span(all->own).subspan(p.begin + static_cast<std::size_t>(line) * n, n);
          }};
}

/// The fingerprint of the first bytes of a file, which processes read one after the other, each a part.
/// Throws support::file_error on all of them if one cannot. Collective.
template <class T>
u64 fingerprint_of_bytes(const support::file_reader& of, u64 size, const state_on_pes<T>& s) {
  support::fingerprint sum;
  std::vector<char> bytes;
  std::exception_ptr failed;  // the others wait for the turn of this process nevertheless
  const u64 parts = s.blocks.size();
  for (u64 part = 0; part < parts; ++part) {
    const block& b = s.blocks[part];
    const auto begin = [&](u64 i) { return size / parts * i + std::min(i, size % parts); };
    try {
      for (u64 at = begin(part); b.is_here && !failed && at < begin(part + 1); at += bytes.size()) {
        bytes.resize(static_cast<std::size_t>(std::min<u64>(begin(part + 1) - at, detail::bytes_at_once)));
        of.read(at, bytes.data(), bytes.size());
        sum.add(bytes.data(), bytes.size());
      }
    } catch (const support::file_error&) { failed = std::current_exception(); }
    detail::pass_on(*s.on, b.pe, sum);
  }
  kernel::fail_together(*s.on, [&] {
    if (failed) std::rethrow_exception(failed);
  });
  return sum.value();
}

}  // namespace wsl::grid
