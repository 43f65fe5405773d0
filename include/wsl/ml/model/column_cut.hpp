// SPDX-License-Identifier: MIT
// The cut of a model over the columns of a wafer. Tokens are cut over the rows of workers, and what a row has
// is cut once more over its columns, in one of two ways:
//   by tokens     each column has all features of some of the row's tokens: norms, residuals, losses
//   by features   each column has some features of all the row's tokens: what linear layers give, the heads
//                 of attention, functions of single numbers
// A linear layer reads whole rows: it gathers them along the row, and its part of the weights gives the
// column's part of the output. So a weight, its gradient and its update belong to one column. Where one stage
// gives a value in another form than the next one reads it, the columns of a row exchange their parts. After
// the tensor and sequence parallelism of Megatron-LM (arXiv 1909.08053, 2205.05198).
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../tensor/distribution.hpp"
#include "network.hpp"

namespace wsl::ml {

/// A value that the columns of a row bring from one form to another before a stage reads it, or, if it is a
/// sum of parts, after a stage has written it.
struct exchange {
  int value = 0;
  value_form from = value_form::tokens, to = value_form::tokens;
};

/// The numbers of a parameter that a column has, contiguous in the parameter: `rows` rows of `columns`
/// numbers, the first of which is number `offset`. On a worker they are the rows from `row` on; for a vector
/// that is cut, the columns from `row` on.
struct parameter_share {
  i64 offset = 0;
  int row = 0, rows = 0, columns = 0;
};

class column_cut {
 public:
  /// Columns beyond the heads of attention, or the features of a value, have none of them. Throws
  /// std::invalid_argument for fewer than one column, and for more than one if some stages cut a parameter
  /// that others use whole.
  column_cut(const network& n, int columns) : network_(n), columns_(columns) {
    if (columns < 1)
      throw std::invalid_argument(
          fmt::format("wsl: a wafer has at least 1 column of workers, not {}", columns));
    if (const std::string name = shared_unlike(n); columns > 1 && !name.empty())
      throw std::invalid_argument(
          fmt::format("wsl: this model is not cut over {} columns of workers: some stages cut {} and "
                      "others use all of it: use 1 column",
                      columns, name));
    demand_features();
    choose_forms();
    if (cuts_images())
      for (const token_axis& a : n.axes()) lines_.push_back(a.image.height);
    rows_keep_sequences_ = lines_.empty() && rows_keep_sequences_;
    keeps_sequences_ = columns > 1 && keeps_sequences_;
  }

  /// Whether a stage gets what it needs of the lines beside a part of an image.
  bool reads_lines(const stage& s) const { return !lines_.empty() && s.reads_of_line(0).has_value(); }
  /// The lines of the images on each axis of tokens, if rows may have parts of images; empty if not.
  const std::vector<int>& lines_of_images() const { return lines_; }
  /// The size of the images of which a value has pixels.
  const image_size& image_of(int value) const {
    return network_.axes()[static_cast<std::size_t>(axis(value))].image;
  }
  /// Whether a stage gets what it needs of the tokens before a part of a sequence.
  static bool reads_prefix(const stage& s) {
    return s.how_cut() == stage_cut::by_head && s.reads_of_prefix().any();
  }
  /// Whether a model can be cut over several columns.
  static bool can_cut(const network& n) { return shared_unlike(n).empty(); }

  int columns() const { return columns_; }
  /// Whether tokens may only be cut between sequences, over the columns of a row, and over rows.
  bool keeps_sequences() const { return keeps_sequences_; }
  bool rows_keep_sequences() const { return rows_keep_sequences_; }

