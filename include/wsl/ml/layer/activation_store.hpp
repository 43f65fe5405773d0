// SPDX-License-Identifier: MIT
// The activation store of a PE for one step. It holds the values of the PE's tokens, their gradients, and the
// numbers that stages save in the forward pass for the backward pass. In weight streaming nothing else stays
// on the wafer.
#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "../../linalg/matrix.hpp"
#include "../op/dropout.hpp"
#include "../op/norm.hpp"
#include "../op/precision.hpp"

namespace wsl::ml {

/// The form of a value on a column: whole rows of the column's own tokens; the column's own features of all
/// tokens of the row; or whole rows of all tokens of the row.
enum class value_form : u8 { tokens, features, whole };

/// Consecutive features of a value, or rows of a parameter.
struct feature_run {
  int first = 0, count = 0;
  int end() const { return first + count; }
  friend bool operator==(const feature_run&, const feature_run&) = default;
};

/// The features of a value: of all of it, and of the part of it that a column of workers has, if the value is
/// cut by features; and the number of the first head, or other unit, of that part.
struct value_width {
  int all = 0, own = 0, first_unit = 0;
  int axis = 0;                         ///< of its tokens
  std::vector<feature_run> parts = {};  ///< which features that part has, in order, if there are columns
  /// If the host gives it: the forms in which stages read it.
  std::vector<value_form> given_in = {};
};

/// Tokens from `first` to before `end`, counted from the first token of some sequences.
struct token_range {
  int first = 0, end = 0;
  int count() const { return end - first; }
  friend bool operator==(const token_range&, const token_range&) = default;
};

/// The tokens of an axis (model/network.hpp) of some sequences, `length` of each: those of a row of workers,
/// perhaps not all of the first sequence and of the last, and those of these that a PE has.
struct axis_tokens {
  int length = 1;
  token_range row, own;
  friend bool operator==(const axis_tokens&, const axis_tokens&) = default;
};

class activation_store {
 public:
  /// Makes room for `sequences` sequences, with as many tokens as `lengths` says for each axis. Value v is
  /// (tokens, features) as widths[v] says; a value of ids has width 0 here, because the host keeps its
  /// numbers.
  void resize(const std::vector<value_width>& widths, std::size_t stages, int sequences,
              const std::vector<int>& lengths) {
    std::vector<axis_tokens> axes;
    for (int length : lengths) axes.push_back({length, {0, sequences * length}, {0, sequences * length}});
    resize(widths, stages, sequences, std::move(axes), false);
  }
  /// The same on one column of a row of workers. Of these sequences the row, and this column, have the tokens
  /// that `axes` says. If the values are cut, a stage sees them in the forms given to `enter`.
  void resize(const std::vector<value_width>& widths, std::size_t stages, int sequences,
              std::vector<axis_tokens> axes, bool is_cut) {
    sequences_ = sequences, axes_ = std::move(axes), is_cut_ = is_cut;
    widths_ = widths;
    given_.assign(widths.size(), {}), all_masks_ = {}, free_.clear();
    norms_.resize(stages), saved_.resize(stages);
    for (std::vector<form>& f : forms_) f.resize(is_cut || &f == &forms_[0] ? widths.size() : 0);
    for (std::size_t v = 0; v < widths.size(); ++v) {
      const axis_tokens& of = axis_of(static_cast<int>(v));
      forms_[0][v].shape(of.own.count(), widths[v].all);
      if (!is_cut) continue;
      forms_[1][v].shape(of.row.count(), widths[v].own);
      forms_[2][v].shape(of.row.count(), widths[v].all);
    }
    enter(value_form::tokens, value_form::tokens, -1);
  }
  /// Whether there is room for these sequences already.
  bool fits(int sequences, const std::vector<int>& lengths) const {
    return !widths_.empty() && sequences_ == sequences &&
           std::equal(axes_.begin(), axes_.end(), lengths.begin(), lengths.end(),
                      [](const axis_tokens& of, int length) { return of.length == length; });
  }
  /// Shows the store as the next stage needs it: its inputs in one form, its output in another.
  void enter(value_form reads, value_form writes, int output) {
    reads_ = reads, writes_ = writes;
    has_row_ = is_cut_ && (reads != value_form::tokens || writes != value_form::tokens);
    enter(output);
  }
  /// The same where values are not cut.
  void enter(int output) {
    output_ = output;
    mask = all_masks_.size() == static_cast<std::size_t>(sequences_ * length())
               ? of_tokens(all_masks_, axis())
               : std::span<const f32>{};
  }

