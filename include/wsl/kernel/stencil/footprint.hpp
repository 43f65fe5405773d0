// SPDX-License-Identifier: MIT
// What the update of a stencil reads, and how much it computes, found while compiling: the update is called
// on recorders instead of numbers. `footprint_of<update>` has the dimension of the grid, the radius along
// each axis, whether diagonal neighbours are read, and the operations of a cell. What cannot be recorded is
// an error with a sentence.
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

#include "recorder.hpp"

namespace wsl::stencils {

/// The arguments of an update, in this order: fields, of which it returns the new values, coefficients, which
/// differ from cell to cell and stay, and scalars, which are the same in all cells.
struct takes {
  int fields = 1, coefficients = 0, scalars = 0;
};

inline constexpr int most_fields = 8;

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
             std::index_sequence<f...>, std::index_sequence<c...>,
             std::index_sequence<s...>) __attribute__((always_inline, flatten)) {
    static_assert(
        requires { update(fields(f)..., coefficients(c)..., scalars(s)...); },
        "wsl: the update of a stencil has an argument for each field, then one for each "
        "coefficient, then one for each scalar, as takes{.fields, .coefficients, .scalars} says, and "
        "computes with + - * / and with sqrt, abs, min, max and select, which are written without std::");
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
      update, [&](std::size_t i) { return recorder::field(&found, i); },
      [&](std::size_t i) { return recorder::coefficient(&found, i); },
      [&](std::size_t i) {
        return recorder::value(&found, recorder::value::origin::other,
                               recorder::expression::of(recorder::operation::scalar, u64{i}));
      });
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
                "wsl: a stencil has 1 to 8 fields, and coefficients and scalars of 0 or more");
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
        "captures, whose own variables are auto, and which reads constexpr variables and calls constexpr "
        "functions only");
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

/// What an update is called by: the same as it is.
template <class F>
struct captured_nothing {
  static_assert(
      std::is_empty_v<F> || std::is_aggregate_v<F>,
      "wsl: the update of a stencil has no captures, since it is compiled for all cells: a number that is "
      "the same in all of them is a scalar, takes{.scalars = 1}, one that differs is a coefficient, and one "
      "that is known while compiling is a constexpr variable");
  static constexpr bool value = true;
};

}  // namespace detail

/// The update of a stencil as a parameter of templates, `template <update_of update>`: a lambda without
/// captures, or an object of a class whose members are public.
template <class F>
struct update_of {
  static_assert(detail::captured_nothing<F>::value);
  F call;
  constexpr update_of(const F& f) : call(f) {}
};

template <update_of update, takes in = {}>
inline constexpr footprint footprint_of = detail::checked_footprint<update.call, in>();

namespace detail {

template <auto update, takes in>
constexpr recorder::expression made_of() {
  recorder::expression all;
  if constexpr (!footprint_of<update, in>.is_wrong) {
    footprint found;
    const auto results = recorded<update, in>(found);
    [&]<std::size_t... f>(std::index_sequence<f...>) {
      ((all = all.with(recorder::value(result<f>(results)).made())), ...);
    }(std::make_index_sequence<std::size_t(in.fields)>{});
  }
  return all;
}
/// The expressions of all new values.
template <auto update, takes in>
inline constexpr recorder::expression expression_of = made_of<update, in>();

}  // namespace detail

/// What the cells of a grid are, and the constants of an update.
template <class T, auto update, takes in>
constexpr bool is_number_of_cell() {
  static_assert(std::same_as<T, f32> || std::same_as<T, f64>, "wsl: the numbers of a stencil are f32 or f64");
  constexpr bool is_f32 = std::same_as<T, f32>;
  static_assert(
      !(is_f32 && detail::expression_of<update, in>.overflows_f32),
      "wsl: a constant in the update of a stencil is larger than the numbers of f32, which end at 3.4e38, "
      "and would be infinite: take other units, or f64 for the cells, as in simulation<update, takes{}, "
      "f64>");
  static_assert(
      !(is_f32 && detail::expression_of<update, in>.vanishes_in_f32),
      "wsl: a constant in the update of a stencil is smaller than the numbers of f32, which begin at "
      "1.4e-45, and would be zero: take other units, or f64 for the cells, as in simulation<update, takes{}, "
      "f64>");
  return true;
}

}  // namespace wsl::stencils
