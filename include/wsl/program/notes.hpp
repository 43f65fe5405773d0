// SPDX-License-Identifier: MIT
// A PE's log (CSL's <debug>): its tasks record texts, numbers and time stamps in order while they run, and
// the host reads them afterwards. Printing from a task works as well, but the lines of several PEs come in
// the order of the engine's threads. See examples/47_notes.cpp.
#pragma once
#include <string>
#include <type_traits>

#include "pe.hpp"

namespace wsl {

/// A log with room for n notes of 16 bytes; when it is full, later notes are only counted.
template <int n>
class notes {
  static_assert(n > 0, "wsl: notes have room for at least one: notes<64>");

 public:
  /// Records a text that must not move or go away, such as a literal.
  void add(const char* text) { put({.what = kind::text, .words = text}); }
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_convertible_v<T, f32>)
  void add(T x) {
    if constexpr (std::is_same_v<T, bool>) add(x ? "true" : "false");
    else if constexpr (std::is_integral_v<T>) put({.what = kind::number, .number = static_cast<i64>(x)});
    else put({.what = kind::real, .real = static_cast<f64>(static_cast<f32>(x))});
  }
  /// The PE's time in cycles; 0 on an engine without a clock.
  void stamp(const pe& me) { put({.what = kind::time, .number = static_cast<i64>(me.now())}); }
  void clear() { size_ = lost_ = 0; }

  int size() const { return size_; }
  int lost() const { return lost_; }
  /// Note i as text: a time stamp reads "@1234".
  std::string text(int i) const {
    if (i < 0 || i >= size_)
      throw fault("wsl: there are " + std::to_string(size_) + " notes and none has the number " +
                  std::to_string(i));
    const entry& e = entries_[i];
    switch (e.what) {
      case kind::text: return e.words;
      case kind::number: return std::to_string(e.number);
      case kind::time: return "@" + std::to_string(e.number);
      case kind::real: break;
    }
    std::string digits = std::to_string(e.real);
    digits.erase(digits.find_last_not_of('0') + 1);
    return digits.back() == '.' ? digits + "0" : digits;
  }

 private:
  enum class kind : u8 { text, number, real, time };
  struct entry {
    kind what = kind::number;
    union {
      i64 number = 0;
      f64 real;
      const char* words;
    };
  };
  void put(const entry& e) {
    if (size_ < n) entries_[size_++] = e;
    else ++lost_;
  }

  entry entries_[static_cast<std::size_t>(n)];
  int size_ = 0, lost_ = 0;
};

}  // namespace wsl
