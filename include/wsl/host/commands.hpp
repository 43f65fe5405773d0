// SPDX-License-Identifier: MIT
// The commands of the host to a fabric, defined once: `device` executes a command at once, `device_queue`
// executes it on a thread of its own and returns a ticket. Each command is a function of the fabric and its
// streams; the class that inherits `commands` decides when it runs. "Returns" below refers to the device; the
// queue returns a ticket for the result, and errors come from the ticket.
#pragma once
#include "copy.hpp"
#include "stream.hpp"

namespace wsl::detail {

/// The fabric and its streams, on which a command works.
struct device_state {
  fabric& on;
  host_streams streams;
};

/// An array of the host: a std::vector, a std::array, an array or a std::span.
template <class Data>
concept host_array = requires(std::remove_reference_t<Data>& data) { std::span(data); };

// A named array is used in place; a temporary moves into the command, which may run later.
template <class Data>
using kept = std::conditional_t<std::is_lvalue_reference_v<Data>, decltype(std::span(std::declval<Data&>())),
                                std::remove_cvref_t<Data>>;

template <class Data>
auto constants(const Data& data) {
  const std::span numbers(data);
  return std::span<const typename decltype(numbers)::value_type>(numbers);
}

// Replaces a span's own conversion, whose error message would not explain the mistake.
template <class T, class Data>
auto words_of(const Data& data) {
  using word = typename decltype(std::span(data))::element_type;
  constexpr bool same = std::is_same_v<std::remove_const_t<word>, T>;
  static_assert(same, "wsl: the words of a stream are of its color's payload type");
  if constexpr (same) return std::span<word>(data);
  else return std::span<T>{};
}

template <class Data>
concept writable =
    host_array<Data> &&
    !std::is_const_v<typename decltype(std::span(std::declval<kept<Data>&>()))::element_type> &&
    (std::is_lvalue_reference_v<Data> || std::is_trivially_copyable_v<Data>);

template <class Executor>
class commands {
 public:
  /// Copies numbers of the host into a member of each PE of an area: `d.copy_in(&part::x, all, x)`. With an
  /// area of w x h PEs and n elements a PE, the array has w * h * n elements, placed as `order` says. Numbers
  /// convert as in convert.hpp. Throws fault if a PE of the area runs none of the symbol's programs or if the
  /// array has another size.
  template <symbol_like S, host_array Data>
  auto copy_in(S what, const area& where, Data&& data, order by = row_major) {
    return send(what, where, std::forward<Data>(data), by, detail::sharing::none);
  }

  /// One block of n elements for each row, h * n in all: block y goes to all PEs of row y (CSL:
  /// memcpy_h2d_rowbcast).
  template <symbol_like S, host_array Data>
  auto broadcast_along_rows(S what, const area& where, Data&& data, order by = row_major) {
    return send(what, where, std::forward<Data>(data), by, detail::sharing::row);
  }
  /// One block of n elements for each column, w * n in all: block x goes to all PEs of column x (CSL:
  /// memcpy_h2d_colbcast).
  template <symbol_like S, host_array Data>
  auto broadcast_along_columns(S what, const area& where, Data&& data, order by = row_major) {
    return send(what, where, std::forward<Data>(data), by, detail::sharing::column);
  }
  /// The same n elements for every PE of the area.
  template <symbol_like S, host_array Data>
  auto broadcast(S what, const area& where, Data&& data) {
    return send(what, where, std::forward<Data>(data), row_major, detail::sharing::area);
  }

  /// Sets all elements of a member of each PE of an area to one value.
  template <symbol_like S, class T>
  auto fill(S what, const area& where, T value) {
    return execute([=](device_state& h) {
      const T one[] = {value};
      detail::copy_in(h.on, symbol{what}, h.on.plan().inside(where), detail::host_index{},
                      std::span<const T>(one));
    });
  }

