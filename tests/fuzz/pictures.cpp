// SPDX-License-Identifier: MIT
// The readers of images in files: PNG, and the table of Severstal's defects with its runs.
#include <wsl/ml/data/images/severstal.hpp>

#include "fuzz.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using namespace fuzz;

void png(std::string_view bytes) {
  const memory_file f(bytes);
  const png_pixels x = read_png(f.name(), bytes.size() % 2 ? 1 : 3);
  write_png(scratch() + "/png", x);
  holds(read_png(scratch() + "/png", x.channels).numbers == x.numbers);
}
void defects(std::string_view bytes) {
  const memory_file f(bytes);
  for (const auto& [image, runs] : read_defects(f.name()))
    for (const auto& [kind, words] : runs) try {
        std::vector<u8> mask(7 * 9), again(7 * 9);
        add_runs(mask, 7, 9, words, 1);
        add_runs(again, 7, 9, runs_of(mask, 7, 9, 1), 1);
        holds(mask == again);
      } catch (const std::invalid_argument&) {}
}

const enter all{{"png", &png}, {"defects", &defects}};

}  // namespace