  /// The tokens of its output that the stage at work sees: those of this PE, or all of its row of workers;
  /// and the number of the first of them among those of the row's sequences.
  int tokens() const { return seen(axis()).count(); }
  int first_token() const { return seen(axis()).first; }
  /// The same tokens of value v, from the first to the last.
  token_range tokens_of(int v) const { return seen(axis_of(v)); }
  /// Those of them that are this PE's own: all, unless it sees those of its row of workers.
  token_range own_tokens() const {
    return {axis().own.first - first_token(), axis().own.end - first_token()};
  }
  /// The position of token t in its sequence.
  int position(int t) const { return (first_token() + t) % length(); }
  /// The sequences of which the row of workers has tokens, and the tokens of each, those of the stage's
  /// output, of a value, or on an axis.
  int sequences() const { return sequences_; }
  int length() const { return axis().length; }
  int length_of(int v) const { return axis_of(v).length; }
  int length_of_axis(int axis) const { return axes_[static_cast<std::size_t>(axis)].length; }
  i64 token_of_batch(int t) const {
    const i64 here = first_token() + t,
              all = random.lengths.empty() ? length()
                                           : random.lengths[static_cast<std::size_t>(&axis() - axes_.data())];
    return (random.first_sequence + here / length()) * all + here % length();
  }
  /// Whether the store has room for these tokens, as `resize` says.
  bool is_sized_for(int sequences, const std::vector<axis_tokens>& axes) const {
    return !widths_.empty() && sequences_ == sequences && axes_ == axes;
  }
  /// The first head, or other unit, of value v that this PE has, where it is cut by features.
  int first_unit(int v) const { return widths_[static_cast<std::size_t>(v)].first_unit; }
  /// Calls f(its column here, a run of features) for the features of the stage's output that this PE has.
  template <class F>
  void each_run_of_output(F f) const {
    const value_width& of = widths_[static_cast<std::size_t>(output_)];
    if (!is_cut_ || writes_ != value_form::features) return f(0, feature_run{0, of.all});
    int column = 0;
    for (const feature_run& r : of.parts) f(std::exchange(column, column + r.count), r);
  }

