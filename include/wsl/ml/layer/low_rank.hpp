// SPDX-License-Identifier: MIT
// The second half of a low-rank adapter (LoRA, Hu et al., arXiv 2106.09685): y = h B^T, with h (tokens, parts
// x rank), B (outputs, rank) and y (tokens, outputs). The outputs of each part, such as the queries of a
// layer that gives queries, keys and values, read `rank` features of h of their own; outputs of no part are
// 0.
#pragma once
#include <algorithm>
#include <utility>

#include "../../linalg/dense.hpp"
#include "../op/rows.hpp"
#include "stage.hpp"

namespace wsl::ml {

class low_rank_stage final : public stage {
 public:
  /// The parameter is B. The parts are in ascending order and do not overlap.
  low_rank_stage(int rank, std::vector<feature_run> parts) : rank_(rank), parts_(std::move(parts)) {}

  stage_cut how_cut() const override { return stage_cut::by_output; }

  void forward(activation_store& store) const override { clear(store.value(output)); }
  void forward(activation_store& store, const weight_tile& b) const override {
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      const matrix<f32> y = store.value(output);
      const matrix<const T> h = store.operand<T>(inputs[0]);
      each_piece(store, b, [&](const piece& p) {
        multiply(y.part(0, p.column, y.rows(), p.count), of_part(h, p),
                 b.as<T>().part(p.row, 0, p.count, rank_).transposed());
      });
    });
  }
  void backward(activation_store& store, const weight_tile& b, const matrix<f32>& gradient) const override {
    clear(gradient);
    with_number(store.format, [&]<class T>(std::type_identity<T>) {
      const matrix<const T> dy = store.operand_of_gradient<T>(output), h = store.operand<T>(inputs[0]);
      const matrix<f32> dh = store.gradient(inputs[0]);
      each_piece(store, b, [&](const piece& p) {
        const matrix<const T> of_piece = dy.part(0, p.column, dy.rows(), p.count);
        multiply(gradient.part(p.row, 0, p.count, rank_), of_piece.transposed(), of_part(h, p));
        multiply_add(of_part(dh, p), of_piece, b.as<T>().part(p.row, 0, p.count, rank_));
      });
    });
  }
  bool reads_operands(int) const override { return true; }
  bool needs_weight_in_backward(int) const override { return wants_gradient(0); }
  f64 operations(int which, int rows, int columns, int) const override {
    return which < 0 ? 0 : operations_of_weight(which) * rows * columns;
  }

 private:
  /// Outputs of one part that lie together in a tile: `count` rows of it from `row` on, which give the
  /// columns of the output from `column` on, of features of h from `from` on.
  struct piece {
    int row, column, count, from;
  };
  /// Calls f(piece) for all pieces of a tile.
  template <class F>
  void each_piece(const activation_store& store, const weight_tile& b, F f) const {
    store.each_run_of_output([&](int column, const feature_run& here) {
      for (std::size_t k = 0; k < parts_.size(); ++k) {
        // The outputs that the PE, the part and the tile have in common, as columns of the output here.
        const int shift = column - here.first;
        const int first = std::max({column, parts_[k].first + shift, b.row}),
                  end = std::min({column + here.count, parts_[k].end() + shift, b.row + b.rows.rows()});
        if (first < end) f(piece{first - b.row, first, end - first, static_cast<int>(k) * rank_});
      }
    });
  }
  template <class T>
  matrix<T> of_part(const matrix<T>& h, const piece& p) const {
    return h.part(0, p.from, h.rows(), rank_);
  }

  int rank_;
  std::vector<feature_run> parts_;
};

}  // namespace wsl::ml
