// SPDX-License-Identifier: MIT
// A stage is a layer as the trainers see it. A model runs as a list of stages. A stage reads values
// (activations), which stay on the PE of their tokens, and parameters, of which one weight tile at a time is
// on the PE: in weight streaming a tile is gone when the stage has used it, and no PE ever holds a layer's
// weights. In the backward pass the tiles come again and leave their gradients. Layers of one's own are
// stages as well: see docs/guide/layers.md and examples/95_own_layers.cpp.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../linalg/sparse_rows.hpp"
#include "activation_store.hpp"
#include "image_strip.hpp"
#include "shape.hpp"

namespace wsl::ml {

/// The initial values of a parameter.
struct initial {
  enum class kind : u8 { constant, normal, uniform, truncated_normal };
  kind how = kind::constant;
  f32 size = 0;             ///< the constant, the standard deviation, or the bound of the absolute value
  f32 least = 0, most = 0;  ///< the bounds of truncated_normal
  f32 of_first = 1;         ///< a factor of the numbers of the first rows
  int first_rows = 0;

  static constexpr initial constant(f32 v) { return {kind::constant, v}; }
  static constexpr initial normal(f32 deviation) { return {kind::normal, deviation}; }
  static constexpr initial uniform(f32 bound) { return {kind::uniform, bound}; }
  /// A normal distribution around 0 of which numbers below `least` and above `most` are drawn again. The
  /// deviation is that of the whole distribution, as in torch.nn.init.trunc_normal_. Throws
  /// std::invalid_argument unless 0 lies between the bounds and the deviation is positive.
  static constexpr initial truncated_normal(f32 deviation, f32 least, f32 most) {
    if (!(deviation > 0) || !(least < 0) || !(most > 0))
      throw std::invalid_argument(
          "wsl: a truncated normal distribution has a positive deviation, a bound below 0 and one above it");
    return {kind::truncated_normal, deviation, least, most};
  }
  /// The distribution of such numbers times a factor above 0.
  constexpr initial times(f32 factor) const {
    return {how, size * factor, least * factor, most * factor, of_first, first_rows};
  }
  /// The same, with another factor for the first rows of a matrix, such as those of queries.
  constexpr initial with_first(int rows, f32 factor) const { return {how, size, least, most, factor, rows}; }
  friend constexpr bool operator==(const initial&, const initial&) = default;
};

/// A matrix that training changes; a vector is a matrix of one row.
struct parameter {
  std::string name;
  int rows = 1, columns = 1;
  initial start;
  f32 rate_factor = 1;     ///< multiplies the learning rate
  bool undivided = false;  ///< it is always one tile, for stages that need all of it at a time; a small one
  /// Positive: no optimizer changes the parameter, but it follows what its stage gives as its gradient, such
  /// as the statistic of a batch: after a step it is (1 - follows) parameter + follows gradient.
  f32 follows = 0;
  bool frozen = false;  ///< training leaves it as it is, and nothing is kept for it (network::freeze)
  i64 size() const { return i64{rows} * columns; }

  /// A parameter of any axes: the first becomes the rows, of which a weight tile has some, and the others one
  /// after the other the columns.
  static parameter of(std::string name, const shape& axes, initial start) {
    const int rows = axes[0];
    return {std::move(name), rows, rows > 0 ? static_cast<int>(axes.size() / rows) : 0, start};
  }
};

/// Some rows of a parameter, on a PE for as long as a stage uses them.
struct weight_tile {
  int which;  ///< index among the stage's parameters
  int row;    ///< number of the first row
  matrix<f32> rows;
  /// If the rows do not lie together in the parameter, the number of each, in ascending order.
  std::span<const i32> gathered_rows = {};
  const void* operands = nullptr;  ///< the same numbers in the store's format, one after the other
  /// If only some places of the tile are there (stage::takes_sparse): its nonzeros, in f32. `rows` has no
  /// numbers then, and `operands` is null.
  const sparse_rows* nonzeros = nullptr;
  /// Whether the gradient of such a tile is that of all its numbers. If not, it is (1, nonzeros), those of
  /// the nonzeros in their order.
  bool dense_gradient = false;

