// SPDX-License-Identifier: MIT
#include "hdf5_arrays.hpp"

#include "../hdf5_dataset.hpp"

namespace tlr_app {

using complex = std::complex<f32>;
using wsl::ml::hdf5_id;

app::array_about hdf5_about(const std::string& file, const std::string& dataset, const std::string& remedy) {
  const app::hdf5_dataset set(file, dataset, remedy);
  return {set.kind(), set.shape()};
}

template <class T>
app::number_array<T> hdf5_array(const std::string& file, const std::string& dataset,
                                const std::string& remedy) {
  return app::hdf5_dataset(file, dataset, remedy).numbers<T>();
}

bool hdf5_has(const std::string& file, const std::string& dataset) {
  const wsl::ml::hdf5_gate gate;
  return H5Lexists(wsl::ml::open_hdf5(file).get(), dataset.c_str(), H5P_DEFAULT) > 0;
}

template <class T>
std::string hdf5_bytes(const stored_bases<T>& stored, const app::number_array<i64>& shape) {
  return app::hdf5_image([&](hid_t file, auto must) {
    const auto pair_of = [](hid_t part, std::size_t bytes) {
      hdf5_id pair(H5Tcreate(H5T_COMPOUND, 2 * bytes), &H5Tclose);
      H5Tinsert(pair.get(), "r", 0, part), H5Tinsert(pair.get(), "i", bytes, part);
      return pair;
    };
    const hdf5_id stored_pair = pair_of(H5T_IEEE_F32LE, sizeof(f32)),
                  pair = pair_of(H5T_NATIVE_FLOAT, sizeof(f32));
    constexpr bool is_complex = std::is_same_v<T, complex>;
    const auto add = [&](const char* name, const app::number_array<T>& a) {
      app::add_dataset(file, name, a.shape, is_complex ? stored_pair.get() : H5T_IEEE_F32LE,
                       is_complex ? pair.get() : H5T_NATIVE_FLOAT, a.numbers.data(), must);
    };
    const auto add_whole = [&](const char* name, const app::number_array<i64>& a) {
      app::add_dataset(file, name, a.shape, H5T_STD_I64LE, H5T_NATIVE_INT64, a.numbers.data(), must);
    };
    add_whole(shape_name, shape), add_whole(ranks_name, stored.ranks);
    add(u_name, stored.u), add(v_name, stored.v);
  });
}

template app::number_array<f32> hdf5_array(const std::string&, const std::string&, const std::string&);
template app::number_array<complex> hdf5_array(const std::string&, const std::string&, const std::string&);
template app::number_array<i64> hdf5_array(const std::string&, const std::string&, const std::string&);
template std::string hdf5_bytes(const stored_bases<f32>&, const app::number_array<i64>&);
template std::string hdf5_bytes(const stored_bases<complex>&, const app::number_array<i64>&);

}  // namespace tlr_app
