// SPDX-License-Identifier: MIT
// The gradients of a model, or of a single stage, beside finite differences of its forward pass: the test
// that everybody wants who writes a layer or a loss.
//   ml::check_gradients(my_stage(), {{8, 8, 3}}, {8, 8, 4}, parameters).require();
// The differences are those of f64 sums over the outputs of f32 passes. It also finds a stage that treats a
// weight tile of a few rows unlike the whole parameter, that reads weights which it says it does not need,
// that mixes tokens or sequences without saying so, that computes another thing where its sequence is cut and
// it reads a prefix, or that sets the gradient of a value where it should add to it; and a loss that is no
// sum over the tokens, each times its weight in the mask. See docs/guide/layers.md.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <ranges>
#include <span>

#include "serial.hpp"
#include "step_in_parts.hpp"

namespace wsl::ml {

struct gradient_settings {
  /// Of the batch that is made up. Where stages read a prefix, sequences have at least 8 tokens; where some
  /// sequences belong together, there are whole groups of them.
  int sequences = 3, length = 2;
  /// The largest error that is allowed, for the largest gradient of the same input or parameter.
  f64 tolerance = 2e-3;
  f32 step = 0.02f;  ///< how far a number is moved in each direction
  int entries = 0;   ///< the most entries of each input and parameter that are compared; 0: all
  u64 seed = 1;
  /// Whether dropout drops, always the same numbers, and norms take the statistics of the batch, as in
  /// training.
  bool dropout = true;
};

/// The comparison of one number with its difference.
struct gradient_entry {
  std::string name;          ///< of the input or parameter
  std::vector<int> indices;  ///< (sequence, token, axes ...) of an input, (row, column) of a parameter
  f64 backward = 0, difference = 0;
  f64 error = 0;  ///< |backward - difference|, for the largest gradient of that name
};

struct gradient_report {
  gradient_entry worst;
  int compared = 0;
  /// Entries at which the function has no slope, such as a relu near 0, so that nothing was compared.
  int rough = 0;
  std::string mistake;  ///< what else is wrong; empty: nothing
  f64 tolerance = 0;

  /// Whether all is well. A check that could compare less than half of the entries is not.
  bool passed() const {
    return mistake.empty() && worst.error <= tolerance && compared > 0 && rough <= compared;
  }
  std::string text() const {
    if (!mistake.empty()) return mistake;
    if (compared == 0) return "no gradient was compared: the model has neither parameters nor features";
    std::string at;
    for (int i : worst.indices) at += (at.empty() ? "" : ", ") + std::to_string(i);
    return fmt::format(
        "of {} gradients the worst is that of {} ({}): backward says {:.7g}, the difference is {:.7g}, an "
        "error of {:.2g} where {:.2g} is allowed; {} entries have no slope",
        compared, worst.name, at, worst.backward, worst.difference, worst.error, tolerance, rough);
  }
  /// Throws std::logic_error with the text unless it passed.
  const gradient_report& require() const {
    if (!passed()) throw std::logic_error("wsl: " + text());
    return *this;
  }
};

namespace detail {

/// Whether rows of workers may share the sequences of a model because its stages read prefixes.
inline bool reads_prefix(const network& n) {
  return n.axes().size() == 1 &&
         std::any_of(n.stages().begin(), n.stages().end(),
                     [](const auto& s) { return column_cut::reads_prefix(*s); }) &&
         std::none_of(n.stages().begin(), n.stages().end(), [](const auto& s) {
           return s->needs_whole_sequences() && !column_cut::reads_prefix(*s);
         });
}

/// A batch that fits a model, with numbers from a normal distribution.
class made_up_batch {
 public:
  made_up_batch(const network& n, const gradient_settings& how) {
    const int pixels = n.axes().front().length;
    const int together = sequences_together(n);
    batch_.sequences = (how.sequences + together - 1) / together * together;
    batch_.length = pixels ? pixels : how.length;
    if (reads_prefix(n)) batch_.length = std::max(how.length, n.positions() ? std::min(8, n.positions()) : 8);
    u64 seed = how.seed;
    for (const value_info& v : n.values()) {
      if (v.from == origin::computed) continue;
      const std::size_t size =
          static_cast<std::size_t>(i64{batch_.sequences} * length_of(n, v.axis) * v.width());
      std::vector<f32>& x = numbers_.emplace_back(size);
      initialize(x, initial::normal(1), ++seed);
      if (!v.is_ids()) {
        batch_.named.emplace_back(v.name, std::span<const f32>(x));
        continue;
      }
      std::vector<i32>& ids = ids_.emplace_back();
      for (f32 f : x) ids.push_back(static_cast<i32>(std::abs(f) * 1000) % v.ids_below);
      if (v.counts_up) count_up(ids, how.sequences);
      batch_.named.emplace_back(v.name, std::span<const i32>(ids));
    }
  }
  const batch& all() const { return batch_; }

