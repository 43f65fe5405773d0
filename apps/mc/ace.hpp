// SPDX-License-Identifier: MIT
// Reads continuous-energy neutron tables in ACE format, as text (type 1), with the headers of version 1 and
// 2. The file is not trusted: every count and pointer is compared with the size of the table before it is
// used.
#pragma once
#include <string_view>

#include "nuclide.hpp"

namespace mc_app {

/// The tables of a file, in its order. Energies become eV. Absorption is what the file calls disappearance
/// and fission (MT 18, or where it has none the sum of MT 19, 20, 21 and 38); the neutrons of a fission are
/// the total number where a file has both that and the prompt one. Throws support::file_error, which names
/// the file, the place and the fault; `file` is its name.
std::vector<nuclide> read_ace(std::string_view bytes, const std::string& file);

}  // namespace mc_app