  matrix<f32> value(int v) { return value(v, form_of(v)); }
  matrix<f32> value(int v, value_form f) { return all_of(in(f, v).value); }
  /// The gradient of value v, to read and to add to. It is zero when a step begins.
  matrix<f32> gradient(int v) { return gradient(v, form_of(v)); }
  matrix<f32> gradient(int v, value_form f) { return begun(in(f, v).gradient); }
  /// The gradient of value v for a stage that writes all of it. If nothing has been added to it in this step,
  /// `overwrite` becomes true and the numbers are undefined: the stage sets them. Otherwise it adds.
  matrix<f32> gradient(int v, bool& overwrite) { return gradient(v, form_of(v), overwrite); }
  matrix<f32> gradient(int v, value_form f, bool& overwrite) {
    buffer& g = in(f, v).gradient;
    overwrite = !std::exchange(g.begun, true);
    return all_of(g);
  }
  /// The gradient of value v in this form is zero again.
  void clear_gradient(int v, value_form f) {
    buffer& g = in(f, v).gradient;
    g.begun = false;
    g.renew();
  }
  /// Where the row of workers has a later part of a sequence: the features that the stage at work reads of
  /// the tokens of that sequence, from its beginning to the last one here, (tokens, features); and the
  /// gradient of them through the tokens here. `begin_prefix` clears both.
  void begin_prefix(int tokens, int features) {
    prefix_.shape(tokens, features);
    for (buffer* b : {&prefix_.value, &prefix_.gradient}) b->begun = false, b->renew();
    all_of(prefix_.value);
    std::fill(prefix_.value.numbers.begin(), prefix_.value.numbers.end(), 0.f);
  }
  matrix<f32> prefix() { return all_of(prefix_.value); }
  matrix<f32> prefix_gradient() { return begun(prefix_.gradient); }
  template <class T>
  matrix<const T> operand_of_prefix() {
    if constexpr (std::is_same_v<T, f32>) return prefix();
    else return prefix_.value.template operand<T>();
  }
  /// Where rows of workers share images: value v, the first input of the stage at work, with the lines at the
  /// borders of its strips that other rows have, and the gradient of all of them (stage::strips). Without
  /// such lines it is the value. `begin_lines` makes room for so many pixels, and clears the gradient.
  void begin_lines(int pixels, int features) {
    borrower_ = output_;
    lines_.shape(pixels, features);
    for (buffer* b : {&lines_.value, &lines_.gradient}) b->begun = false, b->renew();
  }
  bool borrows_lines() const { return borrower_ >= 0 && borrower_ == output_; }
  matrix<f32> lines(int v) { return borrows_lines() ? all_of(lines_.value) : value(v); }
  matrix<f32> gradient_of_lines(int v) { return borrows_lines() ? begun(lines_.gradient) : gradient(v); }
  template <class T>
  matrix<const T> operand_of_lines(int v) {
    if (!borrows_lines()) return operand<T>(v);
    if constexpr (std::is_same_v<T, f32>) return lines(v);
    else return lines_.value.template operand<T>();
  }
  /// Frees the memory of value v and its gradient for other values; its numbers are gone.
  void release(int v) {
    for (std::vector<form>& f : forms_)
      if (static_cast<std::size_t>(v) < f.size())
        for (buffer* b : {&f[static_cast<std::size_t>(v)].value, &f[static_cast<std::size_t>(v)].gradient}) {
          if (!b->numbers.empty()) free_.push_back(std::exchange(b->numbers, {}));
          b->halves = {}, b->begun = false;
          b->renew();
        }
  }
  /// Whether the value has numbers: a stage has written it, and it has not been released.
  bool holds(int v, value_form f) { return !in(f, v).value.numbers.empty(); }
  /// Begins a step: all gradients and losses are zero.
  void zero_grad() {
    for (std::vector<form>& f : forms_)
      for (form& x : f) x.gradient.begun = false, x.value.renew(), x.gradient.renew();
    loss = 0, losses.clear(), counted.clear(), borrower_ = -1;
  }

  /// Value v, or its gradient, as an operand of products: numbers of the store's format, whose type is T.
  /// They are converted once in a pass, when they are asked for the first time; the value, or the gradient,
  /// is complete then.
  template <class T>
  matrix<const T> operand(int v) {
    if constexpr (std::is_same_v<T, f32>) return value(v);
    else return in(form_of(v), v).value.template operand<T>();
  }
  template <class T>
  matrix<const T> operand_of_gradient(int v) {
    if constexpr (std::is_same_v<T, f32>) return gradient(v);
    else return in(form_of(v), v).gradient.template operand<T>();
  }
  /// Rounds value v, or its gradient, to the store's format before a stage reads it. It is complete then.
  void round_value(int v) { in(form_of(v), v).value.round(format); }
  void round_gradient(int v) {
    if (format == precision::f32) return;
    gradient(v);
    in(form_of(v), v).gradient.round(format);
  }
  /// A stage will write value v.
  void renew(int v) {
    for (const value_form f : {value_form::tokens, value_form::features, value_form::whole})
      if (is_cut_ || f == value_form::tokens) in(f, v).value.renew();
  }

  /// The numbers that norm `stage` keeps of each token: (tokens).
  std::span<norm_state> norms(int stage) {
    return sized(norms_[static_cast<std::size_t>(stage)], static_cast<std::size_t>(tokens()));
  }
  /// The numbers that a stage saves for its backward pass, `per_token` for each token, one token after the
  /// other; `stage` is its number.
  std::span<f32> saved(int stage, int per_token) {
    return sized(saved_[static_cast<std::size_t>(stage)],
                 static_cast<std::size_t>(tokens()) * static_cast<std::size_t>(per_token));
  }

  /// n numbers that a stage keeps for its backward pass, whatever the tokens; `stage` is its number.
  std::span<f32> kept(int stage, std::size_t n) { return sized(saved_[static_cast<std::size_t>(stage)], n); }