 private:
  /// Positions that begin anew here and there.
  static void count_up(std::vector<i32>& ids, int sequences) {
    const std::size_t length = ids.size() / static_cast<std::size_t>(sequences);
    for (std::size_t i = 0; i < ids.size(); ++i)
      ids[i] = i % length == 0 || ids[i] % 3 == 0 ? 0 : ids[i - 1] + 1;
  }
  /// Sequences are longer on another axis, so that one is not taken for the other.
  int length_of(const network& n, int axis) const {
    const token_axis& a = n.axes()[static_cast<std::size_t>(axis)];
    const int longer = batch_.length + axis;
    return a.length ? a.length : axis && a.positions ? std::min(longer, a.positions) : longer;
  }

  std::vector<std::vector<f32>> numbers_;
  std::vector<std::vector<i32>> ids_;
  batch batch_;
};

/// Parameters that differ from each other where the initial values are equal, and are large enough to matter.
inline weights varied_weights(const network& n, u64 seed) {
  weights w(n);
  for (std::size_t k = 0; k < w.size(); ++k) {
    const parameter& p = n.parameters()[k];
    const f32 base = p.start.how == initial::kind::constant ? p.start.size : 0;
    initialize(w[k], initial::normal(p.rows == 1 ? 0.3f : 1 / std::sqrt(static_cast<f32>(p.columns))),
               seed_of(seed, k));
    for (f32& x : w[k]) x = p.follows > 0 && base > 0 ? base + std::abs(x) : x + base;  // a variance
  }
  return w;
}

class gradient_checker {
 public:
  gradient_checker(const network& n, const weights& w, const batch& b, const gradient_settings& how)
      : n_(n), w_(w), batch_(b), how_(how) {
    counts_ = n.losses().empty() ? 1 : check(n, batch_);
    if (n.losses().empty()) check_input(n, batch_);
    store_ = store_of(n, batch_);
    prepare(store_, 0);
    batch_.statistics = serial_statistics(n, w_, store_);
    store_.statistics = batch_.statistics;
  }

  gradient_report result() {
    report_.tolerance = how_.tolerance;
    backward();
    same_in_parts();
    same_backward_in_large_tiles();
    if (reads_prefix(n_)) same_where_cut();
    for (const loss_stage* x : n_.losses()) is_sum(*x);
    for (std::size_t k = 0; k < arrays_.size(); ++k)
      if (!has_no_gradient(arrays_[k])) differences(arrays_[k]);
    f64 largest = 0;
    for (const array& a : arrays_) largest = std::max(largest, a.largest());
    for (const array& a : arrays_)
      judge(a, std::max({a.largest(), 1e-2 * largest, rounding() / how_.tolerance}));
    return report_;
  }

 private:
  /// An input or a parameter: its numbers, and what backward says of them.
  struct array {
    std::string name;
    std::vector<int> axes;
    int parameter;  // its index; -1 for an input
    f32* numbers;
    std::vector<f32> gradient;
    std::vector<std::size_t> compared;
    std::vector<f64> difference;

