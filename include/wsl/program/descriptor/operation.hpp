// SPDX-License-Identifier: MIT
// One element-wise operation over descriptors: a destination, sources, and a function of an element. Over
// memory it is a loop that runs at once. With a fabric operand or a FIFO it is a value to be started with
// `me.async(...)` or `co_await`, because an ordinary function cannot wait for wavelets.
#pragma once
#include <cstring>
#include <new>
#include <string>
#include <type_traits>

#include "../../support/copy_block.hpp"
#include "../../support/min_max.hpp"
#include "../convert.hpp"
#include "../task_stack.hpp"
#include "cost.hpp"
#include "operands.hpp"
#include "transfer.hpp"

namespace wsl {
namespace detail {

// Walks over an operand, element by element from `at` on. Memory with stride 1 gets a walk of its own so that
// loops vectorise.
template <class T>
struct unit_walk {
  T* p;
  constexpr T& operator[](u32 i) const { return p[i]; }
};
template <class T>
struct strided_walk {
  T* p;
  i64 stride;
  constexpr T& operator[](u32 i) const { return p[static_cast<i64>(i) * stride]; }
};
template <class T>
struct constant_walk {
  T value;
  constexpr T operator[](u32) const { return value; }
};
template <class T>
struct input_walk {
  const u32* words;
  constexpr T operator[](u32 i) const { return from_bits<T>(words[i]); }
};
template <class T>
struct output_walk {
  u32* words;
  struct slot {
    u32& word;
    constexpr void operator=(T value) const { word = to_bits(value); }
  };
  constexpr slot operator[](u32 i) const { return {words[i]}; }
};

/// Sources of one operation; a plain aggregate, so that a transfer can hold it as bytes.
template <class...>
struct pack {};
template <class Head, class... Tail>
struct pack<Head, Tail...> {
  Head head;
  pack<Tail...> tail;
};

template <class Use>
[[gnu::always_inline]] constexpr decltype(auto) with(const pack<>&, Use use) {
  return use();
}
template <class Head, class... Tail, class Use>
[[gnu::always_inline]] constexpr decltype(auto) with(const pack<Head, Tail...>& p, Use use) {
  return with(p.tail, [&](const auto&... rest) __attribute__((always_inline)) -> decltype(auto) {
    return use(p.head, rest...);
  });
}

/// Calls `use` with values that its braces make from left to right.
template <class Use>
struct in_order {
  template <class... X>
  [[gnu::always_inline]] constexpr explicit in_order(Use use, const X&... x) {
    use(x...);
  }
};

/// A copy that is assembled from its parts, so that compilers keep the parts of the original in registers.
template <class X>
constexpr X anew(const X& operand) {
  if constexpr (is_memory<X>) return {operand.first(), operand.length(), operand.stride()};
  else if constexpr (is_fabric_input<X>) return {operand.from, operand.count};
  else if constexpr (is_fabric_output<X>) return {operand.to, operand.count};
  else return operand;
}

constexpr pack<> make_pack() { return {}; }
template <class Head, class... Tail>
constexpr pack<Head, Tail...> make_pack(Head head, Tail... tail) {
  return {head, make_pack(tail...)};
}

template <class X>
constexpr int length_of(const X& operand) {
  if constexpr (is_memory<X> || walked<X>) return operand.length();
  else if constexpr (is_fabric<X>) return operand.count;
  else return as_many_as_others;
}

template <class X>
constexpr bool unit_stride(const X& operand) {
  if constexpr (is_memory<X> || in_runs<X>) return operand.stride() == 1;
  else return true;
}

template <class W>
inline constexpr bool is_constant_walk = false;
template <class T>
inline constexpr bool is_constant_walk<constant_walk<T>> = true;

/// The function that mov applies to an element: the identity. Words that do not change can be copied as a
/// block.
struct unchanged {
  template <class T>
  constexpr T operator()(T x) const {
    return x;
  }
};
template <class T>
inline constexpr const T* block_of(const unit_walk<T>& w) {
  return w.p;
}
template <class T>
inline constexpr const u32* block_of(const input_walk<T>& w) {
  return w.words;
}
template <class T>
inline constexpr T* block_to(const unit_walk<T>& w) {
  return w.p;
}
template <class T>
inline constexpr u32* block_to(const output_walk<T>& w) {
  return w.words;
}

template <bool unit, class X>
constexpr auto walk(const X& x, u64 at, const u32* const*& input, u32* output) {
  using T = typename X::element;
  if constexpr (is_memory<X> && unit) return unit_walk<T>{x.first() + at};
  else if constexpr (is_memory<X>)
    return strided_walk<T>{x.first() + static_cast<i64>(at) * x.stride(), x.stride()};
  else if constexpr (is_fabric_input<X>) return input_walk<T>{*input++};
  else if constexpr (is_fabric_output<X>) return output_walk<T>{output};
  else if constexpr (in_runs<X> && unit)
    return unit_walk<std::remove_pointer_t<decltype(x.place(at))>>{x.place(at)};
  else if constexpr (in_runs<X>)
    return strided_walk<std::remove_pointer_t<decltype(x.place(at))>>{x.place(at), x.stride()};
  else if constexpr (computed<X>) return x.walk(at);
  else return constant_walk<T>{x.value};
}

/// Elements of an operand from `at` on that one loop can walk over.
template <class X>
constexpr u32 run_of(const X& x, u64 at) {
  if constexpr (in_runs<X>) return x.run(at);
  else return ~u32{0};
}

[[noreturn]] inline void operands_differ_in_length(const char* operation, int a, int b) {
  throw fault(std::string("wsl: the operands of ") + operation + " differ in length: " + std::to_string(a) +
              " and " + std::to_string(b) + " elements");
}
[[noreturn]] inline void operand_has_a_negative_length(const char* operation, int n) {
  throw fault(std::string("wsl: an operand of ") + operation + " has " + std::to_string(n) + " elements");
}
[[noreturn]] inline void operation_has_no_length(const char* operation) {
  throw fault(std::string("wsl: no operand of ") + operation +
              " says how many elements there are: give one a length, as in fabin(red, n), or forever");
}

/// What an operation over memory alone gives. It has run, so neither me.async nor co_await has anything to do
/// with it, and both say so.
struct done_at_once {};
template <class>
inline constexpr bool has_run_already = false;

}  // namespace detail

template <class F, class Dst, class... Src>
class [[nodiscard(
    "an operation with a fabric operand or a FIFO runs only when it is given to me.async(...) or "
    "co_await")]] operation {
  using T = typename Dst::element;

 public:
  constexpr operation(detail::verb name, F f, Dst dst, Src... src)
      : name_(name.name),
        what_(name.what),
        f_(f),
        dst_(dst),
        src_(detail::make_pack(src...)),
        length_(common_length(dst, src...)) {}

  static constexpr bool uses_fabric = detail::is_fabric<Dst> || (detail::is_fabric<Src> || ...);
  static constexpr bool uses_fifo = detail::fifo_end<Dst> || (detail::fifo_end<Src> || ...);
  static constexpr bool waits = uses_fabric || uses_fifo;

  /// Elements done .. done + n - 1 of this operation.
  [[gnu::always_inline]] constexpr void move(u64 done, const u32* const* input, u32* output, u32 n) const {
    if constexpr (has_runs) move_by_runs(done, input, output, n);
    else move_run(done, input, output, n);
  }

  constexpr void run_now() const {
    if (!std::is_constant_evaluated() && detail::listening_counter) [[unlikely]] {
      describe_operands(*detail::listening_counter);
      detail::listening_counter->operate(cost(), static_cast<u64>(length_));
    }
    move(0, nullptr, nullptr, static_cast<u32>(length_));
  }

  static constexpr int fabric_sources = (0 + ... + int{detail::is_fabric_input<Src>});
  static constexpr bool sends = detail::is_fabric_output<Dst>;

  int length() const { return length_; }
  /// A color that the operation reads from or writes to, with its payload type.
  struct fabric_end {
    int color = -1;
    const detail::payload_type* type = nullptr;
  };
  fabric_end output() const { return {dst_.to.id, &detail::payload_type_of<T>}; }
  fabric_end input() const {
    fabric_end found;
    detail::with(src_, [&](const auto&... s) __attribute__((always_inline)) { (find_input(found, s), ...); });
    return found;
  }

  /// Calls `use` with the arguments of the constructor.
  template <class Use>
  [[gnu::always_inline]] void taken_apart(Use use) const {
    detail::with(src_, [&](const auto&... s) __attribute__((always_inline)) {
      use(name_, what_, f_, detail::anew(dst_), detail::anew(s)...);
    });
  }

  /// Whether an operand, or what the operation applies to its elements, may be a local variable of the
  /// running task, so that must_outlive_the_task is to be asked.
  [[gnu::always_inline]] bool may_use_the_stack() const {
    return names_addresses<F> || may_lie_on_the_stack(dst_) ||
           detail::with(src_, [](const auto&... s) __attribute__((always_inline)) {
             return (may_lie_on_the_stack(s) || ...);
           });
  }
  /// Throws fault if one of them is.
  void must_outlive_the_task() const {
    if (length_ == 0) return;
    if (names_addresses<F> && engines::task_stack::is_named_in(&f_, sizeof f_))
      engines::a_function_has_captured_a_local_variable(name_);
    must_outlive_the_task(dst_);
    detail::with(src_, [&](const auto&... s) { (must_outlive_the_task(s), ...); });
  }

  /// The operation as a microthread that an engine runs.
  engines::transfer start() const {
    static_assert(
        sizeof(operation) <= engines::transfer::most_operand_bytes && std::is_trivially_copyable_v<operation>,
        "wsl: what an asynchronous operation applies to its elements must be small and trivially copyable");
    engines::transfer t;
    t.name = name_;
    if (detail::listening_counter) [[unlikely]] {
      describe_operands(*detail::listening_counter);
      t.cost = cost();
    }
    t.length = length_ == forever ? ~u64{0} : static_cast<u64>(length_);
    ::new (static_cast<void*>(t.operands)) operation(*this);
    t.operand_bytes = sizeof(operation);
    t.move = [](engines::operation_in_flight& self, const void* operands, const u32* const* input,
                u32* output, u32 n) {
      const auto* const op = std::launder(static_cast<const operation*>(operands));
      // an engine that counts cycles moves words one by one: then no block is copied
      n == 1 ? op->move(self.done, input, output, 1) : op->move(self.done, input, output, n);
      self.done += n;
    };
    if constexpr (detail::is_fabric_output<Dst>) {
      t.output = static_cast<i8>(dst_.to.id);
      t.output_type = &detail::payload_type_of<T>;
    }
    int k = 0;
    detail::with(src_, [&](const auto&... s) { (name_input(t, k, s), ...); });
    if constexpr (uses_fifo) name_fifos(t);
    if constexpr (detail::is_memory<Dst> && sizeof(typename Dst::element) == sizeof(u32))
      t.written = detail::unit_stride(dst_) ? reinterpret_cast<u32*>(dst_.first()) : nullptr;
    t.copies = copies_words;
    if constexpr (copies_words && sends)
      detail::with(src_, [&](const auto& s) {
        if constexpr (detail::is_memory<std::remove_cvref_t<decltype(s)>>)
          t.source = detail::unit_stride(s) ? reinterpret_cast<const u32*>(s.first()) : nullptr;
      });
    return t;
  }

 private:
  // Memory is told by its first element. An operand with a walk of its own, and a function with captures, is
  // searched for addresses.
  template <class X>
  static constexpr bool names_addresses =
      !detail::is_memory<X> && !detail::is_accumulator<X> && !detail::is_fabric<X> &&
      !detail::is_constant<X> && sizeof(X) >= sizeof(void*);
  template <class X>
  [[gnu::always_inline]] static bool may_lie_on_the_stack(const X& operand) {
    if constexpr (detail::is_memory<X>) return engines::task_stack::may_hold(operand.first());
    else if constexpr (detail::is_accumulator<X>) return engines::task_stack::may_hold(operand.total);
    else return names_addresses<X>;
  }
  template <class X>
  void must_outlive_the_task(const X& operand) const {
    if constexpr (detail::is_memory<X>) engines::must_outlive_the_task(operand.first(), name_);
    else if constexpr (detail::is_accumulator<X>) engines::must_outlive_the_task(operand.total, name_);
    else if constexpr (names_addresses<X>)
      if (engines::task_stack::is_named_in(&operand, sizeof operand))
        engines::an_operand_is_a_local_variable(name_);
  }

  static constexpr bool has_runs = detail::in_runs<Dst> || (detail::in_runs<Src> || ...);

  // Each piece is a run of every operand: a plain loop.
  constexpr void move_by_runs(u64 done, const u32* const* input, u32* output, u32 n) const {
    for (u32 moved = 0, piece; moved < n; moved += piece) {
      const u64 at = done + moved;
      piece = support::min(n - moved, detail::run_of(dst_, at));
      detail::with(src_,
                   [&](const auto&... s) { ((piece = support::min(piece, detail::run_of(s, at))), ...); });
      const u32* rest[2] = {};
      for (int k = 0; k < fabric_sources; ++k) rest[k] = input[k] + moved;
      move_run(at, rest, output ? output + moved : nullptr, piece);
    }
  }
  [[gnu::always_inline]] constexpr void move_run(u64 done, const u32* const* input, u32* output,
                                                 u32 n) const {
    const bool unit =
        detail::unit_stride(dst_) && detail::with(src_, [](const auto&... s) __attribute__((always_inline)) {
          return (detail::unit_stride(s) && ...);
        });
    if (unit) move_all<true>(done, input, output, n);
    else move_all<false>(done, input, output, n);
  }

  template <bool unit>
  [[gnu::always_inline]] constexpr void move_all(u64 done, const u32* const* input, u32* output,
                                                 u32 n) const {
    detail::with(src_, [&](const auto&... s) __attribute__((always_inline)) {
      // Braces fix the order in which the sources take their input words.
      detail::in_order{[&](const auto&... w) __attribute__((always_inline)) {
                         if constexpr (detail::is_accumulator<Dst>) accumulate(done, n, w...);
                         else {
                           const auto d = detail::walk<unit>(dst_, done, input, output);
                           if constexpr (unit && copies_words) {
                             if (!std::is_constant_evaluated() && copied_as_block(n, d, w...)) return;
                           }
                           for (u32 i = 0; i < n; ++i) d[i] = detail::as_result<T>(f_(w[i]...));
                         }
                       },
                       detail::walk<unit>(s, done, input, output)...};
      if constexpr (uses_fifo) passed(dst_, n), (passed(s, n), ...);
    });
  }

  // A mov of four-byte elements between memory or fabric with unit stride: no operand but these has blocks.
  static constexpr bool copies_words =
      std::is_same_v<F, detail::unchanged> && sizeof(T) == 4 &&
      (std::is_same_v<T, std::remove_const_t<typename Src::element>> && ...) &&
      ((detail::is_memory<Src> || detail::is_fabric_input<Src>) && ...) &&
      (detail::is_memory<Dst> || detail::is_fabric_output<Dst>);

  // Blocks that overlap are left to the loop, which processes elements in order. A channel's buffer never
  // overlaps a PE's memory.
  template <class D, class S>
  [[gnu::always_inline]] static bool copied_as_block(u32 n, const D& d, const S& s) {
    if (__builtin_constant_p(n) && n == 1) return false;
    const auto to = reinterpret_cast<std::uintptr_t>(detail::block_to(d)),
               from = reinterpret_cast<std::uintptr_t>(detail::block_of(s));
    const std::uintptr_t bytes = n * sizeof(u32);
    if (!uses_fabric && to < from + bytes && from < to + bytes) return false;
    copy(detail::block_to(d), detail::block_of(s), bytes);
    return true;
  }

  // A short block of constant length is copied here. The first and last words of a block that is sent have
  // most likely just been written by the program, word by word; see copy_just_stored_ends.
  [[gnu::always_inline]] static void copy(void* to, const void* from, std::uintptr_t bytes) {
    constexpr bool just_stored = detail::is_fabric_output<Dst>;
    if (!__builtin_constant_p(bytes) || bytes >= 128 || bytes % 16 != 0)
      return support::copy_block<just_stored ? support::ends::just_stored : support::ends::settled>(to, from,
                                                                                                    bytes);
    const auto word = [&](std::uintptr_t i) {
      std::memcpy(static_cast<char*>(to) + i, static_cast<const char*>(from) + i, 4);
    };
    const auto piece = [&](std::uintptr_t i) {
      std::memcpy(static_cast<char*>(to) + i, static_cast<const char*>(from) + i, 16);
    };
    for (std::uintptr_t i = 16; i + 16 < bytes; i += 16) piece(i);
    if (bytes > 16 && just_stored) {
      piece(4), piece(bytes - 20), word(0), word(bytes - 4);
    } else if (bytes > 0) {
      piece(0);
      if (bytes > 16) piece(bytes - 16);
    }
  }

  [[gnu::cold, gnu::noinline]] detail::operation_cost cost() const {
    detail::cost_of_operands operands{.sum = {.what = what_}};
    if constexpr (lies_in_memory<Dst>) operands.template stride<T>(dst_.stride());
    else operands.template width<T>();
    detail::with(src_, [&](const auto&... s) { (add_source(operands, s), ...); });
    return operands.sum;
  }
  [[gnu::cold, gnu::noinline]] void describe_operands(detail::cycle_counter& counter) const {
    using as = detail::memory_operand::role;
    if (length_ == 0) return;
    describe(counter, dst_, as::destination);
    as role = as::first_source;
    detail::with(src_,
                 [&](const auto&... s) { ((describe(counter, s, role), role = as::second_source), ...); });
  }
  template <class X>
  void describe(detail::cycle_counter& counter, const X& x, detail::memory_operand::role as) const {
    if constexpr (lies_in_memory<X>) {
      const auto* first = [&] {
        if constexpr (detail::is_memory<X>) return x.first();
        else return x.place(0);
      }();
      counter.describe({reinterpret_cast<std::uintptr_t>(first),
                        static_cast<i64>(x.stride()) * static_cast<i64>(sizeof(typename X::element)), length_,
                        as});
    }
  }
  // Of several rows the first counts. A FIFO is excepted because the position of its elements changes.
  template <class X>
  static constexpr bool lies_in_memory = detail::is_memory<X> || (detail::in_runs<X> && !detail::fifo_end<X>);
  template <class S>
  static void add_source(detail::cost_of_operands& operands, const S& s) {
    if constexpr (detail::is_memory<S>) operands.source(s.first(), s.stride());
    else if constexpr (lies_in_memory<S>) operands.source(s.place(0), s.stride());
    else operands.template width<typename S::element>();
  }

  // A scalar destination accumulates from element to element if the first source is a scalar, its initial
  // value; otherwise it keeps the result of the last element.
  template <class First, class... Rest>
  constexpr void accumulate(u64 done, u32 n, const First& first, const Rest&... rest) const {
    if (n == 0) return;
    if constexpr (detail::is_constant_walk<First> && sizeof...(Rest) > 0) {
      T total = done == 0 ? static_cast<T>(first[0]) : *dst_.total;
      for (u32 i = 0; i < n; ++i) total = detail::as_result<T>(f_(total, rest[i]...));
      *dst_.total = total;
    } else {
      *dst_.total = detail::as_result<T>(f_(first[n - 1], rest[n - 1]...));
    }
  }

  template <class X>
  static constexpr void passed(const X& operand, u32 n) {
    if constexpr (detail::fifo_end<X>) operand.moved(n);
  }
  void name_fifos(engines::transfer& t) const {
    if constexpr (detail::fifo_end<Dst>) t.pushes = &dst_.state();
    detail::with(src_, [&](const auto&... s) {
      const auto note = [&](const auto& source) {
        if constexpr (detail::fifo_end<std::remove_cvref_t<decltype(source)>>) t.pops = &source.state();
      };
      (note(s), ...);
    });
  }
  template <class S>
  static constexpr void find_input(fabric_end& found, const S& s) {
    if constexpr (detail::is_fabric_input<S>)
      found = {s.from.id, &detail::payload_type_of<typename S::element>};
  }
  template <class S>
  static constexpr void name_input(engines::transfer& t, int& k, const S& s) {
    if constexpr (detail::is_fabric_input<S>) {
      t.input[k] = static_cast<i8>(s.from.id);
      t.input_type[k++] = &detail::payload_type_of<typename S::element>;
    }
  }

  constexpr int common_length(const Dst& dst, const Src&... src) const {
    int n = as_many_as_others;
    agree_on(n, detail::length_of(dst));
    (agree_on(n, detail::length_of(src)), ...);
    if (n < 0) detail::operation_has_no_length(name_);
    return n;
  }
  // Not the body of a loop: GCC decides whether a length is a constant, of which `copy` makes use, before it
  // has unrolled loops.
  [[gnu::always_inline]] constexpr void agree_on(int& n, int length) const {
    if (length == as_many_as_others || (length == forever && n >= 0)) return;
    if (length < 0) detail::operand_has_a_negative_length(name_, length);
    if (n >= 0 && n != forever && n != length) detail::operands_differ_in_length(name_, n, length);
    n = length;
  }

  const char* name_;
  detail::work what_;
  [[no_unique_address]] F f_;
  Dst dst_;
  detail::pack<Src...> src_;
  int length_;
};

}  // namespace wsl