  /// The form in which a stage reads its inputs, and that in which it writes its output.
  value_form reads(const stage& s) const { return of(s).reads; }
  value_form writes(const stage& s) const { return of(s).writes; }
  /// The forms in which stages read a value that the host gives. It gives it in each of them.
  std::vector<value_form> forms_given(int value) const {
    std::vector<value_form> all;
    if (columns_ > 1 && network_.info(value).from != origin::computed)
      for (const auto& s : network_.stages())
        if (std::find(s->inputs.begin(), s->inputs.end(), value) != s->inputs.end() &&
            std::find(all.begin(), all.end(), reads(*s)) == all.end())
          all.push_back(reads(*s));
    return all;
  }
  /// The exchanges before a stage, and after it. In the backward pass the gradients go the other way, after
  /// the stage and before it.
  const std::vector<exchange>& before(const stage& s) const { return of(s).before; }
  const std::vector<exchange>& after(const stage& s) const { return of(s).after; }

  /// The features of a value that a column has where the value is cut by features.
  std::vector<feature_run> features(int value, int column) const {
    std::vector<feature_run> runs;
    for (const feature_group& g : groups_[static_cast<std::size_t>(value)]) {
      const block_cyclic units{g.units, columns_};
      const feature_run run{g.first + units.global(column, 0) * g.unit, units.size(column) * g.unit};
      if (run.count == 0) continue;
      if (!runs.empty() && runs.back().first + runs.back().count == run.first) runs.back().count += run.count;
      else runs.push_back(run);
    }
    return runs;
  }
  std::vector<feature_run> all_features(int value) const { return {{0, network_.width(value)}}; }
  /// The axis of a value's tokens.
  int axis(int value) const { return network_.info(value).axis; }
  /// The number of features of a value that a column has.
  int width(int value, int column) const {
    int n = 0;
    for (const feature_run& r : features(value, column)) n += r.count;
    return n;
  }
  /// The most features of a value that a column has.
  int largest_width(int value) const {
    int most = 0;
    for (int column = 0; column < columns_; ++column) most = std::max(most, width(value, column));
    return most;
  }
  /// The features of its first input that a stage reads on a column.
  int features_read(const stage& s, int column) const {
    return reads(s) == value_form::features ? width(s.inputs[0], column) : network_.width(s.inputs[0]);
  }
  /// The number of the first unit of a column in each group, such as its first head.
  int first_unit(int value, int column) const {
    return block_cyclic{groups_[static_cast<std::size_t>(value)].front().units, columns_}.global(column, 0);
  }

  /// The number of features that a stage reads on a column of tokens that earlier rows have, or 0.
  int features_of_prefix(const stage& s, int column) const {
    int n = 0, k = 0;
    if (!reads_prefix(s)) return n;
    for (const feature_group& g : s.groups_of_input(0))
      if (k++ >= s.reads_of_prefix().first_group) n += block_cyclic{g.units, columns_}.size(column) * g.unit;
    return n;
  }

  /// The most of these on a column.
  int largest_prefix(const stage& s) const {
    int most = 0;
    for (int column = 0; column < columns_; ++column) most = std::max(most, features_of_prefix(s, column));
    return most;
  }

  /// Whether each column has a part of the parameter; if not, all use all of it, and the first column's
  /// gradient is the sum of all.
  bool is_cut(const stage& s) const { return columns_ > 1 && cuts_parameters(s); }
  /// The numbers of a stage's parameter that a column has.
  std::vector<parameter_share> shares(const stage& s, int which, int column) const {
    const parameter& p = parameter_of(s, which);
    if (!is_cut(s)) return {{.rows = p.rows, .columns = p.columns}};
    std::vector<parameter_share> all;
    int row = 0;
    for (const feature_run& r : runs_of(s, p, column)) {
      // A vector has a number, a matrix a row for each feature of the output.
      const bool is_vector = p.rows == 1 && network_.width(s.output) > 1;
      if (is_vector && s.how_cut() != stage_cut::by_rows_of_table) all.push_back({r.first, row, 1, r.count});
      else all.push_back({i64{r.first} * p.columns, row, r.count, p.columns});
      row += r.count;
    }
    return all;
  }