    f64 largest() const {
      f64 x = 1e-30;
      for (f64 d : difference) x = std::max(x, std::abs(d));
      return x;
    }
  };

  void prepare(activation_store& store, i64 first_sequence) const {
    store.gradients_of_inputs = true;
    store.random = {how_.dropout, mixed(0, how_.seed), first_sequence};
  }
  /// The function to differentiate: the mean loss, or without a loss a sum over the last value with weights.
  f64 objective() { return objective(store_, 0, 0); }
  f64 objective(activation_store& store, i64 first_token, int most_rows) {
    const f64 loss = serial_forward(n_, w_, store, most_rows);
    if (!n_.losses().empty()) return loss / counts_;
    return weigh(store, first_token);
  }
  /// The sum of the last value, and if it is asked for the gradient of that.
  f64 weigh(activation_store& store, i64 first_token, bool sets_gradient = false) const {
    const matrix<f32> y = store.value(last());
    f64 sum = 0;
    for (int t = 0; t < y.rows(); ++t)
      for (int i = 0; i < y.columns(); ++i) {
        const f32 weight = weight_of(first_token + t, i);
        sum += static_cast<f64>(y(t, i)) * static_cast<f64>(weight);
        if (sets_gradient) store.gradient(last())(t, i) = weight;
      }
    return sum;
  }
  int last() const { return n_.stages().back()->output; }
  static f32 weight_of(i64 token, int i) {
    return static_cast<f32>(mixed(mixed(7, static_cast<u64>(token)), static_cast<u64>(i)) >> 8) * 0x1p-23f -
           1;
  }

  /// After a forward pass: sets the gradient of the objective.
  void start_backward() {
    if (n_.losses().empty()) weigh(store_, 0, true);
  }
  /// Runs both passes. The gradients of inputs begin with `before`: what is there is kept.
  void backward() {
    constexpr f32 before = 1;
    const int rows = 1;  // the smallest tiles
    value_ = objective(store_, 0, rows);
    start_backward();
    for (int v = 0; v < static_cast<int>(n_.values().size()); ++v)
      if (n_.is_input(v)) {
        const matrix<f32> d = store_.gradient(v);  // losses may have begun it
        for (f32* x = d.first(); x != d.first() + i64{d.rows()} * d.columns(); ++x) *x += before;
      }
    weights gradients(n_);
    serial_backward(n_, w_, gradients, store_, rows);
    for (int v = 0; v < static_cast<int>(n_.values().size()); ++v)
      if (n_.is_input(v)) {
        const matrix<f32> d = store_.gradient(v);
        array& a = arrays_.emplace_back();
        a.name = n_.info(v).name, a.parameter = -1, a.axes = {batch_.sequences, store_.length_of(v)};
        for (int k = 0; k < n_.shape_of(v).axes(); ++k) a.axes.push_back(n_.shape_of(v)[k]);
        a.numbers = store_.value(v).first();
        a.gradient.assign(d.first(), d.first() + i64{d.rows()} * d.columns());
        for (f32& x : a.gradient) x -= before;
      }
    for (std::size_t k = 0; k < w_.size(); ++k) {
      array& a = arrays_.emplace_back();
      a.name = n_.parameters()[k].name, a.parameter = static_cast<int>(k),
      a.axes = {n_.parameters()[k].rows, n_.parameters()[k].columns};
      a.numbers = w_[k].data(), a.gradient = gradients[k];
    }
  }

