// SPDX-License-Identifier: MIT
// A model runs as a list of stages. A stage reads values (activations) that stay on the PE of their tokens,
// and parameters that come by: some rows of one at a time, a slab, which is gone when the stage has used it.
// That is weight streaming: no PE ever holds a layer's weights. On the way back the slabs come by again and
// leave their gradients. See docs/guide/ml.md.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../linalg/matrix.hpp"
#include "../op/dropout.hpp"
#include "../op/norm.hpp"

namespace wsl::ml {

/// How a parameter starts.
struct initial {
  enum class kind : u8 { constant, normal, uniform };
  kind how = kind::constant;
  f32 size = 0;  ///< the constant, the standard deviation, or the bound

  static constexpr initial constant(f32 v) { return {kind::constant, v}; }
  static constexpr initial normal(f32 deviation) { return {kind::normal, deviation}; }
  static constexpr initial uniform(f32 bound) { return {kind::uniform, bound}; }
};

/// A matrix that training changes; a vector is one row.
struct parameter {
  std::string name;
  int rows = 1, columns = 1;
  initial start;
  f32 rate_factor = 1;  ///< of its learning rate
  i64 size() const { return i64{rows} * columns; }
};

/// Some rows of a parameter, on a PE for as long as a stage uses them.
struct weight_tile {
  int which;  ///< of the stage's parameters
  int row;    ///< the first
  matrix<f32> rows;
  std::span<const i32> gathered_rows = {};  ///< if not empty, which row of the parameter each is; in order
};

/// Which rows of a parameter a stage reads: all, those with the numbers of the tokens, or those of the
/// positions in a sequence.
enum class rows_needed : u8 { all, of_ids, of_positions };

/// Fills a matrix with zeros.
inline void clear(const matrix<f32>& x) {
  for (int i = 0; i < x.rows(); ++i) std::fill_n(x.row(i), x.columns(), 0.f);
}

/// What a PE keeps of a step: the values of its tokens and their gradients.
class place {
 public:
  /// Room for `sequences` sequences of `length` tokens each, and for values as wide as `widths` says.
  void resize(const std::vector<int>& widths, std::size_t stages, int sequences, int length) {
    sequences_ = sequences, length_ = length;
    values_.resize(widths.size()), gradients_.resize(widths.size());
    norms_.resize(stages), totals_.resize(stages);
    for (std::size_t v = 0; v < widths.size(); ++v)
      values_[v].shape(tokens(), widths[v]), gradients_[v].shape(tokens(), widths[v]);
  }
  int tokens() const { return sequences_ * length_; }
  int sequences() const { return sequences_; }
  int length() const { return length_; }

  matrix<f32> value(int v) { return values_[static_cast<std::size_t>(v)].all(); }
  /// The gradient of a value, to read and to add to; zero at first.
  matrix<f32> gradient(int v) {
    buffer& g = gradients_[static_cast<std::size_t>(v)];
    if (!std::exchange(g.begun, true)) std::fill(g.numbers.begin(), g.numbers.end(), 0.f);
    return g.all();
  }
  /// The same for who sets all of it if nobody has added to it; `sets` says whether.
  matrix<f32> gradient(int v, bool& sets) {
    buffer& g = gradients_[static_cast<std::size_t>(v)];
    sets = !std::exchange(g.begun, true);
    return g.all();
  }
  void zero_grad() {
    for (buffer& g : gradients_) g.begun = false;
  }

  /// What norms and attention keep of each token, by stage.
  std::span<norm_state> norms(int stage) {
    return sized(norms_[static_cast<std::size_t>(stage)], static_cast<std::size_t>(tokens()));
  }
  std::span<f32> totals(int stage, int heads) {
    return sized(totals_[static_cast<std::size_t>(stage)], static_cast<std::size_t>(tokens() * heads));
  }

  std::span<const i32> ids;      ///< the input: a token's number in the vocabulary, or empty
  std::span<const i32> targets;  ///< the right answer for each token, or for each row
  std::span<const f32> mask;     ///< how much each counts for the loss; empty: all the same
  f32 weight = 1;                ///< of one token in the loss: 1 / (tokens that count, on all PEs)
  dropout_generator random;      ///< what is dropped
  f64 loss = 0;                  ///< the sum over this PE's tokens, not weighed

 private:
  struct buffer {
    std::vector<f32> numbers;
    int rows = 0, columns = 0;
    bool begun = false;
    void shape(int r, int c) {
      rows = r, columns = c, numbers.resize(static_cast<std::size_t>(r) * static_cast<std::size_t>(c));
    }
    matrix<f32> all() { return {numbers.data(), rows, columns}; }
  };
  template <class T>
  static std::span<T> sized(std::vector<T>& x, std::size_t n) {
    x.resize(n);
    return x;
  }

  int sequences_ = 0, length_ = 0;
  std::vector<buffer> values_, gradients_;
  std::vector<std::vector<norm_state>> norms_;
  std::vector<std::vector<f32>> totals_;
};

class stage {
 public:
  virtual ~stage() = default;

  /// What can be done before any slab has come; for a stage without parameters all of it.
  virtual void forward(place&) const {}
  /// With a slab; those of the parameters come in order.
  virtual void forward(place&, const weight_tile&) const {}

  /// The same on the way back: adds to the gradients of the values that the stage reads, and sets that of the
  /// slab.
  virtual void backward(place&) const {}
  virtual void backward(place&, const weight_tile& /*weights*/, const matrix<f32>& /*gradient*/) const {}

  /// Whether the way back looks at the numbers of a parameter; if not, they need not come by again.
  virtual bool needs_weight_in_backward(int /*which*/) const { return true; }

  virtual rows_needed needs(int /*which*/) const { return rows_needed::all; }

  /// About how many operations a token needs, forward and back: of the stage's own work (`which` -1, with as
  /// many columns as its output) or of a slab, in sequences of a length.
  virtual f64 operations(int /*which*/, int /*rows*/, int columns, int /*length*/) const {
    return 10. * columns;
  }

  std::string name;
  int number = 0;               ///< its place in the list
  std::vector<int> inputs;      ///< values that it reads
  int output = -1;              ///< the value that it makes, or adds to
  std::vector<int> parameters;  ///< numbers in the model's list
};

}  // namespace wsl::ml
