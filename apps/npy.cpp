// SPDX-License-Identifier: MIT
#include "npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace app {
namespace {

using wsl::f32, wsl::f64, wsl::i64, wsl::u64;
using complex = std::complex<f32>;

template <class... X>
[[noreturn]] void refuse(fmt::format_string<X...> sentence, X&&... x) {
  throw std::invalid_argument(fmt::format(sentence, std::forward<X>(x)...));
}

constexpr std::string_view magic = "\x93NUMPY";

/// The dictionary of a header, read word by word.
class header {
 public:
  header(std::string_view text, const std::string& name) : left_(text), name_(name) {}

  std::string descr;
  bool fortran = false;
  std::vector<std::size_t> shape;

  void read() {
    bool has[3] = {};
    expect('{');
    while (!next_is('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") descr = quoted(), has[0] = true;
      else if (key == "fortran_order") fortran = truth(), has[1] = true;
      else if (key == "shape") read_shape(), has[2] = true;
      else bad(fmt::format("it has the entry '{}', which the format does not know", key.substr(0, 40)));
      if (!next_is(',')) {
        expect('}');
        break;
      }
    }
    if (!has[0] || !has[1] || !has[2]) bad("'descr', 'fortran_order' or 'shape' is missing");
  }

  [[noreturn]] void bad(const std::string& what) const {
    refuse("{}: the header of the array: {}; write it again with numpy.save", name_, what);
  }

 private:
  void skip_blanks() {
    while (!left_.empty() && (left_[0] == ' ' || left_[0] == '\n')) left_.remove_prefix(1);
  }
  bool next_is(char c) {
    skip_blanks();
    if (left_.empty() || left_[0] != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!next_is(c)) bad(fmt::format("a '{}' is missing", c));
  }
  std::string_view quoted() {
    skip_blanks();
    const char mark = left_.empty() ? '\0' : left_[0];
    const std::size_t end = mark == '\'' || mark == '"' ? left_.find(mark, 1) : left_.npos;
    if (end == left_.npos) bad("a text in quotes is missing");
    const std::string_view text = left_.substr(1, end - 1);
    left_.remove_prefix(end + 1);
    return text;
  }
  bool truth() {
    skip_blanks();
    for (const bool value : {true, false})
      if (const std::string_view word = value ? "True" : "False"; left_.starts_with(word)) {
        left_.remove_prefix(word.size());
        return value;
      }
    bad("'fortran_order' is neither True nor False");
  }
  void read_shape() {
    shape.clear();
    expect('(');
    while (!next_is(')')) {
      skip_blanks();
      std::size_t n = 0;
      const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), n);
      if (error != std::errc{} || shape.size() == 32) bad("'shape' is no list of sizes");
      left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
      shape.push_back(n);
      if (!next_is(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view left_;
  const std::string& name_;
};

/// The type of the numbers: "<f4", "|i1".
struct number_type {
  bool swapped = false;
  char letter = 0;
  std::size_t bytes = 0;

  number_kind kind() const {
    return letter == 'f' ? number_kind::real : letter == 'c' ? number_kind::complex : number_kind::whole;
  }
};
/// The types that are read; false for all others.
bool take_type(number_type& t, std::string_view descr) {
  if (descr.size() < 3 || std::string_view("<>|").find(descr[0]) == descr.npos) return false;
  const char* const end = descr.data() + descr.size();
  const auto [after, error] = std::from_chars(descr.data() + 2, end, t.bytes);
  if (error != std::errc{} || after != end) return false;
  t.swapped = descr[0] == '>', t.letter = descr[1];
  if ((descr[0] == '|') != (t.bytes == 1)) return false;
  switch (t.letter) {
    case 'f': return t.bytes == 4 || t.bytes == 8;
    case 'c': return t.bytes == 8 || t.bytes == 16;
    case 'i':
    case 'u': return t.bytes == 1 || t.bytes == 2 || t.bytes == 4 || t.bytes == 8;
    default: return false;
  }
}

/// The bits of a number of so many bytes.
u64 bits_at(const char* from, std::size_t bytes, bool swapped) {
  u64 bits = 0;
  if (!swapped) std::memcpy(&bits, from, bytes);
  else
    for (std::size_t i = 0; i < bytes; ++i)
      bits |= u64{static_cast<unsigned char>(from[bytes - 1 - i])} << 8 * i;
  return bits;
}
f32 real_at(const char* from, std::size_t bytes, bool swapped) {
  const u64 bits = bits_at(from, bytes, swapped);
  if (bytes == 4) return std::bit_cast<f32>(static_cast<wsl::u32>(bits));
  return static_cast<f32>(std::bit_cast<f64>(bits));
}
void take(f32& x, const char* from, const number_type& t) { x = real_at(from, t.bytes, t.swapped); }
void take(complex& x, const char* from, const number_type& t) {
  const std::size_t part = t.letter == 'c' ? t.bytes / 2 : t.bytes;
  x = {real_at(from, part, t.swapped), t.letter == 'c' ? real_at(from + part, part, t.swapped) : 0};
}
void take(i64& x, const char* from, const number_type& t) {
  const u64 bits = bits_at(from, t.bytes, t.swapped);
  const int above = 64 - 8 * static_cast<int>(t.bytes);  // the sign is that of the highest bit
  if (t.letter == 'i') x = static_cast<i64>(bits << above) >> above;
  else x = static_cast<i64>(std::min(bits, u64{std::numeric_limits<i64>::max()}));
}

/// The place in the file of the k-th number in C order.
class order {
 public:
  order(const std::vector<std::size_t>& shape, bool fortran)
      : shape_(shape), at_(shape.size()), stride_(shape.size()) {
    std::size_t step = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::size_t axis = fortran ? i : shape.size() - 1 - i;
      stride_[axis] = step, step *= shape[axis];
    }
  }
  std::size_t place() const { return place_; }
  void advance() {
    for (std::size_t a = shape_.size(); a-- > 0;) {
      place_ += stride_[a];
      if (++at_[a] < shape_[a]) return;
      place_ -= stride_[a] * shape_[a], at_[a] = 0;
    }
  }

 private:
  const std::vector<std::size_t>& shape_;
  std::vector<std::size_t> at_, stride_;
  std::size_t place_ = 0;
};

/// The header of a file, and the bytes behind it.
struct opened {
  header h;
  number_type type;
  std::string_view data;
};
opened open(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(magic)) refuse("{}: this is no array of NumPy: its first bytes are others", name);
  if (bytes.size() < 10) refuse("{}: the header of the array ends too early: the file was cut short", name);
  const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(bytes[i])}; };
  const std::size_t version = byte(6);
  if (version != 1 && version != 2)
    refuse("{}: version {} of the format; versions 1 and 2 are read", name, version);
  const std::size_t front = version == 1 ? 10 : 12;
  if (bytes.size() < front)
    refuse("{}: the header of the array ends too early: the file was cut short", name);
  const std::size_t length = byte(8) | byte(9) << 8 | (version == 2 ? byte(10) << 16 | byte(11) << 24 : 0);
  if (length > bytes.size() - front)
    refuse("{}: the header of the array has {} bytes, and the file {} in all: it was cut short", name, length,
           bytes.size());
  header h(bytes.substr(front, length), name);
  h.read();
  number_type type;
  if (!take_type(type, h.descr)) type.letter = 0;
  return {std::move(h), type, bytes.substr(front + length)};
}
template <class T>
constexpr const char* types_of() {
  if constexpr (std::is_same_v<T, i64>) return "whole numbers of 1 to 8 bytes";
  else if constexpr (std::is_same_v<T, f32>) return "f4 and f8";
  else return "f4, f8, c8 and c16";
}
template <class T>
constexpr const char* type_of() {
  if constexpr (std::is_same_v<T, i64>) return "<i8";
  else if constexpr (std::is_same_v<T, f32>) return "<f4";
  else return "<c8";
}

}  // namespace

