// SPDX-License-Identifier: MIT
// A dump as the page shows it: the paths and programs that it has, which PEs wait and for whom, the values of
// members as pictures, and of the PEs that matter most all that wsl-debug says.
#pragma once
#include <cstdint>
#include <string>
#include <vector>
#include <wsl/debug/views.hpp>

namespace view {

class dump_summary {
 public:
  /// Reads the file. Throws support::file_error.
  explicit dump_summary(const std::string& file);

  /// The programs and paths, in the form of a layout file.
  std::string layout_json() const;
  /// What the numbers mean, as JSON.
  std::string meta() const;
  /// The numbers.
  std::string bytes() const;
  /// What the page has.
  std::string sentence() const;

 private:
  /// Values of a member on all PEs that export it; of an array the largest, not a number if there is one.
  struct member_picture {
    std::string name;
    float low = 0, high = 0;
    std::vector<float> values;  ///< of all places; infinite where there is none
  };

  void choose_texts();
  void draw_members();

  static constexpr std::size_t most_texts = 20'000, most_waits = 5000, most_numbers = 6'000'000;

  wsl::debug::machine_state state_;
  std::vector<bool> waits_;
  std::vector<std::string> texts_;      // equal ones once
  std::vector<std::uint32_t> text_of_;  // by place; 0 for none, otherwise one more than the number of a text
  std::vector<member_picture> members_;
  std::size_t texts_left_out_ = 0, members_left_out_ = 0;
};

}  // namespace view
