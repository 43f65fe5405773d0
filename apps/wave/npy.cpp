// SPDX-License-Identifier: MIT
#include "npy.hpp"

#include <bit>
#include <charconv>
#include <cstring>

namespace wave_app {
namespace {

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

template <class Word>
f64 number_at(const char* from, bool swapped) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  if constexpr (sizeof word == 4) {
    if (swapped) word = __builtin_bswap32(word);
    return std::bit_cast<f32>(word);
  } else {
    if (swapped) word = __builtin_bswap64(word);
    return std::bit_cast<f64>(word);
  }
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

}  // namespace

npy_array npy_from_bytes(std::string_view bytes, const std::string& name) {
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
  const bool is_f4 = h.descr == "<f4" || h.descr == ">f4";
  if (!is_f4 && h.descr != "<f8" && h.descr != ">f8")
    h.bad(fmt::format("numbers of the type '{}'; f4 and f8 are read", h.descr.substr(0, 40)));
  const std::size_t each = is_f4 ? 4 : 8, there = (bytes.size() - front - length) / each;
  std::size_t count = 1;
  for (const std::size_t n : h.shape) {
    if (n != 0 && count > there / n) {
      count = there + 1;
      break;
    }
    count *= n;
  }
  if (count * each != bytes.size() - front - length || count > there)
    refuse(
        "{}: the array ({}) of {} is not what {} bytes behind its header hold: it was cut short or is "
        "damaged",
        name, fmt::join(h.shape, ", "), h.descr, bytes.size() - front - length);
  npy_array a{h.shape, std::vector<f32>(count)};
  const char* data = bytes.data() + front + length;
  const bool swapped = h.descr[0] == '>';
  order o(a.shape, h.fortran);
  for (f32& x : a.numbers) {
    const char* from = data + o.place() * each;
    x = static_cast<f32>(is_f4 ? number_at<wsl::u32>(from, swapped) : number_at<wsl::u64>(from, swapped));
    o.advance();
  }
  return a;
}

std::string npy_bytes(const std::vector<std::size_t>& shape, std::span<const f32> numbers) {
  std::string dictionary =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", fmt::join(shape, ", "));
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

}  // namespace wave_app
