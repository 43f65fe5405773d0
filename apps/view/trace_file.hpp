// SPDX-License-Identifier: MIT
// Reads a trace file, record by record, in memory that does not grow with the number of its events. Whatever
// is in the file is checked before it is used.
#pragma once
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>
#include <wsl/engine/timed/trace_writer.hpp>

namespace view {

/// Where a PE or a router lies: row by row.
using rank = std::uint64_t;

/// What words cross together: the ramp of a PE, or some links, each from a router by a side.
struct trace_pipe {
  wsl::engines::trace_pipe what;
  int color = 0;
  rank from = 0;
  std::vector<std::pair<rank, wsl::port>> links;
};

/// A task, an operation, a stall, or the busy cycles of a PE.
struct trace_event {
  wsl::engines::trace_tag what;
  rank pe = 0;
  std::uint64_t from = 0, to = 0;
  std::uint64_t busy = 0;  ///< of busy cycles, their number; else 0
  std::uint32_t name = 0;
  int thread = 0;
};
struct trace_words {
  std::size_t pipe = 0;
  std::uint64_t first = 0, last = 0, count = 0;
};
struct trace_wait {
  int why = 0, color = -1, position = -1;
  rank pe = 0;
  std::string program, what;
  std::uint64_t count = 0;
};
struct trace_link {
  int what = 0, color = -1;
  rank from = 0, to = 0;
  bool from_host = false;
};

class trace_visitor {
 public:
  virtual ~trace_visitor() = default;
  virtual void event(const trace_event&) = 0;
  virtual void words(const trace_words&) = 0;
  virtual void ending(const std::string&) = 0;
  virtual void wait(trace_wait) = 0;
  virtual void link(const trace_link&) = 0;
};

class trace_file {
 public:
  /// Reads what the file says about itself. Throws std::invalid_argument, with the file's name and a remedy,
  /// as `read` does.
  explicit trace_file(std::string name);

  const std::string& layout_text() const { return layout_; }
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  std::uint64_t records() const { return records_; }
  std::uint64_t bytes() const { return size_; }

  /// Gives all records to a visitor. The grid is that of the layout. To be called once.
  void read(int width, int height, trace_visitor& to);
  /// What records refer to by number, as far as it has been read.
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<trace_pipe>& pipes() const { return pipes_; }

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  std::uint8_t byte() {
    if (at_ == filled_) fill();
    return static_cast<std::uint8_t>(buffer_[at_++]);
  }
  void fill();
  std::uint64_t fixed(int size);
  std::uint64_t number();
  std::uint64_t number(std::uint64_t most, const char* what);
  std::uint64_t difference(std::uint64_t& before);
  rank place();
  std::uint64_t time();
  std::uint64_t span(std::uint64_t from);
  std::string text(std::size_t longest, const char* what);
  void read_pipe();
  trace_event event(wsl::engines::trace_tag what);

  std::string name_;
  std::ifstream in_;
  std::uint64_t size_ = 0, read_ = 0,
                limit_ = 0;  // bytes of the file, read so far, and those before the sums
  std::size_t at_ = 0, filled_ = 0;
  std::vector<char> buffer_;
  std::string layout_;
  std::uint64_t begin_ = 0, end_ = 0, records_ = 0;
  int width_ = 0;
  std::uint64_t pes_ = 0, place_ = 0, pipe_ = 0, time_ = 0;
  std::vector<std::string> names_;
  std::vector<trace_pipe> pipes_;
};

}  // namespace view
