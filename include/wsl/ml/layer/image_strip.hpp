// SPDX-License-Identifier: MIT
// The parts of images that a PE has. Rows of workers may share an image, and each has a strip of its lines at
// each resolution. A stage that reads windows gets the lines of its input that lie at the border of the strip
// from the rows beside it: it borrows them.
//
//   lines of x   0 1 2 3 | 4 5 6 7     two rows; 3 lines of x under a line of y
//   row 0        own own + 4           borrows line 4, and gives back its gradient
//   row 1               3 + own own    borrows line 3
#pragma once
#include <algorithm>
#include <vector>

#include "../op/image.hpp"
#include "activation_store.hpp"

namespace wsl::ml {

/// Lines of an image that a PE computes, and those that it reads for it.
struct image_strip {
  line_range written;  ///< of the output
  line_range own;      ///< of the input, those that the PE has anyway
  line_range read;     ///< of the input, those and the ones that it borrows
  /// The rows with which they begin in the output's activation_store::value and in activation_store::lines.
  i64 first_of_written = 0, first_of_read = 0;

  bool borrows() const { return read != own; }
};

/// The tokens of a value that a PE has of some images, each of `lines` lines with so many pixels.
struct pixels_here {
  token_range tokens;
  int lines = 1, width = 1;

  /// The lines of image n. Images are cut between lines.
  line_range lines_of(int n) const {
    const auto line = [&](int token) { return std::clamp(token / width - n * lines, 0, lines); };
    return {line(tokens.first), line(tokens.end)};
  }
};

/// The strips of those of so many images of which there are lines. reads(line) are the lines of x that a line
/// of y reads (stage::reads_of_line).
template <class F>
std::vector<image_strip> strips_of(int images, const pixels_here& x, const pixels_here& y, F reads) {
  std::vector<image_strip> all;
  i64 first_of_x = 0, first_of_y = 0;
  for (int n = 0; n < images; ++n) {
    image_strip s{y.lines_of(n), x.lines_of(n), x.lines_of(n), first_of_y, first_of_x};
    if (s.written.count() == 0) continue;
    s.read = {std::min(s.own.first, std::clamp(reads(s.written.first).first, 0, x.lines)),
              std::max(s.own.end, std::clamp(reads(s.written.end - 1).end, 0, x.lines))};
    first_of_y += i64{s.written.count()} * y.width, first_of_x += i64{s.read.count()} * x.width;
    all.push_back(s);
  }
  return all;
}

}  // namespace wsl::ml
