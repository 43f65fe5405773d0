// SPDX-License-Identifier: MIT
#include "hdf5_volume.hpp"

#include <cmath>

#include "../hdf5_dataset.hpp"

namespace wave_app {
namespace {

using wsl::ml::hdf5_id;

/// The attribute of a dataset that says the size of a cell; zeros if there is none.
extent spacing_of(const app::hdf5_dataset& set) {
  if (H5Aexists(set.get(), "spacing") <= 0) return {};
  const hdf5_id x(H5Aopen(set.get(), "spacing", H5P_DEFAULT), &H5Aclose);
  const hdf5_id space(x ? H5Aget_space(x.get()) : -1, &H5Sclose),
      type(x ? H5Aget_type(x.get()) : -1, &H5Tclose);
  const hssize_t n = space ? H5Sget_simple_extent_npoints(space.get()) : 0;
  f64 h[3] = {};
  if (!type || H5Tget_class(type.get()) != H5T_FLOAT || (n != 1 && n != 3) ||
      H5Aread(x.get(), H5T_NATIVE_DOUBLE, h) < 0)
    set.bad("its attribute 'spacing' is neither one number nor three, in m");
  if (n == 1) h[1] = h[2] = h[0];
  for (const f64 one : h)
    if (!(one > 0) || !std::isfinite(one)) set.bad("its attribute 'spacing' has a number that is no length");
  return {h[0], h[1], h[2]};
}

}  // namespace

void require_hdf5(const std::string&) {}

volume hdf5_volume(const std::string& file, const std::string& dataset) {
  const app::hdf5_dataset set(file, dataset, "the name of that of --model is given with --model-dataset");
  const std::size_t axes = set.shape().size();
  if (set.kind() == app::number_kind::real) {
    if (axes < 1 || axes > 3)
      set.bad(fmt::format("it has {} axes; a model has z, or x and z, or x, y and z", axes));
    for (std::size_t a = 0; a < axes; ++a)
      if (set.shape()[a] < 1 || set.shape()[a] > 1'000'000)
        set.bad(fmt::format("its axis {} has {} cells", a, set.shape()[a]));
  }
  app::number_array<f32> all = set.numbers<f32>();
  const auto size = [&](std::size_t a) { return static_cast<int>(all.shape[a]); };
  const cells n = axes == 1   ? cells{1, 1, size(0)}
                  : axes == 2 ? cells{size(0), 1, size(1)}
                              : cells{size(0), size(1), size(2)};
  return {n, spacing_of(set), std::move(all.numbers)};
}

std::string hdf5_bytes(const volume& v) {
  return app::hdf5_image([&](hid_t file, auto must) {
    const auto size = [](int n) { return static_cast<std::size_t>(n); };
    const hdf5_id set = app::add_dataset(file, "u", {size(v.size.x), size(v.size.y), size(v.size.z)},
                                         H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, v.numbers.data(), must);
    const hsize_t three[] = {3};
    const f64 h[] = {v.spacing.x, v.spacing.y, v.spacing.z};
    const hdf5_id line(H5Screate_simple(1, three, nullptr), &H5Sclose);
    const hdf5_id spacing(
        H5Acreate2(set.get(), "spacing", H5T_IEEE_F64LE, line.get(), H5P_DEFAULT, H5P_DEFAULT), &H5Aclose);
    must(line && spacing && H5Awrite(spacing.get(), H5T_NATIVE_DOUBLE, h) >= 0);
  });
}

}  // namespace wave_app
