// SPDX-License-Identifier: MIT
// A simulation's state as bytes and back, so that a run that was killed continues bit by bit. The bytes carry
// a fingerprint of their problem and a checksum; reading bytes that were cut short, damaged, or belong to
// another problem throws std::invalid_argument. Numbers are little-endian.
//   write_whole_file("wave.checkpoint", to_bytes(s.save(), p));
// The same file is written and read by the processes of a simulation together, each its own cells, so that no
// one needs the memory for all of them:
//   mpi::joint_file f(mpi::world().who, "wave.checkpoint", checkpoint_size(s));
//   write_checkpoint(s, f), f.finish();
//   read_checkpoint(s, support::file_reader("wave.checkpoint"));  // on any number of ranks
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

/// Bytes of a kernel's checkpoint, as sentences about them say it.
struct checkpoint_bytes {
  const char* maker;           ///< the kernel that writes them
  std::string_view magic;      ///< with which they begin
  const char* what_is_same;    ///< of the problem that reads them and of the one that has written them
  std::string_view file = {};  ///< empty for bytes in memory

  /// "wave25: the checkpoint shot.checkpoint"
  std::string name() const {
    return std::string(maker) + ": the checkpoint" + (file.empty() ? "" : " " + std::string(file));
  }
  checkpoint_bytes in(std::string_view f) const { return {maker, magic, what_is_same, f}; }
  [[noreturn]] void damaged(const std::string& how) const {
    support::bad_argument({name(), " is damaged: ", how, "; take an older one, or begin anew"});
  }
};
inline constexpr checkpoint_bytes of_wave25{"wave25", checkpoint_magic,
                                            "grid, velocities, step, border, sources and receivers"};

static_assert(std::endian::native == std::endian::little,
              "wsl: checkpoints are written on little-endian computers");

/// Bytes in memory with the words of support::file_reader.
class bytes_reader {
 public:
  explicit bytes_reader(std::string_view bytes) : bytes_(bytes) {}
  u64 size() const { return bytes_.size(); }
  void read(u64 at, void* to, std::size_t n) const {
    if (n) std::memcpy(to, bytes_.data() + at, n);
  }

 private:
  std::string_view bytes_;
};

/// Numbers of a checkpoint, and where they begin.
struct saved_numbers {
  u64 at = 0, count = 0;
};
/// What a checkpoint has, and where.
struct saved_state {
  i64 time = 0;
  std::vector<saved_numbers> now, before;  ///< by fields
  saved_numbers border;
  std::vector<std::vector<f32>> traces;
};

/// Takes numbers from bytes at .. end - 1 of a file, or of memory, one after the other.
template <class Source>
class reader {
 public:
  reader(const Source& of, const checkpoint_bytes& what, u64 at, u64 end)
      : of_(&of), what_(what), at_(at), end_(end) {}

  const checkpoint_bytes& what() const { return what_; }

  template <class T>
  T number() {
    T t;
    read(&t, sizeof t);
    return t;
  }
  /// Numbers behind their count, of which there are at most so many.
  saved_numbers pass(u64 most) {
    const u64 n = number<u64>();
    if (n > most || n > (end_ - at_) / sizeof(f32))
      what_.damaged(support::joined({"it claims ", n, " numbers where it cannot have them"}));
    return {std::exchange(at_, at_ + n * sizeof(f32)), n};
  }
  std::vector<f32> numbers(u64 most) { return at(pass(most)); }
  std::vector<f32> at(const saved_numbers& some) const {
    std::vector<f32> v(static_cast<std::size_t>(some.count));
    of_->read(some.at, v.data(), v.size() * sizeof(f32));
    return v;
  }
  bool empty() const { return at_ == end_; }

 private:
  void read(void* to, std::size_t n) {
    if (n > end_ - at_) what_.damaged("it ends too early");
    of_->read(std::exchange(at_, at_ + n), to, n);
  }

  const Source* of_;
  checkpoint_bytes what_;
  u64 at_, end_;
};

/// Throws unless bytes begin with a magic and are long enough for a checksum.
template <class Source>
void require_checkpoint(const Source& of, const checkpoint_bytes& what) {
  std::string begin(what.magic.size(), '\0');
  if (of.size() >= what.magic.size()) of.read(0, begin.data(), begin.size());
  if (begin != what.magic)
    support::bad_argument({what.maker, ": ", what.file.empty() ? "" : std::string(what.file) + ": ",
                           "this is not a checkpoint of ", what.maker});
  if (of.size() < what.magic.size() + sizeof(u64))
    support::bad_argument({what.name(), " ends too early: it was cut short"});
}
/// Of a checkpoint all that its checksum, the last number, is made of.
template <class Source>
u64 end_of(const Source& of) {
  return of.size() - sizeof(u64);
}
/// What follows the fingerprint in a checkpoint that begins with a magic and the fingerprint of its problem;
/// `sum` is what its checksum should be.
template <class Source>
reader<Source> opened(const Source& of, const checkpoint_bytes& what, u64 fingerprint, u64 sum) {
  const u64 end = end_of(of);
  if (reader(of, what, end, of.size()).template number<u64>() != sum)
    support::bad_argument({what.name(),
                           " has a wrong checksum: it was cut short or damaged; take an older one, or begin "
                           "anew"});
  reader in(of, what, what.magic.size(), end);
  if (in.template number<u64>() != fingerprint)
    support::bad_argument({what.name(), " belongs to another problem: ", what.what_is_same,
                           " must be the same; give those with which it was written, or begin anew"});
  return in;
}
inline auto opened(const bytes_reader& of, std::string_view bytes, const checkpoint_bytes& what,
                   u64 fingerprint) {
  require_checkpoint(of, what);
  support::fingerprint sum;
  sum.add(bytes.data(), static_cast<std::size_t>(end_of(of)));
  return opened(of, what, fingerprint, sum.value());
}

