// SPDX-License-Identifier: MIT
// A trace of any length in a bounded number of numbers: time is cut into bins and the grid into cells of one
// or more PEs, and of each cell in each bin there are the shares of its cycles that it computed, was starved
// or was held up, and that its links were used. Sums are kept for each PE. Single events are kept as well if
// they are few enough.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "stored_layout.hpp"
#include "trace_file.hpp"

namespace view {

struct trace_options {
  std::size_t most_details = 1'000'000;  ///< events that the page has one by one
  std::uint64_t from = 0, to = ~std::uint64_t{0};

  /// "1000:2000". Throws std::invalid_argument.
  void only(const std::string& cycles);
};

class trace_summary final : private trace_visitor {
 public:
  /// Reads the file. Throws std::invalid_argument.
  trace_summary(const std::string& file, const trace_options& how);

  const stored_layout& layout() const { return layout_; }
  /// What the numbers mean, as JSON.
  std::string meta() const;
  /// The numbers.
  std::string bytes() const;
  /// What was summarised.
  std::string sentence() const;

 private:
  struct single {
    std::uint32_t pe, from, span;
    std::uint16_t name;
    std::uint8_t kind, thread;
  };
  struct single_words {
    std::uint32_t pe, first, span, count;
    std::uint8_t color, way;
  };
  struct pe_sums {
    std::uint64_t computing = 0, starved = 0, held_up = 0, last = 0;
  };
  struct section {
    const char* name;
    std::size_t size;
  };

  void event(const trace_event& e) override;
  void words(const trace_words& w) override;
  void ending(const std::string& sentence) override { ending_ = sentence; }
  void wait(trace_wait w) override;
  void link(const trace_link& l) override { chain_.push_back(l); }

  void cut(const trace_options& how);
  std::size_t cell_of(rank r) const;
  trace_words within(const trace_words& w) const;
  template <class Add>
  void spread(std::uint64_t from, std::uint64_t to, std::uint64_t amount, Add add) const;
  bool has_room_for_detail();
  std::vector<section> parts() const;

  static constexpr std::size_t most_numbers = 4'000'000;  // cells times bins
  static constexpr std::uint64_t most_bins = 600, least_bins = 64;
  static constexpr std::size_t most_waits = 5000;

  trace_file file_;
  stored_layout layout_;
  int width_, height_, block_ = 1;
  std::size_t wide_ = 0, high_ = 0, bins_ = 0;
  std::uint64_t from_ = 0, to_ = 0, bin_cycles_ = 1;
  std::vector<std::uint64_t> states_, links_;  // in cycles, 3 and 4 for each cell of each bin
  std::vector<std::uint32_t> links_of_cell_;   // 4 for each cell
  std::vector<pe_sums> sums_;
  std::size_t most_details_ = 0;
  std::uint64_t events_ = 0, words_ = 0, waits_left_out_ = 0;
  bool has_details_ = true;
  std::vector<single> details_;
  std::vector<single_words> word_details_;
  std::string ending_;
  std::vector<trace_wait> waits_;
  std::vector<trace_link> chain_;
};

}  // namespace view
