// SPDX-License-Identifier: MIT
// A number that several threads read and write. It is std::atomic without its header, which in C++20 brings
// waiting, and with it 0.05 s of compile time, into every program that includes the library.
#pragma once

namespace wsl::support {

template <class T>
class shared_word {
 public:
  shared_word() = default;
  explicit shared_word(T value) : value_(value) {}
  shared_word(const shared_word&) = delete;
  shared_word& operator=(const shared_word&) = delete;

  /// Without order: for numbers that a barrier, or nothing, separates.
  [[gnu::always_inline]] T get() const { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }
  [[gnu::always_inline]] void set(T value) { __atomic_store_n(&value_, value, __ATOMIC_RELAXED); }
  [[gnu::always_inline]] void set_bits(T bits) { __atomic_fetch_or(&value_, bits, __ATOMIC_RELAXED); }

  /// What one thread did before `publish` is seen by a thread that `observe`s the value.
  [[gnu::always_inline]] T observe() const { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
  [[gnu::always_inline]] void publish(T value) { __atomic_store_n(&value_, value, __ATOMIC_RELEASE); }
  /// Adds one and returns the sum; sets to zero and returns what was there. In one order with all of these,
  /// on whatever word.
  [[gnu::always_inline]] T count() { return __atomic_add_fetch(&value_, T{1}, __ATOMIC_SEQ_CST); }
  [[gnu::always_inline]] T take() { return __atomic_exchange_n(&value_, T{}, __ATOMIC_SEQ_CST); }

  /// In that same order, too.
  [[gnu::always_inline]] T get_in_order() const { return __atomic_load_n(&value_, __ATOMIC_SEQ_CST); }
  [[gnu::always_inline]] void set_in_order(T value) { __atomic_store_n(&value_, value, __ATOMIC_SEQ_CST); }

  /// For system calls that wait for a change.
  T* address() { return &value_; }

 private:
  T value_{};
};

}  // namespace wsl::support