  /// How far a difference may be from the slope by rounding alone: a function of f32 numbers is a few units
  /// of its last place off, of which a difference divides as many by the step. It is all that is left where
  /// the gradient is 0, as that of a shift which all scores of a softmax have in common.
  f64 rounding() {
    return 8 * static_cast<f64>(std::numeric_limits<f32>::epsilon()) * std::abs(objective()) /
           static_cast<f64>(how_.step);
  }
  /// The size that differences of backward gradients of `own` are measured by: its largest, or where that is
  /// rounding of a larger one of the same pass, what can be told of that.
  static f32 scale_of(std::span<const f32> own, f32 largest) {
    f32 most = std::max(1e-6f, 1e-4f * largest);
    for (f32 x : own) most = std::max(most, std::abs(x));
    return most;
  }
  template <class Arrays>
  static f32 largest_of(const Arrays& arrays) {
    f32 most = 0;
    for (const auto& each : arrays)
      for (f32 x : each) most = std::max(most, std::abs(x));
    return most;
  }

  /// Whether an array is no parameter of the function, but follows a statistic, or one that is frozen.
  bool has_no_gradient(const array& a) const {
    if (a.parameter < 0) return false;
    const parameter& p = n_.parameters()[static_cast<std::size_t>(a.parameter)];
    return p.follows > 0 || p.frozen;
  }

  /// Keeps the first mistake that is found.
  template <class... X>
  void mistake(fmt::format_string<X...> text, X&&... x) {
    if (report_.mistake.empty()) report_.mistake = fmt::format(text, std::forward<X>(x)...);
  }

  /// The result is the same with other weight tiles, and the sum of those of single sequences, or of single
  /// tokens.
  void same_in_parts() {
    const f64 whole = objective(), scale = std::max({std::abs(whole), std::abs(value_), 1.});
    if (!std::isfinite(whole)) return mistake("forward gives {}: it must be finite for any numbers", whole);
    const auto differs = [&](f64 x) { return !(std::abs(whole - x) <= 1e-4 * scale); };
    if (differs(value_))
      mistake(
          "forward gives {:.7g} with whole parameters and {:.7g} with weight tiles of one row: a stage must "
          "treat a tile as rows tile.row and following of its parameter",
          whole, value_);
    const bool has_loss = !n_.losses().empty(),
               mixes = n_.axes().size() > 1 ||
                       std::any_of(n_.stages().begin(), n_.stages().end(),
                                   [](const auto& s) { return s->needs_whole_sequences(); });
    const bool mixes_sequences = std::any_of(n_.stages().begin(), n_.stages().end(), [&](const auto& s) {
      return s->needs_sums() && (how_.dropout || s->sums_in_evaluation());
    });
    if (mixes_sequences) return;
    f64 by_sequence = 0, by_token = 0;
    for (int s = 0; s < batch_.sequences; ++s) {
      by_sequence += objective_of(s, 0, batch_.length);
      for (int t = 0; t < batch_.length && !mixes; ++t) by_token += objective_of(s, t, t + 1);
    }
    if (differs(by_sequence))
      mistake(
          "forward gives {:.7g} for all sequences together and {:.7g} one by one: a stage must treat each "
          "sequence as if it were alone{}",
          whole, by_sequence,
          has_loss ? ", and a loss adds up its tokens, without dividing by how many" : "");
    if (!mixes && differs(by_token))
      mistake(
          "forward gives {:.7g} for whole sequences and {:.7g} token by token: a stage that mixes the tokens "
          "of a sequence says so, by needs_whole_sequences",
          whole, by_token);
  }
  /// The part of the objective of tokens `begin` up to before `end` of a sequence.
  f64 objective_of(int sequence, int begin, int end) {
    activation_store alone = part_of(sequence, begin, end);
    const i64 first = i64{sequence} * alone.length_of_axis(n_.info(last()).axis);
    return objective(alone, first + begin, 0);
  }
  activation_store part_of(int sequence, int begin, int end) const {
    std::vector<axis_tokens> axes;
    for (int length : lengths_of(n_, batch_)) axes.push_back({length, {0, length}, {0, length}});
    axes.front().own = {begin, end};
    activation_store alone;
    alone.resize(widths_of(n_), n_.stages().size(), 1, std::move(axes), false);
    give(alone, n_, sequences_of(batch_, sequence, 1));
    prepare(alone, sequence);
    return alone;
  }

