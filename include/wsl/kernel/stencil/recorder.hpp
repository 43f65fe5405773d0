// SPDX-License-Identifier: MIT
// What takes the place of numbers while the footprint of an update is found (footprint.hpp): fields,
// coefficients and values that note how they are used. What an update must not do with them is an error with
// a sentence.
#pragma once
#include <array>
#include <bit>
#include <concepts>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "../vector_work.hpp"

namespace wsl::stencils {

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

/// A number that stands in a program.
template <class Number>
concept plain_number = std::integral<Number> || std::floating_point<Number>;

/// What a value is computed of and how.
enum class operation : u8 {
  constant,
  field,
  step_before,
  coefficient,
  scalar,
  sum,
  difference,
  negation,
  product,
  quotient,
  root,
  absolute_value,
  choice,
  less,
  at_most,
  equal,
  different,
  both,
  either,
  opposite,
};

/// The expression of a value, without its numbers.
struct expression {
  /// Of its operations in their order, its constants and the neighbours that it reads.
  u64 fingerprint = 0xcbf29ce484222325u;
  bool overflows_f32 = false, vanishes_in_f32 = false;  ///< a constant does

  /// With something of which it is made.
  constexpr expression with(u64 part) const {
    expression e = *this;
    e.fingerprint = (fingerprint ^ part) * 0x9e3779b97f4a7c15u;
    e.fingerprint ^= e.fingerprint >> 32;
    return e;
  }
  constexpr expression with(const expression& part) const {
    expression e = with(part.fingerprint);
    e.overflows_f32 |= part.overflows_f32, e.vanishes_in_f32 |= part.vanishes_in_f32;
    return e;
  }
  static constexpr expression of(operation how, const auto&... parts) {
    expression e = expression{}.with(static_cast<u64>(how));
    ((e = e.with(parts)), ...);
    return e;
  }
  static constexpr expression of_constant(f64 x) {
    // halfway to what the next number would be, and half of the smallest one
    constexpr f64 too_large = 0x1.ffffffp127, too_small = 0x1p-150;
    const f64 size = x < 0 ? -x : x;
    expression e = of(operation::constant, std::bit_cast<u64>(x));
    e.overflows_f32 = size >= too_large && size <= std::numeric_limits<f64>::max();
    e.vanishes_in_f32 = size > 0 && size <= too_small;
    return e;
  }
};

/// Compilers say this name, and that of the class, first where a template of std, such as
/// std::max(u(0), 1.f), takes no such value, and where a variable has another type, as in `float x = u(0)`. A
/// conversion that said more could not be told from that of `i == 0 ? 1.f : u(i)`, which is right.
namespace functions_without_std {

/// A number of a cell: no value, but where it came from.
class number_that_only_auto_holds {
  using value = number_that_only_auto_holds;

 public:
  enum class origin : u8 { given, line, product, other };

  constexpr number_that_only_auto_holds(plain_number auto x)
      : made_(expression::of_constant(static_cast<f64>(x))) {}
  constexpr number_that_only_auto_holds(footprint* to, origin from, const expression& made)
      : to_(to), from_(from), made_(made) {}

  constexpr number_that_only_auto_holds(const value&) = default;
  // A variable is assigned to, and a neighbour is not.
  constexpr value& operator=(const value&) & = default;
  template <class Other>
  constexpr value& operator=(const Other&) && {
    return not_assigned<Other>();
  }

  constexpr footprint* record() const { return to_; }
  constexpr bool is(origin o) const { return from_ == o; }
  constexpr const expression& made() const { return made_; }

