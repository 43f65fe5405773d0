// SPDX-License-Identifier: MIT
// A layout that is read from a layout file: a value like any other, built with the same functions, which
// check it. Its programs can be shown, not run.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>
#include <wsl/layout/exported_member.hpp>
#include <wsl/layout/layout_file.hpp>

namespace view {

class json_entry;

class stored_layout {
 public:
  /// Of a file's text; `file` is its name in messages. Throws std::invalid_argument.
  stored_layout(std::string_view text, const std::string& file);
  stored_layout(const stored_layout&) = delete;
  stored_layout& operator=(const stored_layout&) = delete;

  const wsl::layout& plan() const { return plan_; }
  /// The text of a layout file of it, in which nothing is but what was read.
  std::string json() const { return wsl::layout_json(plan_); }

  static constexpr std::size_t most_bytes = std::size_t{32} << 20;

 private:
  explicit stored_layout(const json_entry& all);

  const char* kept(const std::string& name);
  const wsl::detail::payload_type* payload_of(const json_entry& e);
  wsl::machine machine_of(const json_entry& e);
  wsl::layout grid_of(const json_entry& all);
  void read_program(const json_entry& e);
  wsl::detail::exported_member member_of(const json_entry& e, int bytes_of_program);
  wsl::detail::binding task_of(const json_entry& e);
  wsl::region where_of(const json_entry& e) const;
  void read_placement(const json_entry& e);
  void read_path(const json_entry& e);
  void read_stream(const json_entry& e);
  void read_claim(const json_entry& e);

  // What the layout points to; addresses stay.
  std::deque<std::string> names_;
  std::deque<wsl::detail::payload_type> payloads_;
  std::deque<std::vector<wsl::detail::binding>> tasks_;
  std::deque<std::vector<wsl::detail::exported_member>> members_;
  std::deque<wsl::program> programs_;
  wsl::layout plan_;
};

}  // namespace view
