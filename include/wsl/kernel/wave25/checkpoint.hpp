// SPDX-License-Identifier: MIT
// A simulation's state as bytes and back, so that a run that was killed continues bit by bit. The bytes carry
// a fingerprint of their problem and a checksum; reading bytes that were cut short, damaged, or belong to
// another problem throws std::invalid_argument. Numbers are little-endian.
#pragma once
#include <bit>
#include <cstring>
#include <string_view>

#include "../../support/bad_argument.hpp"
#include "problem_fingerprint.hpp"
#include "simulation.hpp"

namespace wsl::wave25 {

namespace checks {

inline constexpr std::string_view checkpoint_magic = "wsl wave25 state 1\n";
static_assert(std::endian::native == std::endian::little,
              "wsl: checkpoints are written on little-endian computers");

class reader {
 public:
  explicit reader(std::string_view bytes) : left_(bytes) {}
  void read(void* to, std::size_t n) {
    if (n > left_.size()) support::bad_argument({"wave25: the checkpoint ends too early: it was cut short"});
    if (n) std::memcpy(to, left_.data(), n);
    left_.remove_prefix(n);
  }
  template <class T>
  T number() {
    T t;
    read(&t, sizeof t);
    return t;
  }
  std::vector<f32> numbers(u64 most) {
    const u64 n = number<u64>();
    if (n > most || n > left_.size() / sizeof(f32))
      support::bad_argument(
          {"wave25: the checkpoint claims ", n, " numbers where it cannot have them: it is damaged"});
    std::vector<f32> v(static_cast<std::size_t>(n));
    read(v.data(), v.size() * sizeof(f32));
    return v;
  }
  bool empty() const { return left_.empty(); }

 private:
  std::string_view left_;
};

/// Puts a checksum behind the bytes of a checkpoint.
inline std::string sealed(std::string bytes) {
  support::fingerprint sum;
  sum.add(bytes.data(), bytes.size());
  const u64 value = sum.value();
  return bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
/// What follows the fingerprint in sealed bytes that begin with a magic and the fingerprint of their problem.
/// `maker` is the kernel that writes such bytes.
inline reader opened(std::string_view bytes, std::string_view magic, u64 fingerprint, const char* maker) {
  if (!bytes.starts_with(magic)) support::bad_argument({maker, ": this is not a checkpoint of ", maker});
  if (bytes.size() < magic.size() + sizeof(u64))
    support::bad_argument({"wave25: the checkpoint ends too early: it was cut short"});
  support::fingerprint sum;
  sum.add(bytes.data(), bytes.size() - sizeof(u64));
  if (reader(bytes.substr(bytes.size() - sizeof(u64))).number<u64>() != sum.value())
    support::bad_argument({"wave25: the checkpoint's checksum is wrong: it was cut short or damaged"});
  reader in(bytes.substr(magic.size(), bytes.size() - magic.size() - sizeof(u64)));
  if (in.number<u64>() != fingerprint)
    support::bad_argument(
        {"wave25: the checkpoint belongs to another problem: grid, model, step, border, sources and "
         "receivers must be the same"});
  return in;
}

}  // namespace checks

inline std::string to_bytes(const state& s, const problem& p) {
  std::string bytes(checks::checkpoint_magic);
  const auto add = [&](const void* from, std::size_t n) { bytes.append(static_cast<const char*>(from), n); };
  const auto number = [&](auto n) { add(&n, sizeof n); };
  const auto numbers = [&](const std::vector<f32>& v) {
    number(u64{v.size()}), add(v.data(), v.size() * sizeof(f32));
  };
  number(fingerprint_of(p)), number(s.time);
  numbers(s.now), numbers(s.before), numbers(s.phi);
  number(u64{s.traces.size()});
  for (const auto& t : s.traces) numbers(t);
  return checks::sealed(std::move(bytes));
}

/// Throws std::invalid_argument that names the mistake in the bytes.
inline state state_from_bytes(std::string_view bytes, const problem& p) {
  checks::reader in = checks::opened(bytes, checks::checkpoint_magic, fingerprint_of(p), "wave25");
  state s;
  s.time = in.number<i64>();
  const u64 n = p.size.count();
  s.now = in.numbers(n), s.before = in.numbers(n), s.phi = in.numbers(checks::begins_of_memory(p).back());
  if (in.number<u64>() != p.receivers.size())
    support::bad_argument({"wave25: the checkpoint is damaged: it has another number of traces"});
  for (std::size_t i = 0; i < p.receivers.size(); ++i)
    s.traces.push_back(in.numbers(static_cast<u64>(s.time)));
  if (!in.empty()) support::bad_argument({"wave25: the checkpoint is damaged: it goes on after its end"});
  return s;
}

}  // namespace wsl::wave25