 private:
  struct forms {
    value_form reads = value_form::tokens, writes = value_form::tokens;
    std::vector<exchange> before, after;
  };
  const forms& of(const stage& s) const { return forms_[static_cast<std::size_t>(s.number)]; }
  const parameter& parameter_of(const stage& s, int which) const {
    return network_.parameters()[static_cast<std::size_t>(s.parameters[static_cast<std::size_t>(which)])];
  }
  static bool cuts_parameters(const stage& s) {
    return s.how_cut() == stage_cut::by_rows_of_table || s.how_cut() == stage_cut::by_output ||
           s.how_cut() == stage_cut::by_feature;
  }
  /// The name of a parameter that some stages cut and others use whole; empty if there is none.
  static std::string shared_unlike(const network& n) {
    std::vector<const stage*> user(n.parameters().size());
    for (const auto& s : n.stages())
      for (int p : s->parameters) {
        const stage* other = std::exchange(user[static_cast<std::size_t>(p)], s.get());
        if (other && cuts_parameters(*other) != cuts_parameters(*s))
          return n.parameters()[static_cast<std::size_t>(p)].name;
      }
    return "";
  }
  std::vector<feature_run> runs_of(const stage& s, const parameter& p, int column) const {
    if (s.how_cut() != stage_cut::by_rows_of_table) return features(s.output, column);
    const block_cyclic rows{p.rows, columns_};
    return {{rows.size(column) ? rows.global(column, 0) : 0, rows.size(column)}};
  }

  /// Cuts the output of a linear layer as the stages that read it need it: between heads, if it goes to
  /// attention. Anything else may be cut between any two features.
  void demand_features() {
    groups_.resize(network_.widths().size());
    const auto& stages = network_.stages();
    for (std::size_t k = stages.size(); k-- > 0;) {
      const stage& s = *stages[k];
      auto& given = groups_[static_cast<std::size_t>(s.output)];
      if (s.how_cut() == stage_cut::by_feature) {
        if (const auto units = s.groups_of_output(); !units.empty()) given = units;
        if (!given.empty()) groups_[static_cast<std::size_t>(s.inputs[0])] = given;
      } else if (s.how_cut() == stage_cut::by_head) {
        given = s.groups_of_output();
        for (std::size_t i = 0; i < s.inputs.size(); ++i)
          if (!network_.info(s.inputs[i]).is_ids())
            groups_[static_cast<std::size_t>(s.inputs[i])] = s.groups_of_input(static_cast<int>(i));
      } else if (s.how_cut() == stage_cut::by_element && !given.empty())
        for (int v : s.inputs)
          if (network_.width(v) == network_.width(s.output)) groups_[static_cast<std::size_t>(v)] = given;
    }
    for (std::size_t v = 0; v < groups_.size(); ++v)
      if (groups_[v].empty()) groups_[v] = {{0, network_.widths()[v], 1}};
  }

  /// Input k of a stage is cut as the stage needs it. Two stages may need it in different ways.
  void require_cut(const stage& s, std::size_t k, const std::vector<feature_group>& as) const {
    if (columns_ > 1 && groups_[static_cast<std::size_t>(s.inputs[k])] != as)
      throw std::invalid_argument(
          fmt::format("wsl: the features of {} are cut in two ways over columns of workers, for {} and for "
                      "another stage that reads them: use 1 column",
                      network_.info(s.inputs[k]).name, s.name));
  }

  /// Whether rows may have parts of images: all tokens are pixels, some stages read lines, and all that need
  /// other tokens than their own do. Columns must not need whole sequences, which are not there then. Throws
  /// std::invalid_argument for lines that go back.
  bool cuts_images() const {
    const auto is_image = [](const token_axis& a) { return a.image.pixels() > 0; };
    if (!std::all_of(network_.axes().begin(), network_.axes().end(), is_image)) return false;
    bool reads_lines = false;
    for (const auto& s : network_.stages()) {
      if (s->needs_whole_sequences() && !s->reads_of_line(0)) return false;
      if (s->reads_of_line(0)) check_lines(*s), reads_lines = true;
    }
    return reads_lines && (columns_ == 1 || !keeps_sequences_);
  }
  void check_lines(const stage& s) const {
    for (int line = 1; line < image_of(s.output).height; ++line) {
      const line_range last = *s.reads_of_line(line - 1), now = *s.reads_of_line(line);
      if (now.first < last.first || now.end < last.end)
        throw std::invalid_argument(
            fmt::format("wsl: {} reads the lines from {} to before {} for line {} of its output, and from {} "
                        "to before {} for the next: reads_of_line must not go back",
                        s.name, last.first, last.end, line - 1, now.first, now.end));
    }
  }

