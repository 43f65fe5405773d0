// SPDX-License-Identifier: MIT
// The readers of HDF5: examples in all forms, and tokens in a row. libhdf5, as it is installed, gets the same
// bytes.
#include <wsl/ml/data/hdf5/language.hpp>

#include "fuzz.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using namespace fuzz;

void hdf5(std::string_view bytes) {
  const memory_file f(bytes);
  hdf5_attribute(f.name(), "n_examples");
  for (const std::string& name : hdf5_datasets(f.name())) try {
      const hdf5_rows x(f.name(), name);
      std::vector<i32> row(static_cast<std::size_t>(x.row()));
      for (i64 i : {i64{0}, x.count() / 2, x.count() - 1})
        if (i >= 0 && i < x.count()) x.read(i, 1, row);
    } catch (const file_error&) {}
  const bool in_a_row = hdf5_corpus::is_in(f.name());
  const dataset d =
      hdf5_text({.paths = {f.name()}, .max_sequence_length = in_a_row ? 4 : 0, .vocabulary = 100});
  std::vector<i32> ids(static_cast<std::size_t>(d.length)), targets(ids);
  for (i64 i : {i64{0}, d.count - 1}) d.get(i, {.ids = ids, .features = {}, .targets = targets});
  for (const i32 id : ids) holds(id >= 0 && id < 100);
}

const enter all{{"hdf5", &hdf5}};

}  // namespace
