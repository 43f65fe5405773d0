// SPDX-License-Identifier: MIT
// The arrays of low-rank tiles that wsl-tlr reads: shape, ranks, U and V as arrays of NumPy, one behind the
// other, after the numbers of bytes of the first three.
#include <array>
#include <cstring>

#include "../../apps/npy.hpp"
#include "../../apps/tlr/bases.hpp"
#include "fuzz.hpp"

namespace {

template <class T>
void tiles_of(const std::array<std::string_view, 4>& file) {
  try {
    const auto shape = app::npy_from_bytes<wsl::i64>(file[0], "tiles");
    if (shape.numbers.size() != 3) return;
    const tlr_app::stored_bases<T> stored{app::npy_from_bytes<wsl::i64>(file[1], "tiles"),
                                          app::npy_from_bytes<T>(file[2], "tiles"),
                                          app::npy_from_bytes<T>(file[3], "tiles")};
    const auto a =
        tlr_app::bases_from<T>(stored, {shape.numbers[0], shape.numbers[1], shape.numbers[2]}, "tiles");
    fuzz::holds(a.rows() >= 1 && a.columns() >= 1);
    const auto once = tlr_app::bases_of(a);  // without what was in the padding
    const auto twice = tlr_app::bases_of(tlr_app::bases_from<T>(once, {a.rows(), a.columns(), a.side()}, ""));
    fuzz::holds(once.ranks.numbers == stored.ranks.numbers && once.ranks.numbers == twice.ranks.numbers &&
                once.u.numbers == twice.u.numbers && once.v.numbers == twice.v.numbers);
  } catch (const std::invalid_argument& e) {
    fuzz::holds(std::string_view(e.what()).find("tiles") != std::string_view::npos);
  }
}

void tiles(std::string_view bytes) {
  std::array<std::string_view, 4> file;
  for (std::size_t i = 0; i < 3; ++i) {
    if (bytes.empty()) return;
    const std::size_t n = std::min<std::size_t>(static_cast<unsigned char>(bytes[0]), bytes.size() - 1);
    file[i] = bytes.substr(1, n), bytes.remove_prefix(1 + n);
  }
  file[3] = bytes;
  tiles_of<wsl::f32>(file), tiles_of<std::complex<wsl::f32>>(file);
}

const fuzz::enter table{{"tiles", tiles}};
}  // namespace