  /// The rows in the store's format, whose numbers are T, for a stage that reads them so
  /// (stage::reads_operands).
  template <class T>
  matrix<const T> as() const {
    if constexpr (std::is_same_v<T, f32>) return rows;
    else return {static_cast<const T*>(operands), rows.rows(), rows.columns()};
  }
};

/// The rows of a parameter that a stage reads for a batch: all, those numbered by the ids of the tokens, or
/// those numbered by the positions in a sequence.
enum class row_selection : u8 { all, of_ids, of_positions };

/// How a stage reads its inputs and writes its output where values are cut over the columns of a wafer
/// (model/column_cut.hpp). A column has whole rows of features of some tokens, or some features of all tokens
/// of its row of workers.
enum class stage_cut : u8 {
  by_tokens,        ///< reads and writes whole rows of features, of any tokens
  by_element,       ///< number i of the output depends on number i of the inputs: takes them as they are cut
  by_feature,       ///< feature i of the output depends on feature i of the inputs, and on its own parameters
  by_output,        ///< reads whole rows of all tokens; a part of its parameters gives a part of the features
  by_head,          ///< reads and writes some heads of all tokens
  by_rows,          ///< a loss: each column reads whole rows of all tokens, and adds a part of the loss
  by_rows_of_table  ///< some rows of its tables give a part of the sum that is the output of all tokens
};

/// Features that are cut between units of `unit` features, such as heads.
struct feature_group {
  int first = 0, units = 0, unit = 1;
  friend bool operator==(const feature_group&, const feature_group&) = default;
};

/// The features that a stage which is cut by heads reads of the tokens before its own, where it is given a
/// later part of a sequence: of its first input the groups (stage::groups_of_input) from `first_group` on.
struct prefix_features {
  static constexpr int none = -1, all_before = 0;

  int first_group = none;
  int window = all_before;  ///< otherwise a token sees itself and the window - 1 tokens before it

  bool any() const { return first_group >= 0; }
};

/// A stage may assume that it is given complete rows of features of some tokens: those of one PE, which may
/// be all tokens of a batch or a few of them, and whole sequences if it says that it needs them, or parts of
/// images if it also says which lines it reads (`reads_of_line`). The result of a token must not depend on
/// which other tokens are there, except on those of the same sequence if it needs whole sequences. The
/// forward functions may run twice for a batch, and give the same numbers each time.
///   Its weight tiles have some rows of a parameter with all their columns; the tiles of a parameter come in
/// any division, and a stage treats each tile by itself.
///   The functions are const and run on many PEs at the same time: what a stage keeps from the forward pass
/// for the backward pass is in the activation store (`saved`, or simply the values).
class stage {
 public:
  virtual ~stage() = default;

  virtual stage_cut how_cut() const { return stage_cut::by_tokens; }
  /// The units between which input k and the output of a stage that is cut by heads may be cut. A column gets
  /// as many units of each group. A stage that is cut by features has those of its output for its input.
  virtual std::vector<feature_group> groups_of_input(int /*k*/) const { return {}; }
  virtual std::vector<feature_group> groups_of_output() const { return {}; }

  /// The work before the first weight tile; a stage without parameters does everything here.
  virtual void forward(activation_store&) const {}
  /// The work with one weight tile. The parameters come in order.
  virtual void forward(activation_store&, const weight_tile&) const {}

  /// The same in the backward pass: adds to the gradients of the values that the stage reads, and sets the
  /// gradient of the tile, which has the tile's shape, or that of its nonzeros, and any numbers before.
  virtual void backward(activation_store&) const {}
  virtual void backward(activation_store&, const weight_tile& /*weights*/,
                        const matrix<f32>& /*gradient*/) const {}

  /// Whether the backward pass reads the numbers of a parameter; if not, they do not travel a second time.
  virtual bool needs_weight_in_backward(int /*which*/) const { return true; }

  /// Whether the stage reads a parameter by weight_tile::as, in the store's format, and not by
  /// weight_tile::rows, whose numbers are then undefined unless that format is f32.
  virtual bool reads_operands(int /*which*/) const { return false; }

  /// Whether the forward pass of the stage is quicker with tiles of a parameter whose columns, and not whose
  /// rows, lie together.
  virtual bool prefers_columns(int /*which*/) const { return false; }
  /// Whether the stage takes tiles of a parameter that have nonzeros only, so that training may keep it
  /// sparse.
  virtual bool takes_sparse(int /*which*/) const { return false; }

  /// Whether it reads input k rounded to the store's format, as all that does not say otherwise; else in f32.
  /// A value that several stages read is rounded if one of them reads it so.
  virtual bool reads_rounded(int /*k*/) const { return true; }

