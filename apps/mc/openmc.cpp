// SPDX-License-Identifier: MIT
#include "openmc.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>
#include <wsl/support/file_error.hpp>

#include "neutron_yield.hpp"

namespace mc_app {

using namespace wsl;
using support::file_error;

namespace {

constexpr f64 kelvin_a_ev = 1 / 8.617333262e-5;

/// Something that libhdf5 has opened, closed when its owner goes.
class handle {
 public:
  handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  handle(handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  handle& operator=(handle&&) = delete;
  ~handle() {
    if (id_ >= 0) close_(id_);
  }
  hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// A group or a dataset of the file, with its path for errors.
class node {
 public:
  node(const std::string& file, std::string path, handle at, u64 bytes)
      : file_(file), path_(std::move(path)), at_(std::move(at)), bytes_(bytes) {}

  [[noreturn]] void bad(const std::string& what) const {
    throw file_error(fmt::format("wsl: {}, {}: {}", file_, path_, what));
  }
  bool has(const std::string& name) const { return H5Lexists(at_.id(), name.c_str(), H5P_DEFAULT) > 0; }
  bool is_group() const { return H5Iget_type(at_.id()) == H5I_GROUP; }
  node operator[](const std::string& name) const {
    if (!has(name)) bad(fmt::format("it has no {}: it is no nuclide of OpenMC, or damaged", name));
    H5L_info_t about;
    // a link to another file is not followed
    if (H5Lget_info(at_.id(), name.c_str(), &about, H5P_DEFAULT) < 0 ||
        (about.type != H5L_TYPE_HARD && about.type != H5L_TYPE_SOFT))
      bad(fmt::format("{} is a link out of the file, which is not followed", name));
    handle to(H5Oopen(at_.id(), name.c_str(), H5P_DEFAULT), &H5Oclose);
    if (!to) bad(fmt::format("{} cannot be opened: the file is damaged", name));
    return {file_, path_ == "/" ? "/" + name : path_ + "/" + name, std::move(to), bytes_};
  }
  /// The names in a group, in ascending order.
  std::vector<std::string> names() const {
    if (!is_group()) bad("it should be a group");
    std::vector<std::string> all;
    const auto add = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
      static_cast<std::vector<std::string>*>(to)->emplace_back(name);
      return 0;
    };
    if (H5Literate(at_.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, +add, &all) < 0)
      bad("its members cannot be listed: the file is damaged");
    return all;
  }

  /// The numbers of a dataset with at most two axes, and their shape.
  std::pair<std::vector<f64>, std::vector<hsize_t>> numbers() const {
    if (H5Iget_type(at_.id()) != H5I_DATASET) bad("it should be a dataset");
    const handle how(H5Dget_create_plist(at_.id()), &H5Pclose);
    if (!how || H5Pget_external_count(how.id()) != 0) bad("its numbers are not in this file");
    const handle space(H5Dget_space(at_.id()), &H5Sclose), type(H5Dget_type(at_.id()), &H5Tclose);
    return read(space, type, [&](f64* to) {
      return H5Dread(at_.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
    });
  }
  std::vector<f64> line() const {
    auto [values, shape] = numbers();
    if (shape.size() != 1) bad(fmt::format("it has {} axes and not one", shape.size()));
    return std::move(values);
  }
  bool has_attribute(const std::string& name) const { return H5Aexists(at_.id(), name.c_str()) > 0; }
  std::vector<f64> attribute(const std::string& name) const {
    const handle a = opened(name);
    const handle space(H5Aget_space(a.id()), &H5Sclose), type(H5Aget_type(a.id()), &H5Tclose);
    return read(space, type, [&](f64* to) { return H5Aread(a.id(), H5T_NATIVE_DOUBLE, to); }).first;
  }
  f64 number(const std::string& name) const {
    const std::vector<f64> all = attribute(name);
    if (all.size() != 1) bad(fmt::format("attribute {} has {} numbers and not one", name, all.size()));
    return all[0];
  }
  i64 whole(const std::string& name) const { return whole(number(name), name); }
  std::vector<i64> wholes(const std::string& name) const {
    std::vector<i64> all;
    for (const f64 x : attribute(name)) all.push_back(whole(x, name));
    return all;
  }
  std::string word(const std::string& name) const {
    const handle a = opened(name), type(H5Aget_type(a.id()), &H5Tclose),
                 space(H5Aget_space(a.id()), &H5Sclose);
    if (!type || H5Tget_class(type.id()) != H5T_STRING || !space ||
        H5Sget_simple_extent_npoints(space.id()) != 1)
      bad(fmt::format("attribute {} is no word", name));
    if (H5Tis_variable_str(type.id()) > 0) {
      char* text = nullptr;
      if (H5Aread(a.id(), type.id(), &text) < 0 || !text)
        bad(fmt::format("attribute {} cannot be read", name));
      std::string all(text);
      H5free_memory(text);
      return all;
    }
    const std::size_t size = H5Tget_size(type.id());
    if (size > bytes_) bad(fmt::format("attribute {} has {} bytes, the file {}", name, size, bytes_));
    std::string text(size, '\0');
    if (H5Aread(a.id(), type.id(), text.data()) < 0) bad(fmt::format("attribute {} cannot be read", name));
    return text.substr(0, text.find('\0'));
  }

 private:
  handle opened(const std::string& name) const {
    handle a(H5Aopen(at_.id(), name.c_str(), H5P_DEFAULT), &H5Aclose);
    if (!a) bad(fmt::format("it has no attribute {}: it is of another version, or damaged", name));
    return a;
  }
  i64 whole(f64 x, const std::string& name) const {
    if (!(std::abs(x) <= 1e9) || x != std::floor(x))
      bad(fmt::format("attribute {} is {} and no whole number", name, x));
    return static_cast<i64>(x);
  }
  template <class Read>
  std::pair<std::vector<f64>, std::vector<hsize_t>> read(const handle& space, const handle& type,
                                                         Read take) const {
    if (!space || !type || (H5Tget_class(type.id()) != H5T_FLOAT && H5Tget_class(type.id()) != H5T_INTEGER))
      bad("it has something else than numbers");
    const int axes = H5Sget_simple_extent_ndims(space.id());
    if (axes < 0 || axes > 2) bad(fmt::format("it has {} axes", axes));
    std::vector<hsize_t> shape(static_cast<std::size_t>(axes));
    H5Sget_simple_extent_dims(space.id(), shape.data(), nullptr);
    // deflate packs 1032 bytes at best into one
    hsize_t count = 1;
    const hsize_t most = bytes_ * 1032 / H5Tget_size(type.id());
    for (const hsize_t n : shape) {
      if (n && count > most / n)
        bad(fmt::format("{} x {} numbers are more than {} bytes can have", count, n, bytes_));
      count *= n;
    }
    std::vector<f64> values(count);
    if (count && take(values.data()) < 0) bad("it cannot be read: the file is damaged or cut short");
    return {std::move(values), std::move(shape)};
  }

  const std::string& file_;
  std::string path_;
  handle at_;
  u64 bytes_;
};

neutron_yield yield_of(const node& set) {
  const std::string form = set.word("type");
  try {
    if (form == "Polynomial") return neutron_yield::polynomial(set.line());
    if (form != "Tabulated1D") set.bad(fmt::format("'{}' is none of Polynomial and Tabulated1D", form));
    auto [values, shape] = set.numbers();
    if (shape.size() != 2 || shape[0] != 2) set.bad("a table has two rows, energies and values");
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(shape[1]);
    return neutron_yield::table({values.begin(), middle}, {middle, values.end()}, set.wholes("breakpoints"),
                                set.wholes("interpolation"));
  } catch (const file_error&) { throw; } catch (const std::invalid_argument& e) {
    set.bad(e.what());
  }
}

/// What is added up for the neutrons of a fission.
std::vector<neutron_yield> yields_of(const node& all, const node& reaction) {
  if (all.has("total_nu")) return {yield_of(all["total_nu"]["yield"])};
  std::vector<neutron_yield> some;
  for (const std::string& name : reaction.names())
    if (name.starts_with("product_"))
      if (const node product = reaction[name]; product.word("particle") == "neutron")
        some.push_back(yield_of(product["yield"]));
  if (some.empty()) reaction.bad("no neutrons are among the products of this fission");
  return some;
}

bool is_fission(i64 type) { return type == 18 || type == 19 || type == 20 || type == 21 || type == 38; }
/// Whether no neutron comes out, in the numbers of ENDF-6.
bool ends_neutron(i64 type) {
  return (type >= 102 && type <= 117) || type == 155 || type == 182 || (type >= 191 && type <= 193) ||
         type == 197;
}

nuclide nuclide_at(const node& all, const std::string& temperature, nuclide n) {
  n.temperature = kelvin_a_ev * [&] {
    const node set = all["kTs"][temperature];
    const auto values = set.numbers().first;
    if (values.size() != 1 || !(values[0] >= 0)) set.bad("it should be the temperature in eV");
    return values[0];
  }();
  const std::vector<f64> energies = all["energy"][temperature].line();
  n.points.resize(energies.size());
  for (std::size_t i = 0; i < energies.size(); ++i) n.points[i].energy = energies[i];
  const node reactions = all["reactions"];
  std::vector<neutron_yield> yields;
  bool scatters = false;
  for (const std::string& name : reactions.names()) {
    const node reaction = reactions[name];
    if (reaction.whole("redundant")) continue;
    const i64 type = reaction.whole("mt");
    const node set = reaction[temperature]["xs"];
    const std::vector<f64> xs = set.line();
    const i64 first = set.whole("threshold_idx");
    if (first < 0 || static_cast<u64>(first) > energies.size() ||
        xs.size() > energies.size() - static_cast<std::size_t>(first))
      set.bad(fmt::format("{} cross sections from energy {} on, of {} energies", xs.size(), first,
                          energies.size()));
    if (is_fission(type) && yields.empty()) yields = yields_of(all, reaction);
    if (type == 102) n.capture.assign(energies.size(), 0);
    scatters = scatters || type == 2;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      auto& p = n.points[static_cast<std::size_t>(first) + i];
      p.xs[total] += xs[i];
      if (type == 2) p.xs[elastic] += xs[i];
      if (is_fission(type)) p.xs[fission] += xs[i];
      if (is_fission(type) || ends_neutron(type)) p.xs[absorption] += xs[i];
      if (type == 102) n.capture[static_cast<std::size_t>(first) + i] += xs[i];
    }
  }
  if (!scatters) reactions.bad("it has no elastic scattering, reaction_002");
  for (auto& p : n.points) {
    f64 neutrons = 0;
    for (const neutron_yield& y : yields) neutrons += y(p.energy);
    p.xs[nu_fission] = neutrons * p.xs[fission];
  }
  check_points(n);
  return n;
}

/// Keeps libhdf5 from printing its errors, which are said here.
class silence {
 public:
  silence() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  silence(const silence&) = delete;
  silence& operator=(const silence&) = delete;
  ~silence() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace

std::vector<nuclide> read_openmc(const std::string& file) {
  const silence quiet;
  const handle opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), &H5Fclose);
  if (!opened)
    throw file_error("wsl: " + file + ": this is no whole file of HDF5: it is cut short or damaged");
  const node root(file, "/", handle(H5Oopen(opened.id(), "/", H5P_DEFAULT), &H5Oclose),
                  std::filesystem::file_size(file));
  if (root.has_attribute("filetype") && root.word("filetype") != "data_neutron")
    root.bad(fmt::format("it is a file of '{}' and not of a nuclide (data_neutron)", root.word("filetype")));
  const std::vector<std::string> names = root.names();
  if (names.size() != 1) root.bad(fmt::format("it has {} members and not one nuclide", names.size()));
  const node all = root[names[0]];
  const f64 weight = all.number("atomic_weight_ratio");
  if (!(weight > 0) || !std::isfinite(weight)) all.bad(fmt::format("the atomic weight ratio is {}", weight));
  const i64 z = all.whole("Z"), a = all.whole("A"), state = all.whole("metastable");
  if (z < 0 || z > 200 || a < 0 || a > 400 || state < 0 || state > 9)
    all.bad(fmt::format("there is no nuclide with Z = {}, A = {} and metastable = {}", z, a, state));
  std::vector<nuclide> tables;
  for (const std::string& temperature : all["kTs"].names())
    tables.push_back(nuclide_at(all, temperature,
                                {.name = names[0],
                                 .weight_ratio = weight,
                                 .temperature = 0,
                                 .file = file,
                                 .points = {},
                                 .capture = {}}));
  if (tables.empty()) all.bad("it has no temperatures");
  return tables;
}

}  // namespace mc_app