  /// Copies a member of each PE of an area into an array of the host, which has w * h * n elements:
  /// `d.copy_out(&part::y, all, y)`. Throws as copy_in.
  template <symbol_like S, class Data>
    requires detail::writable<Data>
  auto copy_out(S what, const area& where, Data&& into, order by = row_major) {
    return execute([=, to = detail::kept<Data>(into)](device_state& h) {
      const symbol from{what};
      const region r = h.on.plan().inside(where);
      const auto numbers = std::span(to);
      using number = typename decltype(numbers)::element_type;
      detail::copy_out(h.on, from, r, detail::index_of(r, from.length, by, detail::sharing::none),
                       std::span<number>(numbers));
    });
  }
  /// The same as a new std::vector of the member's elements: `auto y = d.copy_out(&part::y, all)`.
  template <symbol_like S>
  auto copy_out(S what, const area& where, order by = row_major) {
    return execute([=](device_state& h) {
      using from = decltype(symbol{what});
      const region r = h.on.plan().inside(where);
      const detail::host_index at = detail::index_of(r, from::length, by, detail::sharing::none);
      std::vector<typename from::element> numbers(at.size);
      detail::copy_out(h.on, from{what}, r, at, std::span(numbers));
      return numbers;
    });
  }

  /// Runs a host function on each PE of an area, then the fabric until it is quiet. Returns the outcome;
  /// throws `deadlock` if something still waits then.
  template <auto Task, class... Arguments>
    requires task_like<Task>
  auto launch(const area& where, const Arguments&... arguments) {
    return execute([=](device_state& h) { return h.on.template launch<Task>(where, arguments...); });
  }
  template <auto Task, class... Arguments>
    requires task_like<Task>
  auto launch(int, const Arguments&...) {
    detail::a_named_launch_takes_an_area<Task>();
    return execute([](device_state&) { return outcome{}; });
  }
  /// The same for programs with one host function without arguments.
  auto launch(const area& where = all) {
    return execute([=](device_state& h) { return h.on.launch(where); });
  }
  /// Runs the fabric until it is quiet.
  auto run() {
    return execute([](device_state& h) { return h.on.run(); });
  }

  /// Streams words into the grid on a color that the layout bound with `stream_in`, in equal parts to the
  /// stream's PEs; they enter when the fabric runs. Throws fault if there is no such stream or the PEs cannot
  /// share the words equally.
  template <payload T, host_array Data>
  auto stream_in(color<T> c, Data&& words) {
    return execute([c, from = detail::kept<Data>(std::forward<Data>(words))](device_state& h) {
      h.streams.stream_in(c, std::span<const T>(detail::words_of<T>(from)));
    });
  }
  /// Takes words from the stream out of the grid on a color, in equal parts from its PEs, and runs the fabric
  /// if too few have arrived. Further words stay for later. Returns the outcome of that run. Throws fault as
  /// stream_in does; if too few words arrive it throws fault, or `deadlock` if something waits, and the words
  /// that have arrived stay.
  template <payload T, class Data>
    requires detail::writable<Data>
  auto stream_out(color<T> c, Data&& words) {
    return execute([c, to = detail::kept<Data>(words)](device_state& h) {
      return h.streams.stream_out(c, detail::words_of<T>(to));
    });
  }
  /// The number of words of that stream that have arrived and wait for a stream_out, for all its PEs
  /// together.
  template <payload T>
  auto ready(color<T> c) {
    return execute([c](device_state& h) { return h.streams.ready(c); });
  }

 protected:
  commands() = default;
  ~commands() = default;

 private:
  template <class F>
  auto execute(F command) {
    return static_cast<Executor&>(*this).execute(std::move(command));
  }

  template <class S, class Data>
  auto send(S what, const area& where, Data&& data, order by, detail::sharing how) {
    return execute([=, from = detail::kept<Data>(std::forward<Data>(data))](device_state& h) {
      const symbol to{what};
      const region r = h.on.plan().inside(where);
      detail::copy_in(h.on, to, r, detail::index_of(r, to.length, by, how), detail::constants(from));
    });
  }
};

}  // namespace wsl::detail