  friend constexpr value operator+(value a, value b) { return sum(a, b, operation::sum); }
  friend constexpr value operator-(value a, value b) { return sum(a, b, operation::difference); }
  friend constexpr value operator-(value a) {
    if (a.to_) ++a.to_->operations.sums;
    return {a.to_, origin::other, expression::of(operation::negation, a.made_)};
  }
  friend constexpr value operator+(value a) { return a; }
  friend constexpr value operator*(value a, value b) {
    footprint* to = either(a, b);
    if (to) ++(both_lines(a, b) ? to->operations.products_alike : to->operations.products);
    return {to, origin::product, expression::of(operation::product, a.made_, b.made_)};
  }
  friend constexpr value operator/(value a, value b) {
    footprint* to = either(a, b);
    if (to) ++(b.to_ ? to->operations.quotients : to->operations.products);  // times the inverse
    return {to, b.to_ ? origin::other : origin::product,
            expression::of(operation::quotient, a.made_, b.made_)};
  }
  // With plain numbers, for which the operators of the language were as good.
  friend constexpr value operator+(value a, plain_number auto b) { return a + value(b); }
  friend constexpr value operator-(value a, plain_number auto b) { return a - value(b); }
  friend constexpr value operator*(value a, plain_number auto b) { return a * value(b); }
  friend constexpr value operator/(value a, plain_number auto b) { return a / value(b); }
  friend constexpr value operator+(plain_number auto a, value b) { return value(a) + b; }
  friend constexpr value operator-(plain_number auto a, value b) { return value(a) - b; }
  friend constexpr value operator*(plain_number auto a, value b) { return value(a) * b; }
  friend constexpr value operator/(plain_number auto a, value b) { return value(a) / b; }
  constexpr value& operator+=(value b) & { return *this = *this + b; }
  constexpr value& operator-=(value b) & { return *this = *this - b; }
  constexpr value& operator*=(value b) & { return *this = *this * b; }
  constexpr value& operator/=(value b) & { return *this = *this / b; }
  template <class Other>
  constexpr value& operator+=(const Other&) && {
    return not_assigned<Other>();
  }
  template <class Other>
  constexpr value& operator-=(const Other&) && {
    return not_assigned<Other>();
  }
  template <class Other>
  constexpr value& operator*=(const Other&) && {
    return not_assigned<Other>();
  }
  template <class Other>
  constexpr value& operator/=(const Other&) && {
    return not_assigned<Other>();
  }

  /// A condition; its name says what that of the values says.
  struct condition_that_only_auto_holds {
    using condition = condition_that_only_auto_holds;

    footprint* to;
    expression made;
    friend constexpr condition operator&(condition a, condition b) { return joined(a, b, operation::both); }
    friend constexpr condition operator|(condition a, condition b) { return joined(a, b, operation::either); }
    friend constexpr condition operator!(condition a) { return joined(a, a, operation::opposite); }
    template <class Other>
    friend constexpr condition operator&&(condition a, Other) {
      return not_joined<Other>(a);
    }
    template <class Other>
    friend constexpr condition operator||(condition a, Other) {
      return not_joined<Other>(a);
    }
    template <class Other>
    constexpr explicit operator Other() const {
      static_assert(
          sizeof(Other) == 0,
          "wsl: the update of a stencil cannot branch on the value of a cell, since it is called on "
          "several cells at a time: compute both ways and take select(condition, one, other), or write min "
          "and max without std::");
      if (to) to->is_wrong = true;
      return {};
    }

