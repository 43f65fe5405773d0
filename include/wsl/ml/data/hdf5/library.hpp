// SPDX-License-Identifier: MIT
// Every use of libhdf5 needs these: its calls one at a time, for the library is not safe for threads as it is
// usually built; its numbers for open things, which are closed; and its reasons, where a call fails.
//   const hdf5_gate gate;   // a program's own calls of libhdf5 beside those of wsl take the same gate
#pragma once
#include <fmt/format.h>
#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

#include "../../../support/file_error.hpp"

namespace wsl::ml {

/// Holds off all other threads that read or write HDF5 by wsl, and keeps libhdf5 from printing its errors. A
/// thread may hold several at a time.
class hdf5_gate {
 public:
  hdf5_gate() : lock_(all()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  hdf5_gate(const hdf5_gate&) = delete;
  hdf5_gate& operator=(const hdf5_gate&) = delete;
  ~hdf5_gate() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

 private:
  static std::recursive_mutex& all() {
    static std::recursive_mutex one;
    return one;
  }

  std::unique_lock<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// Something that libhdf5 has opened, closed when its owner goes; below 0: nothing.
class hdf5_id {
 public:
  hdf5_id() = default;
  hdf5_id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  hdf5_id(hdf5_id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  hdf5_id& operator=(hdf5_id&& other) noexcept {
    std::swap(id_, other.id_), std::swap(close_, other.close_);
    return *this;
  }
  ~hdf5_id() {
    if (id_ < 0) return;
    const hdf5_gate gate;
    close_(id_);
  }

  explicit operator bool() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

/// Why the last call of libhdf5 failed, in its own words. The caller holds the gate.
inline std::string hdf5_reason() {
  std::string first;
  const auto take = [](unsigned, const H5E_error2_t* e, void* to) -> herr_t {
    auto& text = *static_cast<std::string*>(to);
    if (text.empty() && e->desc) text = e->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, +take, &first);
  return first.empty() ? "no reason is given" : first;
}

}  // namespace wsl::ml