  /// What the first sequence gives in parts: the objective, and the gradients of parameters and inputs.
  struct of_parts {
    f64 objective = 0;
    std::vector<std::vector<f32>> gradients;
  };
  of_parts in_parts(const std::vector<int>& begins) {
    std::vector<activation_store> stores;
    for (std::size_t k = 0; k < begins.size(); ++k)
      stores.push_back(part_of(0, begins[k], k + 1 < begins.size() ? begins[k + 1] : batch_.length));
    for (activation_store& store : stores) store.statistics = batch_.statistics;
    step_in_parts parts(n_, w_, begins, batch_.length, std::move(stores));
    of_parts result{parts.forward() / counts_, {}};
    for (std::size_t k = 0; k < parts.count() && n_.losses().empty(); ++k)
      result.objective += weigh(parts.store(k), parts.tokens(k).first, true);
    weights gradients(n_);
    parts.backward(gradients);
    for (std::size_t k = 0; k < gradients.size(); ++k) result.gradients.push_back(gradients[k]);
    for (int v = 0; v < static_cast<int>(n_.values().size()); ++v)
      if (n_.is_input(v)) {
        std::vector<f32>& all = result.gradients.emplace_back();
        for (std::size_t k = 0; k < parts.count(); ++k) {
          const matrix<f32> d = parts.store(k).gradient(v);
          all.insert(all.end(), d.first(), d.first() + i64{d.rows()} * d.columns());
        }
      }
    return result;
  }
  /// The first sequence gives the same in two parts, wherever it is cut, and in parts of one token.
  void same_where_cut() {
    const of_parts whole = in_parts({0});
    std::vector<int> begins(static_cast<std::size_t>(batch_.length));
    std::iota(begins.begin(), begins.end(), 0);
    for (int cut = 1; cut < batch_.length; ++cut)
      compare_parts(whole, in_parts({0, cut}), fmt::format("in two parts, from token {} on", cut));
    compare_parts(whole, in_parts(begins), "in parts of one token");
  }
  void compare_parts(const of_parts& whole, const of_parts& cut, const std::string& how) {
    const f64 scale = std::max(1., std::abs(whole.objective));
    if (!(std::abs(whole.objective - cut.objective) <= 1e-4 * scale))
      return mistake(
          "forward gives {:.7g} for a sequence as a whole and {:.7g} {}: a stage finds the earlier tokens in "
          "activation_store::prefix, as many as the window of reads_of_prefix says",
          whole.objective, cut.objective, how);
    const f32 largest = largest_of(whole.gradients);
    for (std::size_t k = 0; k < whole.gradients.size(); ++k) {
      const f32 most = scale_of(whole.gradients[k], largest);
      for (std::size_t i = 0; i < whole.gradients[k].size(); ++i)
        if (const f32 a = whole.gradients[k][i], b = cut.gradients[k][i]; !(std::abs(a - b) <= 2e-3f * most))
          return mistake(
              "backward gives {:.7g} for a gradient of {} for a sequence as a whole and {:.7g} {}: a stage "
              "adds the gradients of earlier tokens to activation_store::prefix_gradient",
              a, name_of_gradient(k), b, how);
    }
  }
  std::string name_of_gradient(std::size_t k) const {
    if (k < w_.size()) return n_.parameters()[k].name;
    k -= w_.size();
    for (int v = 0; v < static_cast<int>(n_.values().size()); ++v)
      if (n_.is_input(v) && k-- == 0) return n_.info(v).name;
    return "";
  }