   private:
    template <class Other>
    static constexpr condition not_joined(condition a) {
      static_assert(
          sizeof(Other) == 0,
          "wsl: conditions of cells in a stencil are joined by & and | and negated by !, since they "
          "are those of several cells at a time");
      if (a.to) a.to->is_wrong = true;
      return a;
    }
    static constexpr condition joined(condition a, condition b, operation how) {
      footprint* to = a.to ? a.to : b.to;
      if (to) ++to->operations.comparisons;
      return {to, expression::of(how, a.made, b.made)};
    }
  };
  using condition = condition_that_only_auto_holds;
  friend constexpr condition operator<(value a, value b) { return compare(operation::less, a, b); }
  friend constexpr condition operator>(value a, value b) { return compare(operation::less, b, a); }
  friend constexpr condition operator<=(value a, value b) { return compare(operation::at_most, a, b); }
  friend constexpr condition operator>=(value a, value b) { return compare(operation::at_most, b, a); }
  friend constexpr condition operator==(value a, value b) { return compare(operation::equal, a, b); }
  friend constexpr condition operator!=(value a, value b) { return compare(operation::different, a, b); }
  friend constexpr condition operator<(value a, plain_number auto b) { return a < value(b); }
  friend constexpr condition operator>(value a, plain_number auto b) { return a > value(b); }
  friend constexpr condition operator<=(value a, plain_number auto b) { return a <= value(b); }
  friend constexpr condition operator>=(value a, plain_number auto b) { return a >= value(b); }
  friend constexpr condition operator==(value a, plain_number auto b) { return a == value(b); }
  friend constexpr condition operator!=(value a, plain_number auto b) { return a != value(b); }
  friend constexpr condition operator<(plain_number auto a, value b) { return value(a) < b; }
  friend constexpr condition operator>(plain_number auto a, value b) { return value(a) > b; }
  friend constexpr condition operator<=(plain_number auto a, value b) { return value(a) <= b; }
  friend constexpr condition operator>=(plain_number auto a, value b) { return value(a) >= b; }
  friend constexpr condition operator==(plain_number auto a, value b) { return value(a) == b; }
  friend constexpr condition operator!=(plain_number auto a, value b) { return value(a) != b; }
  friend constexpr value select(condition m, value a, value b) {
    footprint* to = m.to ? m.to : either(a, b);
    if (to) ++to->operations.comparisons;
    return {to, origin::other, expression::of(operation::choice, m.made, a.made_, b.made_)};
  }
  template <class Other>
    requires(!std::same_as<Other, condition>)
  friend constexpr value select(Other, value a, value) {
    static_assert(
        sizeof(Other) == 0,
        "wsl: select in a stencil chooses by a condition of cells, such as u(0, 0) > 0; what is the "
        "same in all cells is no such condition: write flag ? one : other");
    if (a.to_) a.to_->is_wrong = true;
    return a;
  }
  friend constexpr value min(value a, value b) { return select(b < a, b, a); }
  friend constexpr value max(value a, value b) { return select(a < b, b, a); }
  friend constexpr value abs(value a) {
    if (a.to_) ++a.to_->operations.sums;
    return {a.to_, origin::other, expression::of(operation::absolute_value, a.made_)};
  }
  friend constexpr value sqrt(value a) {
    if (a.to_) ++a.to_->operations.roots;
    return {a.to_, origin::other, expression::of(operation::root, a.made_)};
  }
  template <class... Offset>
  constexpr value operator()(Offset...) const {
    static_assert(sizeof...(Offset) > most_offsets,
                  "wsl: a scalar of a stencil is a number, without offsets; what has them are fields and "
                  "coefficients, which are the arguments before");
    if (to_) to_->is_wrong = true;
    return *this;
  }
  // The functions of <cmath> take a long double, which nobody writes beside a value in `? :`; so they are
  // found, and this sentence is the first that compilers say of them.
  template <class Other>
    requires(!std::same_as<Other, value>)
  constexpr explicit(!std::same_as<Other, long double>) operator Other() const {
    static_assert(
        sizeof(Other) == 0,
        "wsl: the update of a stencil cannot turn the value of a cell into a plain number, since it "
        "is called on several cells at a time: declare its variables auto, write min, max, abs, sqrt and "
        "select(condition, one, other) without std::, and powers as products");
    if (to_) to_->is_wrong = true;
    return {};
  }

 private:
  template <class Other>
  constexpr value& not_assigned() {
    static_assert(sizeof(Other) == 0,
                  "wsl: the update of a stencil returns the new value of the cell, and assigns to no cells; "
                  "it may assign to variables, as in auto sum = u(0, 0)");
    if (to_) to_->is_wrong = true;
    return *this;
  }
  static constexpr footprint* either(value a, value b) { return a.to_ ? a.to_ : b.to_; }
  static constexpr bool both_lines(value a, value b) { return a.is(origin::line) && b.is(origin::line); }
  static constexpr value sum(value a, value b, operation how) {
    footprint* to = either(a, b);
    // the product becomes a multiply-add
    if (to && !a.is(origin::product) && !b.is(origin::product))
      ++(both_lines(a, b) ? to->operations.sums_alike : to->operations.sums);
    return {to, origin::other, expression::of(how, a.made_, b.made_)};
  }
  static constexpr condition compare(operation how, value a, value b) {
    footprint* to = either(a, b);
    if (to) ++to->operations.comparisons;
    return {to, expression::of(how, a.made_, b.made_)};
  }