  /// The whole numbers of value v, which is of ids: as many for each token as the value's shape says.
  std::span<const i32> ids(int v) const {
    return of_tokens(given_[static_cast<std::size_t>(v)].ids, axis_of(v));
  }
  /// Whether the host has given value v for this pass. Targets are missing when only outputs are wanted.
  bool has(int v) const { return given_[static_cast<std::size_t>(v)].here; }
  /// Gives the store the ids of value v for all its sequences, or none.
  void give_ids(int v, std::span<const i32> ids) {
    given_[static_cast<std::size_t>(v)] = {ids, !ids.empty()};
  }
  /// Gives it the features of value v for all its sequences, (sequences, length, shape), or none. Those of
  /// this PE's tokens are copied, and if the value is cut, those of every form in which it is read.
  void give_features(int v, std::span<const f32> numbers) {
    given_[static_cast<std::size_t>(v)] = {{}, !numbers.empty()};
    const value_width& of = widths_[static_cast<std::size_t>(v)];
    const auto give = [&](value_form f, int first_token) {
      const matrix<f32> here = value(v, f);
      if (numbers.empty()) return;
      const matrix all(numbers.data() + i64{first_token} * of.all, here.rows(), of.all);
      if (f != value_form::features) return copy(here, all);
      int column = 0;
      for (const feature_run& r : of.parts) {
        copy(here.part(0, column, here.rows(), r.count), all.part(0, r.first, all.rows(), r.count));
        column += r.count;
      }
    };
    give(value_form::tokens, axis_of(v).own.first);
    for (const value_form f : of.given_in)
      if (f != value_form::tokens) give(f, axis_of(v).row.first);
  }
  /// The weight of each token of all sequences in the losses; empty: all count 1.
  void give_mask(std::span<const f32> weights) {
    all_masks_ = weights;
    enter(output_);
  }

  /// The bytes of memory that values, gradients, and what stages save have taken so far.
  u64 bytes() const {
    u64 all = 0;
    const auto count = [&](const auto& x) { all += x.capacity() * sizeof(x[0]); };
    for (const std::vector<form>& f : forms_)
      for (const form& x : f) count(x.value.numbers), count(x.gradient.numbers);
    for (const form* x : {&prefix_, &lines_}) count(x->value.numbers), count(x->gradient.numbers);
    std::for_each(free_.begin(), free_.end(), count);
    std::for_each(norms_.begin(), norms_.end(), count);
    std::for_each(saved_.begin(), saved_.end(), count);
    return all;
  }

  std::span<const f32> mask;      ///< (tokens) of the stage at work: their weights in the losses, or empty
  f32 weight = 1;                 ///< 1 / (what counts in the loss over all PEs): gradients are of a mean
  std::vector<f64> loss_factors;  ///< of each loss of the model; empty: all are 1
  dropout_generator random;       ///< the generator of dropout
  /// The format to which values and their gradients are rounded between stages, and of the operands of
  /// products. The store itself keeps f32, and copies of operands in 16 bits.
  precision format = precision::f32;
  /// Whether the step trains, so that dropout drops and norms take the statistics of the batch.
  bool is_training() const { return random.on; }
  /// The sequences of all PEs together that pass at a time, and what part of the batch they are: less than
  /// all where it has several micro-batches.
  i64 sequences_of_pass = 0;
  i64 first_of_pass = 0;  ///< the number of the first sequence here among those
  f64 part_of_batch = 1;
  /// Gradients of the features that the host gives are wanted, too, which training does without.
  bool gradients_of_inputs = false;

  f64 loss = 0;             ///< sum over this PE's tokens, not divided by their number
  std::vector<f64> losses;  ///< the same of each loss of the model, without its factor
  void add_loss(int which, f64 sum) {
    const std::size_t k = static_cast<std::size_t>(which);
    losses.resize(std::max(losses.size(), k + 1));
    losses[k] += sum, loss += loss_factor(which) * sum;
  }
  /// The numbers over all tokens of the batch that losses have asked for (loss_stage::statistics). They are
  /// empty in the pass in which each PE counts its part of them, and where nothing is to be learned.
  std::vector<f64> statistics, counted;
  f64 loss_factor(int which) const {
    return loss_factors.empty() ? 1 : loss_factors[static_cast<std::size_t>(which)];
  }