  /// The gradients of parameters are the same in tiles of one row, of which they have been made, and in
  /// larger ones; and where the gradients of inputs are not wanted, as in training.
  void same_backward_in_large_tiles() {
    objective();
    start_backward();
    weights gradients(n_);
    store_.gradients_of_inputs = false;
    serial_backward(n_, w_, gradients, store_);
    store_.gradients_of_inputs = true;
    const auto gives_nan = [&](const std::string& what) {
      mistake(
          "backward gives NaN for the gradient of {}: it leaves a number of a tile's gradient out, adds to "
          "it instead of setting it, or reads weights that needs_weight_in_backward says it does not need",
          what);
    };
    for (int v = 0; v < static_cast<int>(n_.values().size()); ++v)
      if (n_.is_input(v)) {
        const matrix<f32> d = store_.gradient(v);
        if (std::any_of(d.first(), d.first() + i64{d.rows()} * d.columns(),
                        [](f32 x) { return std::isnan(x); }))
          return gives_nan(n_.info(v).name);
      }
    const f32 largest = largest_of(std::views::transform(arrays_, &array::gradient));
    for (const array& a : arrays_) {
      if (a.parameter < 0 || has_no_gradient(a)) continue;
      const std::vector<f32>& large = gradients[static_cast<std::size_t>(a.parameter)];
      const f32 most = scale_of(a.gradient, largest);
      for (std::size_t i = 0; i < large.size(); ++i) {
        if (std::isnan(large[i]) || std::isnan(a.gradient[i])) return gives_nan(a.name);
        if (!(std::abs(large[i] - a.gradient[i]) <= 1e-3f * most))
          return mistake(
              "backward gives {:.7g} for a gradient of {} in a large weight tile and {:.7g} in one of one "
              "row: a stage must treat a tile as rows tile.row and following of its parameter",
              large[i], a.name, a.gradient[i]);
      }
    }
  }

  /// A loss adds to gradients that others have begun, and weighs each token by the mask.
  void is_sum(const loss_stage& x) {
    objective();
    for (std::size_t k = 0; k < x.inputs.size(); ++k) {
      if (x.given[k]) continue;
      const matrix<f32> d = store_.gradient(x.inputs[k]);
      const std::span<f32> all(d.first(), static_cast<std::size_t>(i64{d.rows()} * d.columns()));
      const auto after = [&](f32 before) {
        std::fill(all.begin(), all.end(), before);
        begin_forward(x, store_);
        return std::vector<f32>(all.begin(), all.end());
      };
      const std::vector<f32> from_0 = after(0), from_1 = after(1);
      for (std::size_t i = 0; i < all.size(); ++i)
        if (!(std::abs(from_1[i] - from_0[i] - 1) <= 1e-4f * std::max(1.f, std::abs(from_0[i]))))
          return mistake("the loss {} sets the gradient of {}: it must add to it, as other stages do", x.name,
                         n_.info(x.inputs[k]).name);
    }
    if (x.mask >= 0 || !x.is_masked()) return;
    const auto sum_with_mask = [&](f32 weight) {
      const std::vector<f32> mask(tokens_of_value(n_, batch_, x.inputs[0]), weight);
      batch b = batch_;
      b.mask = mask;
      activation_store s = store_of(n_, b);
      prepare(s, 0);
      serial_forward(n_, w_, s);
      return sum_of(s.losses, x);
    };
    const f64 once = sum_with_mask(1), twice = sum_with_mask(2);
    if (!(std::abs(twice - 2 * once) <= 1e-4 * std::max(1., std::abs(once))))
      mistake(
          "the loss {} is {:.7g} where the mask is 1 and {:.7g} where it is 2: it must multiply what a token "
          "adds with loss_stage::mask_of",
          x.name, once, twice);
  }
  static f64 sum_of(const std::vector<f64>& losses, const loss_stage& x) {
    const std::size_t k = static_cast<std::size_t>(x.which);
    return k < losses.size() ? losses[k] : 0;
  }