  /// Whether the stage mixes the tokens of a sequence, as attention does, or reads a value that has another
  /// axis of tokens than its output. If not, a PE may have a part of a sequence. It may so, too, if the stage
  /// says true here and also what it reads of the other parts: earlier tokens (`reads_of_prefix`) or lines of
  /// an image (`reads_of_line`).
  virtual bool needs_whole_sequences() const { return false; }
  /// Whether a stage that needs whole sequences lets the tokens at their end change what it gives for others,
  /// as attention to all tokens does, and causal attention does not. If an input of ids is a mask of tokens
  /// that it does not see, its number is `padding_mask`; -1: none is.
  virtual bool sees_padding() const { return needs_whole_sequences(); }
  virtual int padding_mask() const { return -1; }
  /// The same of the tokens of input k alone: the queries of cross-attention do not change each other.
  virtual bool sees_padding_of(int /*k*/) const { return sees_padding(); }
  /// The features of earlier tokens with which it computes a later part of a sequence all the same. If the
  /// first token that it sees has a position p > 0, they are in activation_store::prefix, those of its own
  /// tokens from row p on; the stage adds the gradients of the earlier ones to prefix_gradient.
  virtual prefix_features reads_of_prefix() const { return {}; }
  /// For a stage of images, which needs whole sequences (`needs_whole_sequences`): the lines of its first
  /// input that a line of the output reads. They may lie beyond the image, where nothing is read, and from
  /// one line to the next neither end goes back. A PE may then have some lines of an image: those that
  /// `strips` says, of the input in activation_store::lines, with gradients in gradient_of_lines. Of other
  /// inputs the stage reads the tokens of the PE.
  virtual std::optional<line_range> reads_of_line(int /*line*/) const { return {}; }
  /// The lines of each image that are here, of an input and an output of so many lines.
  std::vector<image_strip> strips(const activation_store& store, int lines_of_x, int lines_of_y) const {
    const auto here = [&](int v, int lines) {
      return pixels_here{store.tokens_of(v), lines, store.length_of(v) / lines};
    };
    return strips_of(store.sequences(), here(inputs[0], lines_of_x), here(output, lines_of_y),
                     [&](int line) { return *reads_of_line(line); });
  }

  /// How often the stage needs sums over all tokens of the batch before its own work in a pass of training,
  /// as batch norm does; only stages that are cut by features or by rows do. In each round `add_sums` writes
  /// those of the tokens here, `sums_of_feature` for each feature of the output that the PE has, one sum
  /// after the other, and `take_sums` gets those of all rows of workers and all wafers, which it keeps for
  /// the work. A micro-batch is a batch of its own.
  virtual int rounds_of_sums(bool /*backward*/) const { return 0; }
  virtual int sums_of_feature(bool /*backward*/) const { return 1; }
  /// The numbers of a round, if they are not some of each feature: where each row of workers sets its own
  /// places among them, the sums are the numbers of all rows side by side. The micro-batch has so many
  /// sequences, and the PE so many features of the output.
  virtual i64 sums_of_round(bool backward, int /*round*/, int features, i64 /*sequences*/) const {
    return i64{sums_of_feature(backward)} * features;
  }
  /// Whether the forward pass needs its sums without training, too.
  virtual bool sums_in_evaluation() const { return false; }
  virtual void add_sums(activation_store&, bool /*backward*/, int /*round*/, std::span<f32>) const {}
  virtual void take_sums(activation_store&, bool /*backward*/, int /*round*/, std::span<const f32>) const {}
  /// Whether it needs such sums at all.
  bool needs_sums() const { return rounds_of_sums(false) + rounds_of_sums(true) > 0; }

  /// With `of_ids`, the ids are those of the stage's first input.
  virtual row_selection rows_read(int /*which*/) const { return row_selection::all; }
  /// With `of_positions`, the row of the first token of a sequence; the others follow.
  virtual int first_position() const { return 0; }

  /// About how many operations a token costs, forward and back, a multiply-add being two. With `which` -1 it
  /// is the stage's own work, and `columns` is the width of its output; otherwise it is that of a tile with
  /// `rows` rows and `columns` columns. Sequences have `length` tokens. The reports, and the division of a
  /// pipeline, go by it.
  virtual f64 operations(int /*which*/, int /*rows*/, int columns, int /*length*/) const {
    return 10. * columns;
  }

