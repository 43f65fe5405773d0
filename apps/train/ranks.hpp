// SPDX-License-Identifier: MIT
// The processes that train together: those that mpirun or srun has started, or this one alone. ranks_mpi.cpp
// knows MPI; a build without it has ranks_alone.cpp. They may have roles: then input workers alone open the
// data, and make the batches of the others, who are the ranks of the fabric.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/train/roles.hpp>

#include "../memory.hpp"
#include "machine.hpp"
#include "params.hpp"

namespace train_app::ranks {

/// Of all processes at first, with the memory's as the first one; of the fabric's after input workers went
/// apart from them.
int rank();
int size();
/// Whether this process is the one that prints and writes files.
bool root();

// All processes must call the functions marked "collective", in the same order.

/// Whether this program knows MPI.
bool has_mpi();
/// Gives the processes roles, one for each in the order of mpirun; collective, and called at most once.
/// Returns a line that says who is who.
std::string take_roles(const std::vector<wsl::ml::role>& all);

/// Whether this process opens data: all do, unless some are input workers.
bool reads_data();
/// Calls `read` in those that open data. Throws in all processes what it throws in one; collective.
void where_data_are_read(const std::function<void()>& read);
/// Copies a text of the first process that opens data to those that do not; collective.
void tell(std::string& text);
/// The same for what is written as text, which `from` reads.
template <class T, class To, class From>
void tell(T& x, To to, From from) {
  std::string text = reads_data() ? to(x) : std::string();
  tell(text);
  if (!reads_data()) x = from(text);
}
inline void tell(i64& number) {
  tell(
      number, [](i64 n) { return std::to_string(n); },
      [](const std::string& text) { return std::stoll(text); });
}
/// The same for the shape of a dataset, whose examples input workers have; where they are not, single ones
/// are brought from there.
void tell(wsl::ml::dataset& data);
/// A dataset that is read where data are read, and has its shape elsewhere; collective.
inline wsl::ml::dataset read_data(const std::function<wsl::ml::dataset()>& read) {
  wsl::ml::dataset d;
  where_data_are_read([&] { d = read(); });
  tell(d);
  return d;
}

/// The data of the run, of which the processes of the fabric get batches; collective.
void take_data(const std::vector<wsl::ml::dataset*>& all);
/// Whether other processes make the batches of this one.
bool have_inputs();
/// Brings batches of the data of that number from an input worker; none if they are made here.
wsl::ml::batch_maker maker_of(std::size_t data);
/// The batches that are made ahead of time.
int prefetch();

/// While it lives, input workers serve the others, which go apart from them.
class apart {
 public:
  apart();
  apart(const apart&) = delete;
  apart& operator=(const apart&) = delete;
  ~apart();
  /// Serves, in an input worker, until the others have gone. Returns whether this process is one.
  bool serves() const;
};

/// A machine for weight streaming, whose wafers are distributed over the processes; collective.
std::unique_ptr<machine> streaming(wsl::ml::network n, const wsl::ml::optimizer& rule,
                                   const wsl::ml::streaming_settings& how);
/// The layout of weight streaming.
wsl::layout streaming_plan(const wsl::ml::wafer_grid& grid);
/// The sum of all processes' numbers; collective.
wsl::i64 sum(wsl::i64 mine);
/// Whether it is true on any process; collective.
inline bool any(bool mine) { return sum(mine) > 0; }
/// Copies the first process's numbers to all others; collective.
void share(std::span<wsl::i64> numbers);
/// The cores of the first process's computer, so that all processes lay out the same wafer; collective.
inline int cores() {
  wsl::i64 mine[] = {static_cast<wsl::i64>(std::max(1u, std::thread::hardware_concurrency()))};
  share(mine);
  return static_cast<int>(mine[0]);
}
/// The bytes of memory of the first process's computer, so that all processes have the same micro-batches;
/// collective.
inline wsl::f64 memory() {
  wsl::i64 mine[] = {static_cast<wsl::i64>(app::memory_there())};
  share(mine);
  return static_cast<wsl::f64>(mine[0]);
}
/// Whether no earlier process ends with the same sentence.
bool first_to_say(const std::string& sentence);
/// Throws an error on all processes that names the first one whose number differs from that of process 0;
/// collective.
void require_same(wsl::u64 number, const std::string& what);

}  // namespace train_app::ranks