  void differences(array& a) {
    const std::size_t size = a.gradient.size(),
                      most = how_.entries > 0 ? static_cast<std::size_t>(how_.entries) : size,
                      every = std::max<std::size_t>(1, (size + most - 1) / std::max<std::size_t>(1, most));
    const f64 here = objective();
    for (std::size_t i = 0; i < size; i += every) {
      f32& x = a.numbers[i];
      const f32 at = x;
      // The distance between the numbers as they are rounded.
      const auto moved = [&](f32 by) {
        x = at + by;
        const f64 distance = static_cast<f64>(x) - static_cast<f64>(at), value = objective();
        x = at;
        return std::pair{distance, value};
      };
      const auto [a1, above] = moved(how_.step);
      const auto [b1, below] = moved(-how_.step);
      const auto [a2, above_half] = moved(how_.step / 2);
      const auto [b2, below_half] = moved(-how_.step / 2);
      // Richardson's extrapolation of two central differences. Where the function has a corner, the
      // differences to the left and right do not come closer to each other.
      const f64 wide = (above - below) / (a1 - b1), narrow = (above_half - below_half) / (a2 - b2);
      const f64 bend = std::abs((above - here) / a1 - (below - here) / b1),
                bend_half = std::abs((above_half - here) / a2 - (below_half - here) / b2);
      a.compared.push_back(i), a.difference.push_back((4 * narrow - wide) / 3);
      rough_.push_back(std::max(bend_half > 0.8 * bend ? bend_half : 0, 4 * std::abs(wide - narrow)));
    }
  }
  void judge(const array& a, f64 scale) {
    for (std::size_t k = 0; k < a.compared.size(); ++k) {
      const f64 rough = rough_[judged_++];
      const f64 by = static_cast<f64>(a.gradient[a.compared[k]]), d = std::abs(by - a.difference[k]);
      if (d > how_.tolerance * scale && d < rough) {
        ++report_.rough;
        continue;
      }
      ++report_.compared;
      // A NaN is the worst of all, once.
      if (!(d / scale <= report_.worst.error) && !std::isnan(report_.worst.error))
        report_.worst = {a.name, indices(a.axes, a.compared[k]), by, a.difference[k], d / scale};
    }
  }
  static std::vector<int> indices(const std::vector<int>& axes, std::size_t i) {
    std::vector<int> at(axes.size());
    for (std::size_t k = axes.size(); k-- > 0; i /= static_cast<std::size_t>(axes[k]))
      at[k] = static_cast<int>(i % static_cast<std::size_t>(axes[k]));
    return at;
  }

  const network& n_;
  weights w_;
  batch batch_;
  gradient_settings how_;
  activation_store store_;
  f64 counts_ = 1, value_ = 0;
  std::vector<array> arrays_;
  std::vector<f64> rough_;  // of each difference: how far from the slope it may be
  std::size_t judged_ = 0;
  gradient_report report_;
};

}  // namespace detail

/// Compares the gradients of all features and parameters of a model with differences of its loss or, if it
/// has none, of a sum over its last value. The parameters and the batch are made up.
inline gradient_report check_gradients(const network& n, const gradient_settings& how = {}) {
  const detail::made_up_batch b(n, how);
  return detail::gradient_checker(n, detail::varied_weights(n, how.seed), b.all(), how).result();
}
/// The same with numbers of one's own. Throws std::invalid_argument for a batch that does not fit the model.
inline gradient_report check_gradients(const network& n, const weights& w, const batch& b,
                                       const gradient_settings& how = {}) {
  return detail::gradient_checker(n, w, b, how).result();
}
/// The same for a single stage, which reads features of the given shapes.
template <std::derived_from<stage> Stage>
gradient_report check_gradients(Stage s, const std::vector<shape>& inputs, const shape& output,
                                std::vector<parameter> parameters = {}, const gradient_settings& how = {}) {
  network n;
  std::vector<stage_input> values;
  for (const shape& each : inputs) values.push_back(n.input(fmt::format("input {}", values.size()), each));
  n.add("stage", std::move(s), values, output, std::move(parameters));
  return check_gradients(n, how);
}

}  // namespace wsl::ml
