// SPDX-License-Identifier: MIT
// What the update of a stencil reads, and how much it computes, found while compiling: the update is called
// on recorders instead of numbers. `footprint_of<update>` has the dimension of the grid, the radius along
// each axis, whether diagonal neighbours are read, and the operations of a cell. What cannot be recorded is
// an error with a sentence.
#pragma once
#include <array>
#include <concepts>
#include <tuple>
#include <type_traits>

#include "../vector_work.hpp"

namespace wsl::stencils {

/// The arguments of an update, in this order: fields, of which it returns the new values, coefficients, which
/// differ from cell to cell and stay, and scalars, which are the same in all cells.
struct takes {
  int fields = 1, coefficients = 0, scalars = 0;
};

inline constexpr int most_fields = 8;

/// The operations of a cell on a wafer: a product whose result is added to something is a multiply-add.
struct operation_count {
  int sums = 0, sums_alike = 0;  ///< the latter of two numbers from lines, which lie in the same banks
  int products = 0, products_alike = 0;  ///< multiply-adds too
  int quotients = 0, roots = 0, comparisons = 0;

  constexpr int all() const {
    return sums + sums_alike + products + products_alike + quotients + roots + comparisons;
  }
  /// The time of a wafer's PE for n cells, in cycles.
  constexpr u64 cycles(const machine& m, i64 n) const {
    kernel::vector_work w(m);
    w.sums(sums + comparisons, n).sums(sums_alike, n, kernel::banks::alike);
    w.products(products, n).products(products_alike, n, kernel::banks::alike);
    w.quotients((i64{quotients} + roots) * n);
    return w.cycles();
  }
};

struct footprint {
  int dimensions = 0;                ///< 0 if no neighbour is read
  std::array<int, 3> radius{};       ///< of fields and coefficients, by the axes of the grid
  bool diagonal = false;             ///< reads a neighbour that differs along two axes
  bool coefficients_around = false;  ///< reads coefficients of neighbours
  bool before = false;               ///< reads the values of a step before
  int loads = 0;                     ///< neighbours read
  operation_count operations;

  // what is wrong; an update that is wrong in any way becomes no program, so that compilers say it once
  bool is_wrong = false;
  bool mixed_dimensions = false, too_many_dimensions = false, before_elsewhere = false;
};

namespace recorder {

inline constexpr std::size_t most_offsets = 1000;  ///< more than anyone writes

/// A number of a cell: no value, but where it came from.
class value {
 public:
  enum class origin : u8 { given, line, product, other };

  constexpr value(std::integral auto) {}
  constexpr value(std::floating_point auto) {}
  constexpr value(footprint* to, origin from) : to_(to), from_(from) {}

  constexpr footprint* record() const { return to_; }
  constexpr bool is(origin o) const { return from_ == o; }

  friend constexpr value operator+(value a, value b) { return sum(a, b); }
  friend constexpr value operator-(value a, value b) { return sum(a, b); }
  friend constexpr value operator-(value a) {
    if (a.to_) ++a.to_->operations.sums;
    return {a.to_, origin::other};
  }
  friend constexpr value operator+(value a) { return a; }
  friend constexpr value operator*(value a, value b) {
    footprint* to = either(a, b);
    if (to) ++(both_lines(a, b) ? to->operations.products_alike : to->operations.products);
    return {to, origin::product};
  }
  friend constexpr value operator/(value a, value b) {
    footprint* to = either(a, b);
    if (to) ++(b.to_ ? to->operations.quotients : to->operations.products);  // times the inverse
    return {to, b.to_ ? origin::other : origin::product};
  }
  constexpr value& operator+=(value b) { return *this = *this + b; }
  constexpr value& operator-=(value b) { return *this = *this - b; }
  constexpr value& operator*=(value b) { return *this = *this * b; }
  constexpr value& operator/=(value b) { return *this = *this / b; }

