// SPDX-License-Identifier: MIT
// The readers of HDF5: examples in all forms, those of encoders and encoder-decoders, tokens in a row, and the
// arrays of wsl-tlr and wsl-wave. libhdf5, as it is installed, gets the same bytes.
#include <wsl/ml/data/hdf5/encoder_decoder.hpp>
#include <wsl/ml/data/hdf5/language.hpp>
#include <wsl/ml/data/hdf5/masked.hpp>

#include "../../apps/hdf5_dataset.hpp"
#include "fuzz.hpp"

// What libhdf5 1.10 allocates for a broken object header it does not give back.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

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

/// The numbers by name of an example.
std::vector<std::vector<i32>> example_of(const dataset& d, i64 which) {
  std::vector<std::vector<i32>> all;
  for (const named_field& x : d.named) all.emplace_back(static_cast<std::size_t>(x.count));
  const std::vector<std::span<i32>> rooms(all.begin(), all.end());
  d.get(which, {.ids = {}, .features = {}, .targets = {}, .named = rooms});
  return all;
}
void all_below(const std::vector<i32>& numbers, i32 limit, bool may_be_ignored = false) {
  for (const i32 x : numbers) holds((x >= 0 && x < limit) || (may_be_ignored && x == ignored_label));
}
void masked(const std::string& file) {
  const text_task t = hdf5_masked({.paths = {file}, .vocabulary = 100});
  for (i64 i : {i64{0}, t.data.count - 1}) {
    const auto x = example_of(t.data, i);
    all_below(x[0], 100), all_below(x[1], 2), all_below(x[2], 2), all_below(x[3], 100, true);
    for (std::size_t k = 0; k < x[0].size(); ++k) holds(x[1][k] || x[3][k] == ignored_label);
  }
}
void read_and_written(const std::string& file) {
  const text_task t = hdf5_encoder_decoder({.paths = {file}, .vocabulary = 100});
  for (i64 i : {i64{0}, t.data.count - 1}) {
    const auto x = example_of(t.data, i);
    all_below(x[0], 100), all_below(x[1], 2), all_below(x[2], 100), all_below(x[3], 100, true);
    for (std::size_t k = 0; k + 1 < x[3].size(); ++k)
      holds(x[3][k] == ignored_label || x[3][k + 1] == ignored_label || x[2][k + 1] == x[3][k]);
  }
}
void hdf5_text_of_models(std::string_view bytes) {
  const memory_file f(bytes);
  try {
    masked(f.name());
  } catch (const file_error&) {}
  read_and_written(f.name());
}

template <class T>
void array_of(const app::hdf5_dataset& set) {
  try {
    const app::number_array<T> a = set.numbers<T>();
    std::size_t count = 1;
    for (const std::size_t n : a.shape) count *= n;
    holds(a.numbers.size() == count && app::takes<T>(set.kind()));
  } catch (const file_error& e) { holds(std::string_view(e.what()).find(set.name()) != std::string::npos); }
}
void hdf5_arrays(std::string_view bytes) {
  const memory_file f(bytes);
  for (const std::string name : {"ranks", "U", "V", "shape", "u"}) try {
      const app::hdf5_dataset set(f.name(), name, "");
      array_of<f32>(set), array_of<std::complex<f32>>(set), array_of<i64>(set);
    } catch (const file_error& e) { holds(std::string_view(e.what()).find(f.name()) != std::string::npos); }
}

const enter all{{"hdf5", &hdf5}, {"hdf5_text", &hdf5_text_of_models}, {"hdf5_arrays", &hdf5_arrays}};

}  // namespace
