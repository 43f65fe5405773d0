// SPDX-License-Identifier: MIT
// A file that all ranks of a group write together (MPI-IO), each its own pieces, and that exists completely
// or not at all, as a support::whole_file: the ranks write it under another name, and the root renames it.
//   mpi::joint_file f(mpi::world().who, "field.bin", bytes_of_all);
//   f.write(runs_of_this_rank, their_bytes);
//   f.finish();
// All functions are collective, and all ranks throw the same support::file_error, with the name of the file
// and the reason, also where one of them calls another function than the rest.
#pragma once
#include <mpi.h>
#include <sys/mman.h>

#include <array>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../support/exception_text.hpp"
#include "../support/fingerprint.hpp"
#include "../support/scattered_file.hpp"
#include "world.hpp"

namespace wsl::mpi {

class joint_file {
 public:
  /// The bytes that a rank hands to MPI at once, if nothing else is said; its counts are ints.
  static constexpr u64 most_at_once = u64{1} << 30;

  /// Bytes that are not written are zeros.
  joint_file(const ranks& who, const std::string& name, u64 size, u64 at_once = most_at_once)
      : who_(who), name_(name), size_(size), at_once_(at_once) {
    std::string why = at_once_ > 0 ? "" : cannot_write("at least a byte is handed to MPI at once"),
                unfinished;
    must_agree(why);
    who_.require_same(size_, "size of " + name);
    if (who_.root()) try {
        to_.emplace(name);
        // creates the file with its size, also in the place of one that an earlier run has left unfinished
        ::close(support::scattered_file::created(*to_, size));
        unfinished = to_->unfinished();
      } catch (const support::file_error& e) { why = e.what(); }
    must_agree(why);
    unfinished = who_.broadcast(unfinished, 0);
    support::fingerprint of_name;
    of_name.add(unfinished.data(), unfinished.size());
    file_number_ = of_name.value();
    do_together([] { require_memory_of_mpi(0); });
    const detail::waiting others;
    MPI_Info hints;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "cb_buffer_size", std::to_string(bytes_of_buffer).c_str());
    const int failure = MPI_File_open(who_.group(), unfinished.c_str(), MPI_MODE_WRONLY, hints, &file_);
    MPI_Info_free(&hints);
    must(failure);
  }
  joint_file(const joint_file&) = delete;
  joint_file& operator=(const joint_file&) = delete;
  /// A file that is not finished stays open, since to close it is collective, and nobody knows whether the
  /// other ranks end as well.
  ~joint_file() {
    if (to_) to_->discard();
  }

  u64 size() const { return size_; }

  /// Each rank does its part of the work before a write, which is not collective. If it throws on one, as
  /// where that has no memory, all throw file_error with its sentence and the rank.
  template <class F>
  void together(F part) {
    now_ = call::together;
    do_together(part);
  }

  /// Writes the bytes of this rank, one run after the other; a rank may have none. Throws if they are not
  /// ascending, overlap, or lie beyond the size of the file. Those of different ranks must not overlap, which
  /// is not checked.
  void write(std::span<const support::file_run> runs, const void* bytes) {
    now_ = call::write;
    do_together([&] {
      if (const std::string why = support::fault_of(runs, size_); !why.empty())
        throw support::file_error(why);
    });
    u64 mine = 0;
    for (const support::file_run& r : runs) mine += r.size;
    const u64 rounds = who_.largest((mine + at_once_ - 1) / at_once_);
    const char* next = static_cast<const char*>(bytes);
    std::size_t run = 0;
    u64 done = 0;  // of the run
    std::vector<int> sizes;
    std::vector<MPI_Aint> places;
    for (u64 round = 0; round < rounds; ++round) {
      sizes.clear(), places.clear();
      u64 size = 0;
      do_together([&] {
        while (run < runs.size() && size < at_once_) {
          const u64 n = support::min(runs[run].size - done, at_once_ - size);
          if (n > 0)
            sizes.push_back(static_cast<int>(n)),
                places.push_back(static_cast<MPI_Aint>(runs[run].at + done));
          size += n, done += n;
          if (done == runs[run].size) ++run, done = 0;
        }
        require_memory_of_mpi(sizes.size());
      });
      write_round(sizes, places, next);
      next += size;
    }
  }

  /// Puts the file in its place.
  void finish() {
    now_ = call::finish;
    must_agree({});
    {
      const detail::waiting others;
      must(MPI_File_sync(file_));
      must(MPI_File_close(&file_));
    }
    std::string why;
    if (who_.root()) {
      if (!to_->take_place()) why = cannot_write(std::strerror(errno)), to_->discard();
      to_.reset();
    }
    must_agree(why);
  }

 private:
  enum class call : u8 { open, together, write, finish };
  static constexpr const char* names_of_calls[] = {"its constructor", "together", "write", "finish"};

  template <class F>
  void do_together(F part) {
    std::string why;
    try {
      part();
    } catch (const std::bad_alloc&) { why = "there is not enough memory"; } catch (...) {
      why = support::exception_text(std::current_exception());
    }
    must_agree(why.empty() ? why : cannot_write(why) + " (on " + who_.name_of(who_.rank()) + ")");
  }