  /// A condition.
  struct condition {
    footprint* to;
    friend constexpr condition operator&(condition a, condition b) { return joined(a, b); }
    friend constexpr condition operator|(condition a, condition b) { return joined(a, b); }
    friend constexpr condition operator!(condition a) { return joined(a, a); }
    template <class Other>
    constexpr explicit operator Other() const {
      static_assert(
          sizeof(Other) == 0,
          "wsl: the update of a stencil cannot branch on the value of a cell, since it is called on "
          "several cells at a time: compute both ways and take select(condition, one, other)");
      if (to) to->is_wrong = true;
      return {};
    }

   private:
    static constexpr condition joined(condition a, condition b) {
      footprint* to = a.to ? a.to : b.to;
      if (to) ++to->operations.comparisons;
      return {to};
    }
  };
  friend constexpr condition operator<(value a, value b) { return compare(a, b); }
  friend constexpr condition operator>(value a, value b) { return compare(a, b); }
  friend constexpr condition operator<=(value a, value b) { return compare(a, b); }
  friend constexpr condition operator>=(value a, value b) { return compare(a, b); }
  friend constexpr condition operator==(value a, value b) { return compare(a, b); }
  friend constexpr condition operator!=(value a, value b) { return compare(a, b); }
  friend constexpr value select(condition m, value a, value b) {
    footprint* to = m.to ? m.to : either(a, b);
    if (to) ++to->operations.comparisons;
    return {to, origin::other};
  }
  friend constexpr value min(value a, value b) { return select(compare(a, b), a, b); }
  friend constexpr value max(value a, value b) { return select(compare(a, b), a, b); }
  friend constexpr value abs(value a) { return -a; }
  friend constexpr value sqrt(value a) {
    if (a.to_) ++a.to_->operations.roots;
    return {a.to_, origin::other};
  }
  template <class... Offset>
  constexpr value operator()(Offset...) const {
    static_assert(sizeof...(Offset) > most_offsets,
                  "wsl: a scalar of a stencil is a number, without offsets; what has them are fields and "
                  "coefficients, which are the arguments before");
    if (to_) to_->is_wrong = true;
    return {to_, origin::other};
  }
  template <class Other>
    requires(!std::same_as<Other, value>)
  constexpr explicit operator Other() const {
    static_assert(
        sizeof(Other) == 0,
        "wsl: the update of a stencil cannot turn the value of a cell into a plain number, since it "
        "is called on several cells at a time: declare its variables auto, and use min, max, abs, "
        "sqrt and select without std::");
    if (to_) to_->is_wrong = true;
    return {};
  }

 private:
  static constexpr footprint* either(value a, value b) { return a.to_ ? a.to_ : b.to_; }
  static constexpr bool both_lines(value a, value b) { return a.is(origin::line) && b.is(origin::line); }
  static constexpr value sum(value a, value b) {
    footprint* to = either(a, b);
    // the product becomes a multiply-add
    if (to && !a.is(origin::product) && !b.is(origin::product))
      ++(both_lines(a, b) ? to->operations.sums_alike : to->operations.sums);
    return {to, origin::other};
  }
  static constexpr condition compare(value a, value b) {
    footprint* to = either(a, b);
    if (to) ++to->operations.comparisons;
    return {to};
  }

  footprint* to_ = nullptr;
  origin from_ = origin::given;
};

template <class... Offset>
concept whole_numbers = (std::integral<Offset> && ...);

/// A coefficient: `k(0, 1)`. What else may be written for it is an error that says what to write.
class coefficient {
 public:
  constexpr explicit coefficient(footprint* to) : to_(to) {}
  constexpr value operator()(std::integral auto... offset) const {
    if (note({static_cast<int>(offset)...}) > 0) to_->coefficients_around = true;
    return {to_, value::origin::line};
  }
  constexpr footprint* record() const { return to_; }
  template <class... Offset>
    requires(!whole_numbers<Offset...>)
  constexpr value operator()(Offset...) const {
    static_assert(whole_numbers<Offset...>,
                  "wsl: the offsets of a neighbour in a stencil are whole numbers, as in u(-1, 0)");
    to_->is_wrong = true;
    return {to_, value::origin::line};
  }
  template <class... Offset>
  constexpr value before(Offset...) const {
    static_assert(sizeof...(Offset) > most_offsets,
                  "wsl: a coefficient of a stencil stays what it is, and only a field has values of the step "
                  "before");
    to_->is_wrong = true;
    return {to_, value::origin::line};
  }
  template <class Offset>
  constexpr const coefficient& operator[](Offset) const {
    static_assert(sizeof(Offset) == 0,
                  "wsl: a neighbour in a stencil has its offsets in round brackets: u(i), u(i, j) or "
                  "u(i, j, k)");
    to_->is_wrong = true;
    return *this;
  }

