// SPDX-License-Identifier: MIT
// The inner loop of all stencils: the update of some lines of cells along the contiguous axis, many cells at
// a time. It is compiled for vectors of 16, 32 and 64 bytes, as the loops of linalg/vector_code.hpp are, and
// the user's functions are inlined into it.
#pragma once
#include <cstddef>
#include <cstring>

#include "../../linalg/vector_code.hpp"
#include "footprint.hpp"
#include "lanes.hpp"

namespace wsl::stencils {

/// A line and the lines around it: the one i further in x is at xs + i * sx, and the one j further in y, too,
/// at ys + i * sx + j * sy. In a block of lines all three are the same place.
template <class T>
struct surroundings {
  const T *own, *xs, *ys;
  [[gnu::always_inline]] void advance(std::ptrdiff_t by) { own += by, xs += by, ys += by; }
};

/// Lines to update: `count` of them, each `step` behind the one before, cells from .. to - 1 along z.
template <takes in, class T>
struct lines_of_cells {
  surroundings<T> fields[std::size_t(in.fields)];
  T* next[std::size_t(in.fields)];  ///< the values of the step before, which the new ones replace
  surroundings<T> coefficients[std::size_t(in.coefficients > 0 ? in.coefficients : 1)];
  std::ptrdiff_t sx, sy, step;
  int count, from, to;
  const T* scalars;
  // of a sponge: factors by z and by line, and the values to which cells are drawn, by fields and z - from;
  // or a vector of each, with a mask of 0, if they are the same in all cells
  const T *fading_z, *fading_line, *rest[std::size_t(in.fields)];
  std::ptrdiff_t rest_mask;

  /// To the next line.
  [[gnu::always_inline]] void advance() {
    for (auto& f : fields) f.advance(step);
    for (auto& n : next) n += step;
    if constexpr (in.coefficients > 0)
      for (auto& k : coefficients) k.advance(step);
  }
};

namespace detail {

/// What an update calls: a coefficient in some cells of a line. `around` is where the first of them is.
template <int n, int axes, class T>
struct coefficient_reader {
  surroundings<T> around;
  std::ptrdiff_t sx, sy;

  [[gnu::always_inline]] lanes<T, n> operator()(int k) const
    requires(axes == 1)
  {
    return load_lanes<n>(around.own + k);
  }
  [[gnu::always_inline]] lanes<T, n> operator()(int i, int k) const
    requires(axes == 2)
  {
    return load_lanes<n>(i == 0 ? around.own + k : around.xs + i * sx + k);
  }
  [[gnu::always_inline]] lanes<T, n> operator()(int i, int j, int k) const
    requires(axes == 3)
  {
    return load_lanes<n>(i == 0 && j == 0 ? around.own + k
                         : j == 0         ? around.xs + i * sx + k
                                          : around.ys + i * sx + j * sy + k);
  }
};

/// A field: its values now, and in the same cell a step before.
template <int n, int axes, class T, bool fades>
struct field_reader : coefficient_reader<n, axes, T> {
  const T* old;
  lanes<T, n> fading, rest;

  [[gnu::always_inline]] lanes<T, n> before(std::convertible_to<int> auto...) const {
    const lanes<T, n> x = load_lanes<n>(old);
    if constexpr (fades) return rest + fading * (x - rest);
    else return x;
  }
};

template <auto update, takes in, class T, bool fades>
struct sweep {
  static constexpr int axes = footprint_of<update, in>.dimensions;

  template <int n>
  [[gnu::always_inline]] static inline void run(const lines_of_cells<in, T>& given) {
    if constexpr (!footprint_of<update, in>.is_wrong) march<n>(given);
  }