/// Continues from what a file has. Collective.
template <class Simulation>
void go_on(Simulation& s, const support::file_reader& from, saved_state&& saved,
           const checkpoint_bytes& what) {
  const auto is_whole = [](const grid::state_on_pes<f32>& to,
                           const std::vector<grid::line_array<f32>>& fields,
                           const std::vector<saved_numbers>& of) {
    for (std::size_t f = 0; f < fields.size(); ++f)
      if (of[f].count != to.count(fields[f])) return false;
    return true;
  };
  const grid::state_on_pes<f32> there = s.on_pes();
  if (saved.time < 0 || !is_whole(there, there.now, saved.now) ||
      !is_whole(there, there.before, saved.before) ||
      (saved.border.count != 0 && saved.border.count != there.count(there.border)))
    what.damaged("it does not have a number for each cell of its problem");
  traces(what.maker, saved.time, saved.traces, saved.traces.size());  // as many as its problem has receivers
  s.restore(saved.time, std::move(saved.traces), [&](const grid::state_on_pes<f32>& to) {
    kernel::fail_together(*to.on, [&] {
      for (std::size_t f = 0; f < to.now.size(); ++f) grid::read(from, saved.now[f].at, to, to.now[f]);
      for (std::size_t f = 0; f < to.before.size(); ++f)
        grid::read(from, saved.before[f].at, to, to.before[f]);
      if (saved.border.count > 0) grid::read(from, saved.border.at, to, to.border);
      else if (to.count(to.border) > 0) grid::clear(to, to.border);
    });
  });
}

/// Continues from the checkpoint in a file, of which `saved_in(reader)` tells what it has. Collective: a
/// process that cannot read it, or a part of it, is the failure of all.
template <class Simulation, class SavedIn>
void read_all(Simulation& s, const support::file_reader& from, const checkpoint_bytes& what, u64 fingerprint,
              SavedIn saved_in) {
  const grid::state_on_pes<f32> there = s.on_pes();
  kernel::fail_together(*there.on, [&] { require_checkpoint(from, what); });
  const u64 sum = grid::fingerprint_of_bytes(from, end_of(from), there);
  saved_state saved;
  kernel::fail_together(*there.on, [&] {
    auto in = opened(from, what, fingerprint, sum);
    saved = saved_in(in);
  });
  go_on(s, from, std::move(saved), what);
}

/// A file, opened by all processes or by none. Collective.
template <class Simulation>
std::unique_ptr<const support::file_reader> opened_by_all(Simulation& s, const std::string& name) {
  std::unique_ptr<const support::file_reader> file;
  kernel::fail_together(*s.on_pes().on, [&] { file = std::make_unique<support::file_reader>(name); });
  return file;
}

/// The bytes of a checkpoint in memory.
class bytes_writer {
 public:
  void text(std::string_view more) { bytes_ += more; }
  template <class T>
  void number(T n) {
    bytes_.append(reinterpret_cast<const char*>(&n), sizeof n);
  }
  void numbers(const std::vector<f32>& v) {
    number(u64{v.size()});
    bytes_.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(f32));
  }
  /// With their checksum.
  std::string sealed() {
    support::fingerprint sum;
    sum.add(bytes_.data(), bytes_.size());
    return number(sum.value()), std::move(bytes_);
  }

 protected:
  std::string bytes_;
};

/// The same bytes, of which each process has those of its own cells.
class spread_writer : public bytes_writer {
 public:
  explicit spread_writer(const grid::state_on_pes<f32>& s) : of_(s) {}

  using bytes_writer::numbers;
  void numbers(const grid::line_array<f32>& a) {
    number(u64{of_.count(a)});
    arrays_.push_back({bytes_.size(), a});
  }