  /// That a rank has in MPI for what it and its neighbours write.
  static constexpr std::size_t bytes_of_buffer = std::size_t{1} << 23;

  void write_round(const std::vector<int>& sizes, const std::vector<MPI_Aint>& places, const char* bytes) {
    const detail::waiting others;
    MPI_Datatype view = MPI_BYTE;
    int size = 0;
    for (const int n : sizes) size += n;
    if (size > 0) {
      MPI_Type_create_hindexed(static_cast<int>(sizes.size()), sizes.data(), places.data(), MPI_BYTE, &view);
      MPI_Type_commit(&view);
    }
    int failure = MPI_File_set_view(file_, 0, MPI_BYTE, view, "native", MPI_INFO_NULL), written = 0;
    must(failure);
    MPI_Status how;
    failure = MPI_File_write_at_all(file_, 0, bytes, size, MPI_BYTE, &how);
    if (failure == MPI_SUCCESS) MPI_Get_count(&how, MPI_BYTE, &written);
    if (size > 0) MPI_Type_free(&view);
    must_agree(failure != MPI_SUCCESS ? cannot_write(text_of(failure))
               : written != size      ? cannot_write("not all bytes were written; the disk may be full")
                                      : std::string());
  }

  /// MPI collects what neighbouring ranks write in a buffer, and has tables of the runs. A rank without the
  /// memory for them would leave a collective function while the others stay in it. What is freed after
  /// operator new could stay with this process.
  static void require_memory_of_mpi(std::size_t runs) {
    const std::size_t tables = 128 * runs, others = std::size_t{1} << 20,
                      bytes = 2 * bytes_of_buffer + tables + others;
    void* const room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) throw std::bad_alloc();
    ::munmap(room, bytes);
  }

  std::string cannot_write(const std::string& why) const { return "wsl: cannot write " + name_ + ": " + why; }
  static std::string text_of(int failure) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(failure, text, &length);
    return std::string(text, static_cast<std::size_t>(length));
  }
  void must(int failure) {
    must_agree(failure == MPI_SUCCESS ? std::string() : cannot_write(text_of(failure)));
  }
  /// Throws on all ranks if one has a reason, that of the first one, and if they are in different calls: MPI
  /// would wait for ever.
  void must_agree(const std::string& why) {
    // the rank is counted from the end, so that the largest is the first
    const u64 mine = file_number_ * std::size(names_of_calls) + static_cast<u64>(now_);
    const auto [first, last_call, others_last] =
        who_.largest(std::array{why.empty() ? 0 : static_cast<u64>(who_.size() - who_.rank()), mine, ~mine});
    if (last_call != ~others_last) throw_different_calls();
    if (first == 0) return;
    const std::string sentence = who_.broadcast(why, who_.size() - static_cast<int>(first));
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);  // all ranks are here
    discard();
    throw support::file_error(sentence);
  }
  [[noreturn]] void throw_different_calls() {
    struct place {
      u64 file;
      call now;
    };
    std::vector<place> all(static_cast<std::size_t>(who_.size()));
    for (int r = 0; r < who_.size(); ++r) {
      place theirs{file_number_, now_};
      who_.broadcast(theirs.file, r), who_.broadcast(theirs.now, r);
      all[static_cast<std::size_t>(r)] = theirs;
    }
    const std::string name = who_.broadcast(name_, 0);
    const place& roots = all.front();
    bool same_file = true;
    std::string what;
    for (std::size_t c = 0; c < std::size(names_of_calls); ++c)
      for (const bool this_file : {true, false}) {
        std::vector<int> callers;
        for (int r = 0; r < who_.size(); ++r)
          if (const place& p = all[static_cast<std::size_t>(r)];
              static_cast<std::size_t>(p.now) == c && (p.file == roots.file) == this_file)
            callers.push_back(r);
        if (callers.empty()) continue;
        same_file = same_file && this_file;
        what += (what.empty() ? "" : ", and ") + names_of(callers) +
                (callers.size() == 1 ? " calls " : " call ") + names_of_calls[c] +
                (this_file ? "" : " of another file");
      }
    // to close a file is collective as well
    if (same_file && file_ != MPI_FILE_NULL) MPI_File_close(&file_);
    discard();
    throw support::file_error("wsl: cannot write " + name + ": " + what +
                              "; all ranks call the same functions of a file, in the same order");
  }
  /// "rank 0, rank 2 and 5 others"
  std::string names_of(const std::vector<int>& some) const {
    constexpr std::size_t most = 4;
    const std::size_t named = some.size() > most ? most - 1 : some.size();
    std::string text;
    for (std::size_t i = 0; i < named; ++i)
      text += (i == 0 ? "" : i + 1 == some.size() ? " and " : ", ") + who_.name_of(some[i]);
    if (named < some.size()) text += " and " + std::to_string(some.size() - named) + " others";
    return text;
  }
  void discard() {
    if (to_) to_->discard();
    to_.reset();
  }

  ranks who_;
  std::string name_;
  u64 size_, at_once_;
  u64 file_number_ = 0;                          ///< the same on all ranks; 0 until they know the name
  call now_ = call::open;                        ///< the function in which this rank is
  std::optional<support::file_replacement> to_;  ///< the root's
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace wsl::mpi