 private:
  template <int n>
  [[gnu::always_inline]] static inline void march(const lines_of_cells<in, T>& given) {
    lines_of_cells<in, T> l = given;  // a local copy, which the stores cannot alias
    T last[std::size_t(in.fields)][std::size_t(n)];
    const auto whole = [](int f) { return static_cast<std::size_t>(f); };
    for (int i = 0; i < l.count; ++i) {
      for (std::ptrdiff_t z = l.from; z < l.to; z += n) {
        const lanes<T, n> fading = [&]() __attribute__((always_inline)) -> lanes<T, n> {
          if constexpr (fades) return l.fading_line[i] * load_lanes<n>(l.fading_z + z);
          else return {};
        }();
        const auto rest = [&](int f) __attribute__((always_inline)) -> lanes<T, n> {
          if constexpr (fades) return load_lanes<n>(l.rest[f] + ((z - l.from) & l.rest_mask));
          else return {};
        };
        const auto at = [&](const surroundings<T>& s) __attribute__((always_inline)) {
          return surroundings<T>{s.own + z, s.xs + z, s.ys + z};
        };
        const auto results = call<in>(
            update,
            [&](std::size_t f) __attribute__((always_inline)) {
              return field_reader<n, axes, T, fades>{
                  {at(l.fields[f]), l.sx, l.sy}, l.next[f] + z, fading, rest(static_cast<int>(f))};
            },
            [&](std::size_t c) __attribute__((always_inline)) {
              return coefficient_reader<n, axes, T>{at(l.coefficients[c]), l.sx, l.sy};
            },
            [&](std::size_t s) __attribute__((always_inline)) { return lanes<T, n>(l.scalars[s]); });
        // A vector that reaches beyond the last cell goes aside first. The same code computes it, so no bit
        // depends on where a line ends.
        const bool is_whole = z + n <= l.to;
        [&]<std::size_t... f>(std::index_sequence<f...>) __attribute__((always_inline)) {
          (store_lanes(is_whole ? l.next[f] + z : last[f],
                       faded(lanes<T, n>(result<f>(results)), fading, rest(static_cast<int>(f)))),
           ...);
        }(std::make_index_sequence<whole(in.fields)>{});
        if (!is_whole)
          for (std::size_t f = 0; f < whole(in.fields); ++f)
            std::memcpy(l.next[f] + z, last[f], static_cast<std::size_t>(l.to - z) * sizeof(T));
      }
      l.advance();
    }
  }

  template <int n>
  [[gnu::always_inline]] static lanes<T, n> faded(const lanes<T, n>& x, const lanes<T, n>& fading,
                                                  const lanes<T, n>& rest) {
    if constexpr (fades) return rest + fading * (x - rest);
    else return x;
  }
};

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-attributes"
#endif
/// The versions of a loop. Unlike those of vector_code they are flattened, because a user's functions are to
/// be inlined as well, and GCC fuses no products and sums in them.
template <class Loop, class T, class Argument>
class flattened_code {
 public:
  using function = void (*)(const Argument&);

  /// For vectors of so many bytes, at most those that the processor has.
  static function with([[maybe_unused]] int bytes) {
#if defined(__x86_64__)
    if (bytes == 64) return &with_64;
    if (bytes == 32) return &with_32;
#endif
    return &with_16;
  }
  static function best() { return with(processor_lanes() * 4); }

 private:
  static constexpr int lanes_of(int bytes) { return bytes / static_cast<int>(sizeof(T)); }
  [[gnu::flatten, gnu::optimize("fp-contract=off")]] static void with_16(const Argument& a) {
    Loop::template run<lanes_of(16)>(a);
  }
#if defined(__x86_64__)
  [[gnu::target("avx2,fma"), gnu::flatten, gnu::optimize("fp-contract=off")]] static void with_32(
      const Argument& a) {
    Loop::template run<lanes_of(32)>(a);
  }
  [[gnu::target("avx512f,avx512dq,avx512vl,avx2,fma"), gnu::flatten,
    gnu::optimize("fp-contract=off")]] static void
  with_64(const Argument& a) {
    Loop::template run<lanes_of(64)>(a);
  }
#endif
};
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace detail

template <auto update, takes in, class T, bool fades>
inline const auto sweep_lines =
    detail::flattened_code<detail::sweep<update, in, T, fades>, T, lines_of_cells<in, T>>::best();

}  // namespace wsl::stencils
