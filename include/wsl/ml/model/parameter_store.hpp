// SPDX-License-Identifier: MIT
// The numbers of a model's parameters in training: in main memory, or in a file that the operating system
// maps, so that a model and its optimizer may be larger than the memory. The file has no name, and is gone
// when the process ends, in whatever way.
#pragma once
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "../../support/file_error.hpp"
#include "../../support/huge_array.hpp"
#include "weights.hpp"

namespace wsl::ml {

/// An array of zeros in a file that is mapped for reading and writing.
class mapped_array {
 public:
  /// Makes the file in a folder. Throws file_error if it cannot be made there, or has no room.
  mapped_array(std::size_t n, const std::string& folder) : bytes_(n * sizeof(f32)) {
    std::string name = folder + "/wsl-memory-XXXXXX";
    const int file = mkstemp(name.data());
    if (file < 0) throw error("cannot be made", folder, errno);
    unlink(name.c_str());
    // Without this the first write to a full disk would end the program.
    const int full = posix_fallocate(file, 0, static_cast<off_t>(bytes_));
    void* const at = full ? MAP_FAILED : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const int why = full ? full : errno;
    close(file);
    if (at == MAP_FAILED) throw error(fmt::format("of {} bytes cannot be had", bytes_), folder, why);
    numbers_ = static_cast<f32*>(at);
  }
  mapped_array(mapped_array&& other) noexcept
      : numbers_(std::exchange(other.numbers_, nullptr)), bytes_(other.bytes_) {}
  mapped_array& operator=(mapped_array&&) = delete;
  ~mapped_array() {
    if (numbers_) munmap(numbers_, bytes_);
  }
  f32* data() { return numbers_; }

 private:
  static support::file_error error(const std::string& what, const std::string& folder, int why) {
    return support::file_error(fmt::format(
        "wsl: a file for the memory {} in {}: {}: name a folder on a disk with room (memory_folder)", what,
        folder, std::strerror(why)));
  }
  f32* numbers_ = nullptr;
  std::size_t bytes_;
};

/// Arrays of given sizes side by side.
class array_store {
 public:
  /// Zeros, in main memory, or if a folder is given in a file there.
  explicit array_store(const std::vector<std::size_t>& sizes, const std::string& folder = {}) {
    for (std::size_t n : sizes) first_.push_back(first_.back() + n);
    const std::size_t all = std::max<std::size_t>(1, first_.back());
    if (folder.empty()) here_ = support::huge_array(all), numbers_ = here_.data();
    else numbers_ = file_.emplace(all, folder).data();
  }
  /// No arrays.
  array_store() = default;

  std::size_t size() const { return first_.size() - 1; }
  std::span<f32> operator[](std::size_t k) { return {numbers_ + first_[k], first_[k + 1] - first_[k]}; }
  std::span<const f32> operator[](std::size_t k) const {
    return {numbers_ + first_[k], first_[k + 1] - first_[k]};
  }

 private:
  std::vector<std::size_t> first_{0};  // first number of each array, and the end
  support::huge_array here_;
  std::optional<mapped_array> file_;
  f32* numbers_ = nullptr;
};

/// How the numbers of a parameter are had that lie elsewhere: all of them, row-major.
using numbers_elsewhere = std::function<std::span<f32>()>;

class parameter_store {
 public:
  /// Zeros, in main memory, or if a folder is given in a file there. If `keeps` is false, another process
  /// keeps the numbers and this store is empty.
  explicit parameter_store(const network& n, const std::string& folder = {}, bool keeps = true)
      : parameter_store(n, folder, keeps, false) {}
  /// The same for numbers beside the parameters that are not frozen: those that are have none.
  static parameter_store of_trained(const network& n, const std::string& folder = {}, bool keeps = true,
                                    std::vector<numbers_elsewhere> elsewhere = {}) {
    return {n, folder, keeps, true, std::move(elsewhere)};
  }
  /// The initial values of the parameters. The numbers of those that `elsewhere` has are there: it is empty,
  /// or has an entry for each parameter, empty for those that are here.
  parameter_store(const network& n, u64 seed, const std::string& folder = {}, bool keeps = true,
                  std::vector<numbers_elsewhere> elsewhere = {})
      : parameter_store(n, folder, keeps, false, std::move(elsewhere)) {
    for (std::size_t k = 0; k < size(); ++k) initialize((*this)[k], n.parameters()[k], seed_of(seed, k));
  }
  parameter_store(parameter_store&&) = default;
  parameter_store& operator=(parameter_store&&) = delete;

  /// Throws std::invalid_argument for weights of another model.
  parameter_store& operator=(const weights& w) {
    if (w.size() != size())
      throw std::invalid_argument(
          fmt::format("wsl: these weights are of another model: they have {} parameters, and this one has {}",
                      w.size(), size()));
    for (std::size_t k = 0; k < size(); ++k)
      if (w[k].size() != (*this)[k].size()) {
        const parameter& p = of_->parameters()[k];
        const auto [rows, columns] = w.rows_and_columns(k);
        throw std::invalid_argument(
            fmt::format("wsl: these weights are of another model: parameter {}, '{}', is {} x {} there, and "
                        "here {} x {}",
                        k, p.name, rows, columns, p.rows, p.columns));
      }
    for (std::size_t k = 0; k < size(); ++k) std::copy(w[k].begin(), w[k].end(), (*this)[k].begin());
    return *this;
  }
  operator weights() const {
    weights w(*of_);
    for (std::size_t k = 0; k < size(); ++k) std::copy((*this)[k].begin(), (*this)[k].end(), w[k].begin());
    return w;
  }
  std::size_t size() const { return arrays_.size(); }
  std::span<f32> operator[](std::size_t k) { return is_elsewhere(k) ? elsewhere_[k]() : arrays_[k]; }
  std::span<const f32> operator[](std::size_t k) const {
    return is_elsewhere(k) ? elsewhere_[k]() : arrays_[k];
  }

 private:
  parameter_store(const network& n, const std::string& folder, bool keeps, bool trained_only,
                  std::vector<numbers_elsewhere> elsewhere = {})
      : of_(&n),
        elsewhere_(std::move(elsewhere)),
        arrays_(keeps ? array_store(sizes_of(n, trained_only), folder) : array_store()) {}
  std::vector<std::size_t> sizes_of(const network& n, bool trained_only) const {
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < n.parameters().size(); ++k)
      all.push_back(is_elsewhere(k) || (trained_only && n.parameters()[k].frozen)
                        ? 0
                        : static_cast<std::size_t>(n.parameters()[k].size()));
    return all;
  }
  bool is_elsewhere(std::size_t k) const { return k < elsewhere_.size() && elsewhere_[k]; }

  const network* of_;
  std::vector<numbers_elsewhere> elsewhere_;
  array_store arrays_;
};

}  // namespace wsl::ml
