// SPDX-License-Identifier: MIT
// Writes a trace file, the record of a run that wsl-view shows: numbers of few bytes, written as they come,
// so that a trace takes neither memory nor a limit. docs/guide/view.md describes the format.
#pragma once
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "../../core/coord.hpp"
#include "../../support/whole_file.hpp"

namespace wsl::engines {

/// The records of a trace file by the byte with which they begin.
enum class trace_tag : u8 {
  end,        ///< behind it only the sums
  name,       ///< the next name
  pipe,       ///< the next pipe: what words cross together
  task,       ///< a run of a task
  operation,  ///< an asynchronous operation in flight
  starved,    ///< a PE could not move for want of wavelets
  held_up,    ///< a PE could not move for want of room
  busy,       ///< cycles in which a PE computed or moved words
  words,      ///< words that crossed a pipe
  run,        ///< the begin and the end of a run
  ending,     ///< the sentence of the fault or deadlock that ended the last run
  wait,       ///< an operation or task that still waits
  link,       ///< a link of the chain of PEs that wait for each other
};

/// The kind of a pipe.
enum class trace_pipe : u8 { from_pe, to_pe, links, host };

class trace_writer {
 public:
  static constexpr char magic[] = "wsltrace";  // at the begin and at the end of a file
  static constexpr u32 version = 1;

  /// Throws support::file_error if the file cannot be written, as all functions do.
  trace_writer(const std::string& file, const std::string& layout_text) : file_(file) {
    bytes(magic, sizeof magic - 1);
    fixed(version, 4);
    fixed(layout_text.size(), 4);
    bytes(layout_text.data(), layout_text.size());
  }

  void begin(trace_tag what) { byte(static_cast<u8>(what)), ++records_; }
  void number(u64 n) {
    for (; n >= 128; n >>= 7) byte(static_cast<u8>(n | 128));
    byte(static_cast<u8>(n));
  }
  /// The difference to the number before of the same kind.
  void place(u64 n) { difference(n, place_); }
  void pipe(u64 n) { difference(n, pipe_); }
  void time(u64 n) { difference(n, time_); }
  void text(std::string_view t) {
    number(t.size());
    bytes(t.data(), t.size());
  }

  /// Ends the file, unless it could not be written before: `begin` and `end` are those of all that is in it,
  /// in cycles.
  void finish(u64 begin, u64 end) {
    byte(static_cast<u8>(trace_tag::end));
    fixed(begin, 8), fixed(end, 8), fixed(records_, 8);
    bytes(magic, sizeof magic - 1);
    flush();
    if (!broken_) file_.finish();
  }

 private:
  void difference(u64 n, u64& before) {
    const u64 d = n - before;  // as a signed number
    before = n;
    number(d << 1 ^ (d >> 63 ? ~u64{0} : 0));
  }
  void byte(u8 b) {
    if (filled_ == sizeof buffer_) flush();
    buffer_[filled_++] = static_cast<char>(b);
  }
  void fixed(u64 n, int size) {
    for (int k = 0; k < size; ++k) byte(static_cast<u8>(n >> 8 * k));
  }
  void bytes(const char* from, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) byte(static_cast<u8>(from[k]));
  }
  // What cannot be written ends the run once.
  void flush() {
    if (!std::exchange(broken_, true)) file_.write(buffer_, filled_), broken_ = false;
    filled_ = 0;
  }

  support::whole_file file_;
  u64 records_ = 0, place_ = 0, pipe_ = 0, time_ = 0;
  std::size_t filled_ = 0;
  bool broken_ = false;
  char buffer_[1 << 16];
};

}  // namespace wsl::engines
