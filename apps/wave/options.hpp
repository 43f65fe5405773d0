// SPDX-License-Identifier: MIT
// The options of wsl-wave, from the command line and from a file of the same options.
#pragma once
#include <filesystem>
#include <optional>
#include <variant>
#include <wsl/kernel/wave/problem.hpp>

#include "figures.hpp"
#include "records.hpp"
#include "shots.hpp"

namespace wave_app {

/// What snapshots are: a figure of a slice, the whole field for three programs, a bare picture of the slice.
struct snapshot_formats {
  bool svg = true, vtk = false, vti = false, h5 = false, png = false;
};

/// How wsl-wave uses this computer, as wave25::options.
struct resources {
  int wide = 0, depth = 0, threads = 0;
};

/// The medium of wave25: it has a velocity and nothing else.
struct isotropic {};
using any_medium = std::variant<isotropic, wsl::seismic::variable_density, wsl::seismic::vti>;

struct options {
  bool migrates = false;         ///< `wsl-wave rtm`
  wsl::wave25::problem problem;  ///< of the only shot, or of all but for sources and receivers
  any_medium medium;             ///< what it has besides the velocity
  wsl::seismic::survey found;    ///< what all cells of this medium say
  std::vector<shot> shots;       ///< of a list; empty without one
  resources how;
  wsl::i64 steps = 0;
  std::filesystem::path out;
  wsl::i64 snapshot_every = 0, checkpoint_every = 0;  ///< steps; 0 for never
  snapshot_formats snapshots;
  record_formats records;
  f64 sample_interval = 0;  ///< s, of SEG-Y; 0 for the time step in whole microseconds
  f32 clip = 0;             ///< the amplitude at which pictures have full colours; 0 chooses one for each
  bool film = false, resume = false;
  bool slice_is_given = false;
  slice drawn;  ///< the slice that snapshots draw
  int shots_at_a_time = 1;
  // of rtm
  std::filesystem::path data;  ///< the folder with the recorded traces
  f64 data_interval = 0;       ///< s, of arrays of NumPy
  f64 memory = 0;              ///< bytes for checkpoints of a shot
  int every = 1;               ///< steps between two fields that are correlated
  bool laplacian = false;      ///< filters the image

  /// The problem of a shot of the list, from 0 on.
  wsl::wave25::problem problem_of(std::size_t which) const;
  /// A problem of these options in the medium, which is one of theirs.
  template <class Medium>
  wsl::seismic::problem<Medium> in_medium(const wsl::wave25::problem& p, const Medium& m) const {
    return {p, m, found};
  }
  /// Of all that its results depend on, the medium included.
  wsl::u64 fingerprint_of(std::size_t which) const;
  /// The slice through a source, unless one was given.
  slice slice_of(const wsl::wave25::problem& p) const;
};

/// Reads and checks everything, and throws before any work starts. Returns nothing if the user only asked for
/// help, which is printed; `status` is then the exit status of the program. The first word may be `rtm`.
std::optional<options> parse(int argc, char** argv, int& status);

}  // namespace wave_app