  /// Of the file.
  u64 size() const {
    u64 n = bytes_.size() + sizeof(u64);
    for (const spread_array& a : arrays_) n += of_.count(a.numbers) * sizeof(f32);
    return n;
  }
  /// Collective.
  template <class File>
  void write(File& to) const {
    if (to.size() != size())
      support::bad_argument({"a checkpoint of ", size(),
                             " bytes, which checkpoint_size tells, is written to a file of ", to.size()});
    u64 at = 0;
    const auto write_text = [&](std::string_view text) {
      const support::file_run whole{at, of_.blocks[0].is_here ? text.size() : 0};
      to.write({&whole, 1}, text.data());
      at += text.size();
    };
    support::fingerprint sum;
    const auto write_bytes = [&](std::size_t from, std::size_t end) {
      const std::string_view text = std::string_view(bytes_).substr(from, end - from);
      write_text(text), sum.add(text.data(), text.size());
    };
    std::size_t written = 0;
    for (const auto& [behind, numbers] : arrays_) {
      write_bytes(written, behind), written = behind;
      const std::size_t count = of_.count(numbers);
      if (count == 0) continue;
      grid::write(to, at, of_.blocks, numbers), grid::add_to(sum, of_, numbers);
      at += count * sizeof(f32);
    }
    write_bytes(written, bytes_.size());
    const u64 value = sum.value();
    write_text({reinterpret_cast<const char*>(&value), sizeof value});
  }

 private:
  struct spread_array {
    std::size_t behind;  ///< so many bytes
    grid::line_array<f32> numbers;
  };
  grid::state_on_pes<f32> of_;
  std::vector<spread_array> arrays_;
};

/// The traces of a simulation with so many receivers.
template <class Simulation>
std::vector<std::vector<f32>> traces_of(Simulation& s, std::size_t receivers) {
  std::vector<std::vector<f32>> all;
  for (std::size_t i = 0; i < receivers; ++i) all.push_back(s.trace(i));
  return all;
}

template <class Writer, class Array>
void put(Writer& to, u64 fingerprint, i64 time, const Array& now, const Array& before, const Array& phi,
         const std::vector<std::vector<f32>>& traces) {
  to.text(checkpoint_magic), to.number(fingerprint), to.number(time);
  to.numbers(now), to.numbers(before), to.numbers(phi);
  to.number(u64{traces.size()});
  for (const auto& t : traces) to.numbers(t);
}
template <class Storage, class Program>
spread_writer writer_of(simulation_on<Storage, Program>& s) {
  const grid::state_on_pes<f32> all = s.on_pes();
  spread_writer to(all);
  put(to, fingerprint_of(s.of()), s.time(), all.now[0], all.before[0], all.border,
      traces_of(s, s.of().receivers.size()));
  return to;
}
template <class Source>
saved_state saved_in(reader<Source>& in, const problem& p) {
  saved_state s;
  s.time = in.template number<i64>();
  const u64 n = p.size.count();
  s.now = {in.pass(n)}, s.before = {in.pass(n)}, s.border = in.pass(begins_of_memory(p).back());
  if (in.template number<u64>() != p.receivers.size()) in.what().damaged("it has another number of traces");
  for (std::size_t i = 0; i < p.receivers.size(); ++i)
    s.traces.push_back(in.numbers(static_cast<u64>(s.time)));
  if (!in.empty()) in.what().damaged("it goes on after its end");
  return s;
}

}  // namespace checks

inline std::string to_bytes(const state& s, const problem& p) {
  checks::bytes_writer to;
  checks::put(to, fingerprint_of(p), s.time, s.now, s.before, s.phi, s.traces);
  return to.sealed();
}

/// Throws std::invalid_argument that names the mistake in the bytes.
inline state state_from_bytes(std::string_view bytes, const problem& p) {
  const checks::bytes_reader of(bytes);
  auto in = checks::opened(of, bytes, checks::of_wave25, fingerprint_of(p));
  checks::saved_state s = checks::saved_in(in, p);
  return {s.time, in.at(s.now[0]), in.at(s.before[0]), in.at(s.border), std::move(s.traces)};
}

/// The bytes of a simulation's checkpoint.
template <class Storage, class Program>
u64 checkpoint_size(simulation_on<Storage, Program>& s) {
  return checks::writer_of(s).size();
}
/// Writes what to_bytes(s.save(), s.of()) is to a file of this size, a mpi::joint_file of the simulation's
/// ranks or a support::scattered_file, which is finished afterwards. Collective.
template <class Storage, class Program, class File>
void write_checkpoint(simulation_on<Storage, Program>& s, File& to) {
  checks::writer_of(s).write(to);
}
/// Continues from the checkpoint in a file that all ranks have opened. Throws std::invalid_argument with the
/// name of the file, on all of them, as state_from_bytes does; then the simulation is what it was. Throws
/// support::file_error, on all of them, if one cannot read its part. Collective.
template <class Storage, class Program>
void read_checkpoint(simulation_on<Storage, Program>& s, const support::file_reader& from) {
  checks::read_all(s, from, checks::of_wave25.in(from.name()), fingerprint_of(s.of()),
                   [&](auto& in) { return checks::saved_in(in, s.of()); });
}
/// The same of a file with a name, which each rank opens.
template <class Storage, class Program>
void read_checkpoint(simulation_on<Storage, Program>& s, const std::string& name) {
  read_checkpoint(s, *checks::opened_by_all(s, name));
}

}  // namespace wsl::wave25