  footprint* to_ = nullptr;
  origin from_ = origin::given;
  expression made_;
};
using value = number_that_only_auto_holds;

/// Functions that the values of cells do not have.
template <class... Number>
concept one_is_a_value = (std::same_as<Number, value> || ...);
template <class... Number>
constexpr value no_such_function(const Number&... x) {
  static_assert(
      !one_is_a_value<Number...>,
      "wsl: of functions the update of a stencil has sqrt, abs, min, max and select(condition, one, "
      "other), without std::; write powers as products, and give what else differs from cell to cell "
      "as a coefficient");
  const auto mark = [](const auto& one) {
    if constexpr (std::same_as<decltype(one), const value&>)
      if (one.record()) one.record()->is_wrong = true;
  };
  (mark(x), ...);
  return 0;
}
#define WSL_NO_SUCH_FUNCTION(name)           \
  template <class... Number>                 \
    requires one_is_a_value<Number...>       \
  constexpr value name(const Number&... x) { \
    return no_such_function(x...);           \
  }
WSL_NO_SUCH_FUNCTION(pow)
WSL_NO_SUCH_FUNCTION(exp)
WSL_NO_SUCH_FUNCTION(log)
WSL_NO_SUCH_FUNCTION(sin)
WSL_NO_SUCH_FUNCTION(cos)
WSL_NO_SUCH_FUNCTION(tan)
WSL_NO_SUCH_FUNCTION(tanh)
WSL_NO_SUCH_FUNCTION(fabs)
WSL_NO_SUCH_FUNCTION(fmin)
WSL_NO_SUCH_FUNCTION(fmax)
WSL_NO_SUCH_FUNCTION(hypot)
WSL_NO_SUCH_FUNCTION(floor)
WSL_NO_SUCH_FUNCTION(ceil)
WSL_NO_SUCH_FUNCTION(round)
WSL_NO_SUCH_FUNCTION(clamp)
#undef WSL_NO_SUCH_FUNCTION

}  // namespace functions_without_std

using functions_without_std::value;

template <class... Offset>
concept whole_numbers = (std::integral<Offset> && ...);

/// A coefficient: `k(0, 1)`. What else may be written for it is an error that says what to write.
class coefficient {
 public:
  /// The `number`-th one.
  constexpr coefficient(footprint* to, std::size_t number) : to_(to), number_(number) {}
  constexpr value operator()(std::integral auto... offset) const {
    if (note({static_cast<int>(offset)...}) > 0) to_->coefficients_around = true;
    return line(operation::coefficient, offset...);
  }
  constexpr footprint* record() const { return to_; }
  template <class... Offset>
    requires(!whole_numbers<Offset...>)
  constexpr value operator()(Offset...) const {
    static_assert(whole_numbers<Offset...>,
                  "wsl: the offsets of a neighbour in a stencil are whole numbers, as in u(-1, 0)");
    to_->is_wrong = true;
    return line(operation::coefficient);
  }
  template <class... Offset>
  constexpr value before(Offset...) const {
    static_assert(sizeof...(Offset) > most_offsets,
                  "wsl: a coefficient of a stencil stays what it is, and only a field has values of the step "
                  "before");
    to_->is_wrong = true;
    return line(operation::coefficient);
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
  constexpr value line(operation what, std::integral auto... offset) const {
    return {to_, value::origin::line,
            expression::of(what, u64{number_}, static_cast<u64>(static_cast<i64>(offset))...)};
  }
  footprint* to_;
  std::size_t number_;
};

/// A field: `u(0, 1)`, and `u.before(0, 0)`.
class field : public coefficient {
 public:
  using coefficient::coefficient;
  using coefficient::operator();
  constexpr value operator()(std::integral auto... offset) const {
    note({static_cast<int>(offset)...});
    return line(operation::field, offset...);
  }
  constexpr value before(std::integral auto... offset) const {
    to_->before = true;
    if (note({static_cast<int>(offset)...}) > 0) to_->before_elsewhere = true;
    return line(operation::step_before, offset...);
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

}  // namespace wsl::stencils