array_about npy_about(std::string_view bytes, const std::string& name) {
  const opened x = open(bytes, name);
  if (!x.type.letter)
    x.h.bad(fmt::format("numbers of the type '{}'; f4, f8, c8, c16 and whole numbers are read",
                        x.h.descr.substr(0, 40)));
  return {x.type.kind(), x.h.shape};
}

namespace {

/// How many numbers an array has, which are as many bytes as there are behind its header. Throws
/// std::invalid_argument otherwise, or if T does not take them.
template <class T>
std::size_t count_of(const header& h, const number_type& type, u64 bytes, const std::string& name) {
  if (!type.letter || !takes<T>(type.kind()))
    h.bad(fmt::format("numbers of the type '{}'; {} are read", h.descr.substr(0, 40), types_of<T>()));
  const u64 there = bytes / type.bytes;
  u64 count = 1;
  for (const std::size_t n : h.shape) {
    if (n != 0 && count > there / n) {
      count = there + 1;
      break;
    }
    count *= n;
  }
  if (count > there || count * type.bytes != bytes)
    refuse(
        "{}: the array ({}) of {} is not what {} bytes behind its header hold: it was cut short or is "
        "damaged",
        name, fmt::join(h.shape, ", "), h.descr, bytes);
  return static_cast<std::size_t>(count);
}

}  // namespace

npy_place npy_place_of(std::string_view bytes, u64 size, const std::string& name) {
  const auto [h, type, data] = open(bytes, name);
  const std::size_t begin = bytes.size() - data.size();
  count_of<f32>(h, type, size - begin, name);
  return {h.shape, begin, type.bytes, type.swapped, h.fortran};
}

template <class T>
number_array<T> npy_from_bytes(std::string_view bytes, const std::string& name) {
  const auto [h, type, data] = open(bytes, name);
  const std::size_t count = count_of<T>(h, type, data.size(), name), each = type.bytes;
  number_array<T> a{h.shape, std::vector<T>(count)};
  if (h.descr == type_of<T>() && !h.fortran) {
    if (count) std::memcpy(a.numbers.data(), data.data(), data.size());
    return a;
  }
  order o(a.shape, h.fortran);
  for (T& x : a.numbers) {
    take(x, data.data() + o.place() * each, type);
    o.advance();
  }
  return a;
}

template <class T>
std::string npy_bytes(const std::vector<std::size_t>& shape, std::span<const T> numbers) {
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                       type_of<T>(), fmt::join(shape, ", "), shape.empty() ? "" : ",");
  constexpr std::size_t front = 10, whole = 64;  // data begin at a multiple of 64 bytes
  dictionary.append(whole - (front + dictionary.size() + 1) % whole, ' ');
  dictionary += '\n';
  std::string bytes(magic);
  bytes +=
      {'\x01', '\x00', static_cast<char>(dictionary.size() & 255), static_cast<char>(dictionary.size() >> 8)};
  bytes += dictionary;
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  return bytes;
}

template number_array<f32> npy_from_bytes(std::string_view, const std::string&);
template number_array<complex> npy_from_bytes(std::string_view, const std::string&);
template number_array<i64> npy_from_bytes(std::string_view, const std::string&);
template std::string npy_bytes(const std::vector<std::size_t>&, std::span<const f32>);
template std::string npy_bytes(const std::vector<std::size_t>&, std::span<const complex>);
template std::string npy_bytes(const std::vector<std::size_t>&, std::span<const i64>);

}  // namespace app