 private:
  struct buffer {
    std::vector<f32> numbers;
    int rows = 0, columns = 0;
    std::vector<u16> halves;  // a copy as operand, of which `is_converted` says that it is up to date
    bool begun = false;       // a stage has written to it in this step
    bool is_rounded = false, is_converted = false;
    void shape(int r, int c) { rows = r, columns = c; }
    void renew() { is_rounded = is_converted = false; }
    void round(precision to) {
      if (to == precision::f32 || std::exchange(is_rounded, true)) return;
      round_to(to, numbers.data(), i64{rows} * columns);
    }
    /// Of 16 bits.
    template <class T>
    matrix<const T> operand() {
      halves.resize(numbers.size());
      T* const to = reinterpret_cast<T*>(halves.data());
      if (!std::exchange(is_converted, true))
        convert(to, static_cast<const f32*>(numbers.data()), static_cast<i64>(numbers.size()));
      return {to, rows, columns};
    }
  };
  /// The matrix of a buffer, which gets its memory when it is used for the first time: the smallest that is
  /// free and large enough, or new memory.
  matrix<f32> all_of(buffer& b) {
    const std::size_t size = static_cast<std::size_t>(b.rows) * static_cast<std::size_t>(b.columns);
    if (b.numbers.capacity() < size) {
      auto best = free_.end();
      for (auto at = free_.begin(); at != free_.end(); ++at)
        if (at->capacity() >= size && (best == free_.end() || at->capacity() < best->capacity())) best = at;
      if (best != free_.end()) b.numbers.swap(*best), free_.erase(best);
    }
    b.numbers.resize(size);
    return {b.numbers.data(), b.rows, b.columns};
  }
  /// The same of a gradient, which is zero when it is asked for the first time in a step.
  matrix<f32> begun(buffer& gradient) {
    const matrix<f32> all = all_of(gradient);
    if (!std::exchange(gradient.begun, true))
      std::fill(gradient.numbers.begin(), gradient.numbers.end(), 0.f);
    return all;
  }
  /// A value in one form, and its gradient.
  struct form {
    buffer value, gradient;
    void shape(int rows, int columns) { value.shape(rows, columns), gradient.shape(rows, columns); }
  };
  const axis_tokens& axis_of(int v) const {
    return axes_[static_cast<std::size_t>(widths_[static_cast<std::size_t>(v)].axis)];
  }
  /// That of the output of the stage at work.
  const axis_tokens& axis() const { return output_ < 0 ? axes_.front() : axis_of(output_); }
  const token_range& seen(const axis_tokens& a) const { return has_row_ ? a.row : a.own; }
  /// The part of numbers of all tokens of an axis, as many for each, that the stage at work sees.
  template <class T>
  std::span<const T> of_tokens(std::span<const T> all, const axis_tokens& a) const {
    if (all.empty()) return all;
    const std::size_t each = all.size() / static_cast<std::size_t>(sequences_ * a.length);
    return all.subspan(static_cast<std::size_t>(seen(a).first) * each,
                       static_cast<std::size_t>(seen(a).count()) * each);
  }
  form& in(value_form f, int v) {
    return forms_[is_cut_ ? static_cast<std::size_t>(f) : 0][static_cast<std::size_t>(v)];
  }
  value_form form_of(int v) const { return v == output_ ? writes_ : reads_; }
  template <class T>
  static std::span<T> sized(std::vector<T>& x, std::size_t n) {
    x.resize(n);
    return x;
  }

  int sequences_ = 0;
  std::vector<axis_tokens> axes_{1};
  bool is_cut_ = false;
  std::vector<value_width> widths_;
  std::vector<form> forms_[3];  // of every value, by value_form; if the values are not cut, one of each
  form prefix_, lines_;
  int borrower_ = -1;                   // the output of the stage that `lines_` is for; -1: none
  std::vector<std::vector<f32>> free_;  // the memory of released values
  std::vector<std::vector<norm_state>> norms_;
  std::vector<std::vector<f32>> saved_;
  struct given {
    std::span<const i32> ids;  // of all tokens of the row
    bool here = false;
  };
  std::vector<given> given_;
  std::span<const f32> all_masks_;
  value_form reads_ = value_form::tokens, writes_ = value_form::tokens;  // of the stage at work
  int output_ = -1;
  bool has_row_ = false;  // it sees all tokens of the row of workers
};

}  // namespace wsl::ml