  void choose_forms() {
    const auto& stages = network_.stages();
    native_.assign(groups_.size(), value_form::tokens);
    std::vector<std::vector<value_form>> made(groups_.size());
    forms_.resize(stages.size());
    rows_keep_sequences_ = network_.axes().size() > 1;
    for (const auto& s : stages) {
      forms& f = forms_[static_cast<std::size_t>(s->number)];
      rows_keep_sequences_ = rows_keep_sequences_ || (s->needs_whole_sequences() && !reads_prefix(*s));
      switch (s->how_cut()) {
        case stage_cut::by_tokens: break;
        case stage_cut::by_element:
          if (std::all_of(s->inputs.begin(), s->inputs.end(), [&](int v) {
                return native_[static_cast<std::size_t>(v)] == value_form::features &&
                       groups_[static_cast<std::size_t>(v)] == groups_[static_cast<std::size_t>(s->output)];
              }))
            f.reads = f.writes = value_form::features;
          break;
        case stage_cut::by_output: f.reads = value_form::whole, f.writes = value_form::features; break;
        case stage_cut::by_feature:
          require_cut(*s, 0, groups_[static_cast<std::size_t>(s->output)]);
          f.reads = f.writes = value_form::features;
          break;
        case stage_cut::by_head:
          for (std::size_t i = 0; i < s->inputs.size(); ++i)
            if (!network_.info(s->inputs[i]).is_ids())
              require_cut(*s, i, s->groups_of_input(static_cast<int>(i)));
          f.reads = f.writes = value_form::features;
          break;
        case stage_cut::by_rows: f.reads = f.writes = value_form::whole; break;
        case stage_cut::by_rows_of_table: f.writes = value_form::whole; break;
      }
      // The other stages get all tokens of a row.
      keeps_sequences_ = keeps_sequences_ || (s->needs_whole_sequences() && f.reads == value_form::tokens);
      if (columns_ == 1) continue;
      for (int v : s->inputs) {
        if (network_.info(v).from != origin::computed) continue;  // the host gives it in any form
        const value_form has = native_[static_cast<std::size_t>(v)];
        auto& forms_of_v = made[static_cast<std::size_t>(v)];
        if (has == f.reads || std::find(forms_of_v.begin(), forms_of_v.end(), f.reads) != forms_of_v.end())
          continue;
        f.before.push_back({v, has, f.reads});
        forms_of_v.push_back(f.reads);
      }
      if (!writes_output(*s)) continue;
      value_form& native = native_[static_cast<std::size_t>(s->output)];
      native = f.writes;
      if (f.writes == value_form::whole) {
        f.after.push_back({s->output, value_form::whole, value_form::tokens});
        native = value_form::tokens;
      }
    }
    // The output of the model is read in the form of tokens.
    const int y = network_.logits();
    if (columns_ == 1 || y < 0) return;
    const value_form has = native_[static_cast<std::size_t>(y)];
    const auto& forms_of_y = made[static_cast<std::size_t>(y)];
    if (has == value_form::tokens ||
        std::find(forms_of_y.begin(), forms_of_y.end(), value_form::tokens) != forms_of_y.end())
      return;
    for (const auto& s : stages)
      if (writes_output(*s) && s->output == y)
        forms_[static_cast<std::size_t>(s->number)].after.push_back({y, has, value_form::tokens});
  }

  const network& network_;
  int columns_;
  bool keeps_sequences_ = false, rows_keep_sequences_ = false;
  std::vector<int> lines_;                          // of images, on each axis; empty if rows keep them whole
  std::vector<std::vector<feature_group>> groups_;  // of each value
  std::vector<value_form> native_;                  // the form in which each value is made
  std::vector<forms> forms_;                        // of each stage
};

}  // namespace wsl::ml