  /// Whether input k comes with the batch and is not computed.
  bool is_given(int k) const { return given[static_cast<std::size_t>(k)]; }
  /// Whether training wants the gradient of input k: not where it comes with the batch, nor where all that it
  /// is computed with is frozen. A stage may save the work for a gradient that is not wanted; adding to it
  /// all the same does no harm.
  bool wants_gradient(int k) const { return wanted[static_cast<std::size_t>(k)]; }
  bool wants_gradient(const activation_store& store, int k) const {
    return wants_gradient(k) || store.gradients_of_inputs;
  }
  /// Whether training leaves a parameter as it is. A stage may save the work for its gradient, too.
  bool is_frozen(int which) const { return frozen[static_cast<std::size_t>(which)]; }
  /// The operations for a number of a weight matrix and a token: a product forward, and back one for each
  /// gradient that is wanted.
  f64 operations_of_weight(int which) const { return 2. + 2. * wants_gradient(0) + 2. * !is_frozen(which); }

  // The network sets these when it takes the stage.
  std::string name;
  int number = 0;               ///< index in the model's list of stages
  std::vector<int> inputs;      ///< the values that the stage reads
  std::vector<bool> given;      ///< which of them come with the batch
  std::vector<bool> wanted;     ///< of which of them training wants the gradient
  int output = -1;              ///< the value that it writes
  std::vector<int> parameters;  ///< indices in the model's list of parameters
  std::vector<bool> frozen;     ///< which of them are frozen
  /// Whether training passes it in the backward pass: it has a parameter that is not frozen, or wants the
  /// gradient of an input.
  bool goes_back = true;
};

/// A tile whose rows are the words that carry its numbers in a format, as the stage reads it; null words stay
/// null. `room` is for f32 made of them.
inline weight_tile tile_of_words(weight_tile t, const stage& of, precision as, std::vector<f32>& room) {
  f32* const words = t.rows.first();
  t.operands = words;
  if (!words || of.reads_operands(t.which)) return t;
  const std::size_t n = static_cast<std::size_t>(t.rows.rows()) * static_cast<std::size_t>(t.rows.columns());
  t.rows = matrix(unpack(as, words, n, room), t.rows.rows(), t.rows.columns());
  return t;
}
/// A tile of f32, whose rows lie together, as the stage would get it in a format.
class tile_in_format {
 public:
  weight_tile operator()(weight_tile t, const stage& of, precision as) {
    const std::size_t n =
        static_cast<std::size_t>(t.rows.rows()) * static_cast<std::size_t>(t.rows.columns());
    t.rows = matrix(pack(as, {t.rows.first(), n}, words_).data(), t.rows.rows(), t.rows.columns());
    return tile_of_words(t, of, as, wide_);
  }

 private:
  std::vector<f32> words_, wide_;
};

/// The output of a loss is its first input.
inline bool writes_output(const stage& s) {
  return s.output >= 0 && std::find(s.inputs.begin(), s.inputs.end(), s.output) == s.inputs.end();
}
/// The sums of a stage over all tokens of the batch, which are all in one store.
inline void add_up_here(const stage& s, activation_store& store, bool backward) {
  const bool needs_them = store.is_training() || s.sums_in_evaluation();
  const int rounds = needs_them ? s.rounds_of_sums(backward) : 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<f32> sums(static_cast<std::size_t>(
        s.sums_of_round(backward, round, store.value(s.output).columns(), store.sequences_of_pass)));
    s.add_sums(store, backward, round, sums);
    s.take_sums(store, backward, round, sums);
  }
}
/// Rounds the values that a stage reads, and that the model has computed, to the store's format, when all
/// stages that write them are done.
inline void round_inputs(const stage& s, activation_store& store) {
  for (std::size_t k = 0; k < s.inputs.size(); ++k)
    if (!s.given[k] && s.reads_rounded(static_cast<int>(k))) store.round_value(s.inputs[k]);
}
/// A stage's own work. Before it the values that it reads are rounded, also in the backward pass, as they may
/// have been computed again, and there the gradient of its output. With `all_here` the store has all tokens
/// of the batch, and the stage's sums over them are made as well.
inline void begin_forward(const stage& s, activation_store& store, bool all_here = false) {
  store.enter(s.output);
  round_inputs(s, store);
  if (writes_output(s)) store.renew(s.output);
  if (all_here) add_up_here(s, store, false);
  s.forward(store);
}
inline void begin_backward(const stage& s, activation_store& store, bool all_here = false) {
  store.enter(s.output);
  round_inputs(s, store);
  if (writes_output(s)) store.round_gradient(s.output);
  if (all_here) add_up_here(s, store, true);
  s.backward(store);
}

}  // namespace wsl::ml