 protected:
  constexpr int note(std::initializer_list<int> offset) const {
    const int n = static_cast<int>(offset.size());
    if (n > 3 || n == 0) to_->too_many_dimensions = true;
    if (to_->dimensions != 0 && to_->dimensions != n) to_->mixed_dimensions = true;
    to_->dimensions = n, ++to_->loads;
    int axis = 0, away = 0;
    for (int o : offset) {
      if (axis < 3 && (o < 0 ? -o : o) > to_->radius[static_cast<std::size_t>(axis)])
        to_->radius[static_cast<std::size_t>(axis)] = o < 0 ? -o : o;
      away += o != 0, ++axis;
    }
    if (away > 1) to_->diagonal = true;
    return away;
  }
  footprint* to_;
};

/// A field: `u(0, 1)`, and `u.before(0, 0)`.
class field : public coefficient {
 public:
  using coefficient::coefficient;
  using coefficient::operator();
  constexpr value operator()(std::integral auto... offset) const {
    note({static_cast<int>(offset)...});
    return {to_, value::origin::line};
  }
  constexpr value before(std::integral auto... offset) const {
    to_->before = true;
    if (note({static_cast<int>(offset)...}) > 0) to_->before_elsewhere = true;
    return {to_, value::origin::line};
  }
};

/// Fields and coefficients without offsets are no numbers.
template <class A, class B>
concept one_lacks_offsets = std::derived_from<A, coefficient> || std::derived_from<B, coefficient>;
template <class A, class B>
constexpr value must_have_offsets(const A& a, const B& b) {
  static_assert(
      !one_lacks_offsets<A, B>,
      "wsl: a field or coefficient of a stencil is a number with the offsets of a neighbour only: the "
      "cell's own is u(0), u(0, 0) or u(0, 0, 0)");
  if constexpr (std::derived_from<A, coefficient>) a.record()->is_wrong = true;
  if constexpr (std::derived_from<B, coefficient>) b.record()->is_wrong = true;
  return 0;
}
template <class A, class B>
  requires one_lacks_offsets<A, B>
constexpr value operator+(const A& a, const B& b) {
  return must_have_offsets(a, b);
}
template <class A, class B>
  requires one_lacks_offsets<A, B>
constexpr value operator-(const A& a, const B& b) {
  return must_have_offsets(a, b);
}
template <class A, class B>
  requires one_lacks_offsets<A, B>
constexpr value operator*(const A& a, const B& b) {
  return must_have_offsets(a, b);
}
template <class A, class B>
  requires one_lacks_offsets<A, B>
constexpr value operator/(const A& a, const B& b) {
  return must_have_offsets(a, b);
}

}  // namespace recorder

namespace detail {

template <class Result>
concept several_values = requires { std::tuple_size<Result>::value; };

/// How many values an update returned.
template <class Result>
inline constexpr int results_in = 1;
template <several_values Result>
inline constexpr int results_in<Result> = static_cast<int>(std::tuple_size_v<Result>);
template <>
inline constexpr int results_in<void> = 0;
/// Whether all of them are numbers.
template <class Result>
inline constexpr bool are_numbers = std::is_void_v<Result> || std::convertible_to<Result, recorder::value>;
template <several_values Result>
inline constexpr bool are_numbers<Result> = []<std::size_t... i>(std::index_sequence<i...>) {
  return (are_numbers<std::tuple_element_t<i, Result>> && ...);
}(std::make_index_sequence<std::tuple_size_v<Result>>{});

template <std::size_t i, class Result>
[[gnu::always_inline]] constexpr const auto& result(const Result& all) {
  if constexpr (several_values<Result>) return std::get<i>(all);
  else return all;
}

/// What an update returns that cannot be called.
struct not_called {};

/// Calls an update on fields, coefficients and scalars that functions make from their numbers.
template <takes in, class Update, class Fields, class Coefficients, class Scalars>
[[gnu::always_inline, gnu::flatten]] constexpr auto call(const Update& update, const Fields& fields,
                                                         const Coefficients& coefficients,
                                                         const Scalars& scalars) {
  return [&]<std::size_t... f, std::size_t... c, std::size_t... s>(
             std::index_sequence<f...>, std::index_sequence<c...>, std::index_sequence<s...>)
             __attribute__((always_inline, flatten)) {
               static_assert(
                   requires { update(fields(f)..., coefficients(c)..., scalars(s)...); },
                   "wsl: the update of a stencil has an argument for each field, then one for each "
                   "coefficient, then one for each scalar, as takes{.fields, .coefficients, .scalars} says");
               if constexpr (requires { update(fields(f)..., coefficients(c)..., scalars(s)...); })
                 return update(fields(f)..., coefficients(c)..., scalars(s)...);
               else return not_called{};
             }(std::make_index_sequence<std::size_t(in.fields)>{},
               std::make_index_sequence<std::size_t(in.coefficients)>{},
               std::make_index_sequence<std::size_t(in.scalars)>{});
}

template <auto update, takes in>
constexpr auto recorded(footprint& found) {
  return call<in>(
      update, [&](std::size_t) { return recorder::field(&found); },
      [&](std::size_t) { return recorder::coefficient(&found); },
      [&](std::size_t) { return recorder::value(&found, recorder::value::origin::other); });
}
template <auto update, takes in>
constexpr footprint record() {
  footprint found;
  recorded<update, in>(found);
  return found;
}
template <auto update, takes in>
concept constant = requires { typename std::bool_constant<(record<update, in>(), true)>; };

template <auto update, takes in>
constexpr footprint checked_footprint() {
  static_assert(in.fields >= 1 && in.fields <= most_fields && in.coefficients >= 0 && in.scalars >= 0,
                "wsl: a stencil has 1 to 8 fields");
  using result_type = decltype(recorded<update, in>(std::declval<footprint&>()));
  footprint wrong;
  wrong.is_wrong = true;
  if constexpr (std::same_as<result_type, not_called>) return wrong;
  else {
    constexpr bool is_complete = results_in<result_type> == in.fields, has_numbers = are_numbers<result_type>,
                   is_constant = constant<update, in>;
    static_assert(is_complete,
                  "wsl: the update of a stencil returns one new value for each field, several of them as a "
                  "std::tuple");
    static_assert(
        has_numbers,
        "wsl: the new values that the update of a stencil returns are numbers, no conditions and no "
        "fields without offsets: select(condition, 1, 0) is the number of a condition");
    static_assert(
        is_constant,
        "wsl: the update of a stencil can be called while compiling: it is a constexpr lambda without "
        "captures, and calls constexpr functions only");
    if constexpr (is_complete && has_numbers && is_constant) {
      constexpr footprint found = record<update, in>();
      static_assert(
          !found.too_many_dimensions,
          "wsl: neighbours in a stencil have one offset for each axis, u(i), u(i, j) or u(i, j, k)");
      static_assert(!found.mixed_dimensions,
                    "wsl: all neighbours in a stencil have the same number of offsets");
      static_assert(found.dimensions > 0 || found.is_wrong,
                    "wsl: the update of a stencil reads at least one cell");
      static_assert(
          !found.before_elsewhere,
          "wsl: of the values of the step before, the update of a stencil reads only its own cell's, "
          "u.before(0, 0), because the new value replaces it");
      footprint all = found;
      all.is_wrong |= found.too_many_dimensions || found.mixed_dimensions || found.dimensions == 0 ||
                      found.before_elsewhere;
      return all;
    } else {
      return wrong;
    }
  }
}

}  // namespace detail

template <auto update, takes in = {}>
inline constexpr footprint footprint_of = detail::checked_footprint<update, in>();

}  // namespace wsl::stencils
