// SPDX-License-Identifier: MIT
// The engine of an application: the threads of this process, or those of all processes that mpirun or srun has
// started with the same command line. ranks_mpi.cpp knows MPI; a build without it has ranks_alone.cpp. A
// program that was started as any other does not need MPI.
//   int main(int argc, char** argv) {
//     app::join_ranks(), app::let_one_print();
//     return app::run("wsl-mc", [&] { ... transport_fabric f(material, where, grid, app::engine{}); ... });
//   }
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <wsl/engine/threaded.hpp>
#include <wsl/support/scattered_file.hpp>

namespace app {

/// The processes; to be called first. An error with which all of them end is printed once. A program that is
/// built without MPI and was started several times by mpirun or srun then refuses to run, for each copy would
/// do all of the work and write the same files; with `copies_may_share` it does so in require_joined.
void join_ranks(bool copies_may_share = false);
/// Throws std::invalid_argument in such a copy; `remedy` follows the advice to build the program with MPI.
void require_joined(const char* remedy = "or start it alone");
/// All but the first stop to print on the standard output.
void let_one_print();
int ranks();
/// The number of this process among them, from 0 on.
int rank();
/// Those on this computer, whose memory they share. Collective when it is first called.
int ranks_here();
/// Whether this process writes files.
bool is_root();
/// Throws std::invalid_argument if there are several processes: what is asked for is done by one.
void require_one_process(const char* what);

/// The largest of all processes' numbers, such as a signal that one of them got; collective.
wsl::u64 largest(wsl::u64 mine);
/// Their sum, modulo 2^64; collective.
wsl::u64 sum(wsl::u64 mine);
/// Every process does its part of something that may fail on one of them alone, such as a folder that the root
/// makes; the part is not collective. If it throws on one, all throw the sentence of the first, as
/// support::file_error if it was one; otherwise the others would wait for it in the next exchange. Collective.
void together(const std::function<void()>& part);

/// A file that all processes write, each its own pieces, and that exists completely or not at all. With
/// `is_alone` this process alone. All functions are collective, and throw support::file_error.
class joint_file {
 public:
  /// Bytes that are not written are zeros.
  joint_file(const std::string& name, wsl::u64 size, bool is_alone);
  ~joint_file();
  /// Does a part of the work before a write; a process that fails alone ends all.
  void together(const std::function<void()>& part);
  /// Writes bytes, one run after the other; runs are ascending.
  void write(std::span<const wsl::support::file_run> runs, const void* bytes);
  void finish();
  wsl::u64 size() const { return size_; }

 private:
  struct file;
  wsl::u64 size_;
  std::unique_ptr<file> of_;
};

/// Spreads the PEs of a fabric over the threads of all processes.
struct engine {
  wsl::threaded how = {};
  bool is_alone = false;  ///< over those of this process
  int size() const { return is_alone ? 1 : ranks(); }
  /// Throws fault on all processes if a number is not the same on all of them; `what` names it, and where
  /// `lines()` says of what it was made, so does the first of these lines that differs.
  void require_same(wsl::u64 number, const char* what, const std::function<std::string()>& lines = {}) const;
  /// The caller owns it.
  wsl::engines::engine* make(const wsl::layout& plan) const;
};

}  // namespace app
