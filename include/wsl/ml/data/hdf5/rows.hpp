// SPDX-License-Identifier: MIT
// A dataset of whole numbers in an HDF5 file, read in rows of its first axis by
// any number of threads. The file is not trusted: room is made for what it can have, and every mistake is a
// file_error with the file, the dataset, the row and the remedy.
//   const hdf5_rows x("data-1.h5", "data");       // say of shape (2000, 3, 2048)
//   x.read(17, 1, to);                            // the 3 x 2048 numbers of row 17
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../../io/input_file.hpp"
#include "chunk_cache.hpp"
#include "filters.hpp"
#include "library.hpp"

namespace wsl::ml {

/// "2000, 3, 2048"
template <class T>
std::string shape_text(const std::vector<T>& sizes) {
  std::string all;
  for (const T& x : sizes) all += fmt::format("{}{}", all.empty() ? "" : ", ", x);
  return all;
}

/// Throws file_error for something in a dataset.
[[noreturn]] inline void bad_hdf5(const std::string& file, const std::string& dataset,
                                  const std::string& what) {
  throw file_error(fmt::format("wsl: {}, dataset '{}': {}", file, dataset, what));
}

/// Opens a file to read it; the lock that libhdf5 takes is not taken, which some file systems lack. The
/// caller holds the gate. Throws file_error.
inline hdf5_id open_hdf5(const std::string& name) {
  if (input_file in(name);
      in.size() >= 8 && is_git_lfs_pointer(in.take_text(std::min<u64>(in.size(), 64), "")))
    throw file_error(fmt::format("wsl: {}: {}", name, git_lfs_remedy));
  const hdf5_id how(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(how.get(), false, true);
#endif
  hdf5_id file(H5Fopen(name.c_str(), H5F_ACC_RDONLY, how.get()), &H5Fclose);
  if (!file)
    throw file_error(fmt::format(
        "wsl: {}: this is no whole file of HDF5 (libhdf5: {}): it is of another kind, cut short or damaged; "
        "make or fetch it again",
        name, hdf5_reason()));
  return file;
}

class hdf5_rows {
 public:
  /// Looks at a dataset. Throws file_error if the file cannot be read, has no dataset of that name, or one
  /// that is not of whole numbers with at least one axis. Chunks that others may want soon are kept in the
  /// cache.
  hdf5_rows(std::string file, std::string name,
            std::shared_ptr<chunk_cache> cache = std::make_shared<chunk_cache>())
      : file_(std::move(file)), name_(std::move(name)), cache_(std::move(cache)) {
    const hdf5_gate gate;
    bytes_of_file_ = input_file(file_).size();
    const std::shared_ptr<opened> x = now_open();
    take_shape(*x), take_type(*x), take_storage(*x);
  }

  const std::string& file() const { return file_; }
  const std::string& name() const { return name_; }
  const std::vector<i64>& shape() const { return shape_; }
  i64 count() const { return shape_.front(); }
  /// The numbers of a row.
  i64 row() const { return row_; }
  /// "i4 (2000, 3, 2048), gzip, in chunks of (1, 3, 2048)"
  std::string about() const {
    return fmt::format("{}{} ({}){}", is_signed_ ? 'i' : 'u', size_, shape_text(shape_), storage_);
  }

  /// Reads rows; there is room for count x row() numbers. Throws file_error for one that cannot be read, or
  /// that has a number beyond 32 bits. May be called by several threads at a time.
  void read(i64 first, i64 count, std::span<i32> to) const {
    if (first < 0 || count < 0 || first > this->count() - count)
      throw std::invalid_argument(fmt::format("wsl: {}, dataset '{}' has {} rows, not those from {} to {}",
                                              file_, name_, this->count(), first, first + count));
    if (count == 0 || row_ == 0) return;
    if (chunk_.empty()) return by_library(first, count, to);
    // Chunk after chunk of those that the rows touch.
    const std::size_t axes = shape_.size();
    std::vector<i64> at(axes, 0), begin(axes, 0), end(axes);
    for (std::size_t a = 0; a < axes; ++a) end[a] = (shape_[a] - 1) / chunk_[a];
    begin[0] = first / chunk_[0], end[0] = (first + count - 1) / chunk_[0];
    at = begin;
    while (true) {
      copy_chunk(at, first, count, to);
      std::size_t a = axes;
      while (a-- > 0 && at[a] == end[a]) at[a] = begin[a];
      if (a == std::size_t(-1)) return;
      ++at[a];
    }
  }
  /// Throws file_error for something in a row.
  [[noreturn]] void bad_row(i64 which, const std::string& what) const {
    throw file_error(fmt::format("wsl: {}, dataset '{}', row {}: {}", file_, name_, which, what));
  }

 private:
  struct opened {
    hdf5_id file, set;
  };

  [[noreturn]] void bad(const std::string& what) const { bad_hdf5(file_, name_, what); }

  std::shared_ptr<opened> open() const {
    auto x = std::make_shared<opened>();
    x->file = open_hdf5(file_);
    // A link to another file could name any.
    H5L_info_t link;
    if (H5Lexists(x->file.get(), name_.c_str(), H5P_DEFAULT) <= 0 ||
        H5Lget_info(x->file.get(), name_.c_str(), &link, H5P_DEFAULT) < 0)
      bad("there is none of this name: `wsl-data inspect` says what the file has");
    if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT)
      bad("it is a link to another file: name that file instead");
    x->set = hdf5_id(H5Dopen2(x->file.get(), name_.c_str(), H5P_DEFAULT), &H5Dclose);
    if (!x->set)
      bad(fmt::format("it cannot be opened (libhdf5: {}): the file is damaged, or this is a group",
                      hdf5_reason()));
    return x;
  }
  /// Of all datasets those that were opened lately are open, until nothing reads them any more.
  static std::list<std::shared_ptr<opened>>& lately() {
    static std::list<std::shared_ptr<opened>> all;
    return all;
  }
  struct open_place {
    std::weak_ptr<opened> now;

    open_place() = default;
    open_place(const open_place&) = delete;
    open_place& operator=(const open_place&) = delete;
    ~open_place() {
      const hdf5_gate gate;
      if (const auto x = now.lock()) lately().remove(x);
    }
  };
  std::shared_ptr<opened> now_open() const {
    if (auto x = open_->now.lock()) return x;
    auto x = open();
    open_->now = x;
    lately().push_back(x);
    constexpr std::size_t most = 256;  // fewer than a process may have open
    if (lately().size() > most) lately().pop_front();
    return x;
  }

  void take_shape(const opened& x) {
    const hdf5_id space(H5Dget_space(x.set.get()), &H5Sclose);
    const int axes = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
    if (axes < 1 || axes > H5S_MAX_RANK) bad("it has no rows: a dataset of examples has at least one axis");
    std::vector<hsize_t> sizes(static_cast<std::size_t>(axes));
    H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
    u64 all = 1;
    for (const hsize_t n : sizes) {
      if (n > (u64{1} << 48) || (n && all > (u64{1} << 60) / n))
        bad(fmt::format("a shape of ({}) is more than a file can have: the file is damaged",
                        shape_text(sizes)));
      all *= std::max<u64>(n, 1);
      shape_.push_back(static_cast<i64>(n));
    }
    row_ = 1;
    for (std::size_t a = 1; a < shape_.size(); ++a) row_ *= shape_[a];
  }

  void take_type(const opened& x) {
    hdf5_id type(H5Dget_type(x.set.get()), &H5Tclose);
    H5T_class_t kind = type ? H5Tget_class(type.get()) : H5T_NO_CLASS;
    if (kind == H5T_ENUM) {  // true and false of h5py
      type = hdf5_id(H5Tget_super(type.get()), &H5Tclose);
      kind = type ? H5Tget_class(type.get()) : H5T_NO_CLASS;
    }
    if (kind != H5T_INTEGER)
      bad(fmt::format("its numbers are {}, and whole ones are read here: write them with dtype 'i4'",
                      kind == H5T_FLOAT ? "floating-point ones" : "none"));
    size_ = H5Tget_size(type.get());
    is_signed_ = H5Tget_sign(type.get()) == H5T_SGN_2;
    is_swapped_ = H5Tget_order(type.get()) == H5T_ORDER_BE && size_ > 1;
    const bool is_plain = H5Tget_precision(type.get()) == 8 * size_ && H5Tget_offset(type.get()) == 0;
    if (!is_plain || (size_ != 1 && size_ != 2 && size_ != 4 && size_ != 8))
      bad("its numbers have an unusual number of bits: write them with dtype 'i4'");
  }

  void take_storage(const opened& x) {
    const hdf5_id how(H5Dget_create_plist(x.set.get()), &H5Pclose);
    if (!how)
      bad(fmt::format("how it is stored cannot be read (libhdf5: {}): the file is damaged", hdf5_reason()));
    const H5D_layout_t layout = H5Pget_layout(how.get());
    if (layout == H5D_VIRTUAL || H5Pget_external_count(how.get()) > 0)
      bad("its numbers are in other files: copy them into one, for instance with h5repack");
    // Deflate makes at most 1032 bytes of one.
    constexpr u64 most_of_deflate = 1032, always = u64{1} << 16;
    const u64 most = bytes_of_file_ * most_of_deflate + always;
    if (static_cast<u64>(row_) > most / size_)
      bad(fmt::format("a shape of ({}) is more than a file of {} bytes can have: the file is damaged",
                      shape_text(shape_), bytes_of_file_));
    if (layout != H5D_CHUNKED) {
      if (layout == H5D_CONTIGUOUS &&
          static_cast<u64>(count()) * static_cast<u64>(row_) > bytes_of_file_ / size_)
        bad(
            fmt::format("a shape of ({}) is more than a file of {} bytes can have: it is cut short, make or "
                        "fetch it again",
                        shape_text(shape_), bytes_of_file_));
      return;
    }
    std::vector<hsize_t> chunk(shape_.size());
    if (H5Pget_chunk(how.get(), static_cast<int>(chunk.size()), chunk.data()) !=
        static_cast<int>(chunk.size()))
      bad("its chunks have another number of axes: the file is damaged");
    u64 numbers = 1;
    for (const hsize_t n : chunk) {
      if (n == 0 || n > most / size_ / numbers)
        bad(fmt::format("chunks of ({}) are more than a file of {} bytes can have: the file is damaged",
                        shape_text(chunk), bytes_of_file_));
      numbers *= n;
      chunk_.push_back(static_cast<i64>(n));
    }
    numbers_of_chunk_ = numbers;
    std::string words;
    const int filters = H5Pget_nfilters(how.get());
    for (int k = 0; k < filters; ++k) {
      unsigned flags = 0, config = 0;
      std::size_t values = 0;
      const H5Z_filter_t id =
          H5Pget_filter2(how.get(), static_cast<unsigned>(k), &flags, &values, nullptr, 0, nullptr, &config);
      const bool is_deflate = id == H5Z_FILTER_DEFLATE, is_shuffle = id == H5Z_FILTER_SHUFFLE;
      filters_.push_back(is_deflate   ? hdf5_filter::deflate
                         : is_shuffle ? hdf5_filter::shuffle
                                      : hdf5_filter::other);
      words += is_deflate                    ? ", gzip"
               : is_shuffle                  ? ", shuffle"
               : id == H5Z_FILTER_FLETCHER32 ? ", fletcher32"
                                             : fmt::format(", filter {}", id);
    }
    storage_ = fmt::format("{}, in chunks of ({})", words, shape_text(chunk_));
  }

  bool has_other_filters() const {
    return std::find(filters_.begin(), filters_.end(), hdf5_filter::other) != filters_.end();
  }

  /// Reads rows by libhdf5, which takes the filters back itself.
  void by_library(i64 first, i64 count, std::span<i32> to) const {
    std::vector<hsize_t> from(shape_.size(), 0), size(shape_.begin(), shape_.end());
    from[0] = static_cast<hsize_t>(first), size[0] = static_cast<hsize_t>(count);
    block(from, size, first, to);
  }
  void block(const std::vector<hsize_t>& from, const std::vector<hsize_t>& size, i64 first,
             std::span<i32> to) const {
    // libhdf5 makes the largest number of what is larger, so that numbers of 32 bits without a sign and those
    // of 64 bits are looked at here.
    const bool fits = size_ < 4 || (size_ == 4 && is_signed_);
    std::vector<i64> wide(fits ? 0 : to.size());
    {
      const hdf5_gate gate;
      const std::shared_ptr<opened> x = now_open();
      const hdf5_id in(H5Dget_space(x->set.get()), &H5Sclose);
      const hsize_t numbers = to.size();
      const hdf5_id out(H5Screate_simple(1, &numbers, nullptr), &H5Sclose);
      const bool chosen =
          in && H5Sget_simple_extent_ndims(in.get()) == static_cast<int>(shape_.size()) &&
          H5Sselect_hyperslab(in.get(), H5S_SELECT_SET, from.data(), nullptr, size.data(), nullptr) >= 0;
      if (!chosen ||
          (fits ? H5Dread(x->set.get(), H5T_NATIVE_INT32, out.get(), in.get(), H5P_DEFAULT, to.data())
                : H5Dread(x->set.get(), H5T_NATIVE_INT64, out.get(), in.get(), H5P_DEFAULT, wide.data())) < 0)
        bad_row(first, fmt::format("it cannot be read (libhdf5: {}): the file is damaged, cut short or has "
                                   "filters that are not installed; make or fetch it again",
                                   hdf5_reason()));
    }
    if (fits) return;
    for (std::size_t i = 0; i < wide.size(); ++i) to[i] = narrow(wide[i], first, i);
  }
  i32 narrow(i64 x, i64 first, std::size_t i) const {
    if (x != static_cast<i32>(x))
      bad_row(first + static_cast<i64>(i) / std::max<i64>(row_, 1),
              fmt::format("{} has more than 32 bits, and is no token", x));
    return static_cast<i32>(x);
  }

  /// Copies what rows [first, first + count) have of the chunk with number `at` on each axis.
  void copy_chunk(const std::vector<i64>& at, i64 first, i64 count, std::span<i32> to) const {
    const std::size_t axes = shape_.size();
    // The part of the chunk that is wanted: its begin in the dataset, and its size.
    std::vector<i64> begin(axes), size(axes);
    for (std::size_t a = 0; a < axes; ++a) {
      begin[a] = at[a] * chunk_[a];
      size[a] = std::min(chunk_[a], shape_[a] - begin[a]);
    }
    const i64 of_chunk = begin[0];
    begin[0] = std::max(of_chunk, first);
    size[0] = std::min(of_chunk + chunk_[0], first + count) - begin[0];
    const bool is_whole = chunk_[0] == 1 && std::equal(chunk_.begin() + 1, chunk_.end(), shape_.begin() + 1);
    if (is_whole)
      return unpack(at, to.subspan(static_cast<std::size_t>((begin[0] - first) * row_),
                                   static_cast<std::size_t>(row_)));
    i64 number = 0;
    for (std::size_t a = 0; a < axes; ++a) number = number * ((shape_[a] - 1) / chunk_[a] + 1) + at[a];
    const chunk_cache::numbers chunk = cache_->get({id_, number}, [&] {
      auto all = std::make_shared<std::vector<i32>>(static_cast<std::size_t>(checked_chunk(at)));
      unpack(at, *all);
      return all;
    });
    // Line after line of the last axis.
    const std::size_t last = axes - 1;
    std::vector<i64> i(axes, 0);
    while (true) {
      i64 from = 0, where = 0;
      for (std::size_t a = 0; a < axes; ++a) {
        const i64 in_set = begin[a] + i[a];
        from = from * chunk_[a] + (in_set - at[a] * chunk_[a]);
        where = where * (a == 0 ? count : shape_[a]) + (a == 0 ? in_set - first : in_set);
      }
      std::copy_n(chunk->begin() + from, axes == 1 ? size[0] : size[last], to.begin() + where);
      std::size_t a = last;
      while (a-- > 0 && i[a] + 1 == size[a]) i[a] = 0;
      if (a == std::size_t(-1)) return;
      ++i[a];
    }
  }

  std::vector<hsize_t> place_of(const std::vector<i64>& at) const {
    std::vector<hsize_t> place(at.size());
    for (std::size_t a = 0; a < at.size(); ++a) place[a] = static_cast<hsize_t>(at[a] * chunk_[a]);
    return place;
  }
  /// The stored bytes of a chunk, before room is made for its numbers. The caller holds the gate.
  hsize_t stored(const opened& x, const std::vector<hsize_t>& place) const {
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(x.set.get(), place.data(), &bytes) < 0 || bytes == 0)
      bad_row(static_cast<i64>(place[0]),
              "its chunk is not there: the file was not written to its end, make or fetch it again");
    if (bytes > bytes_of_file_)
      bad_row(static_cast<i64>(place[0]),
              fmt::format("its chunk has {} bytes, the file {}: the file is damaged", bytes, bytes_of_file_));
    return bytes;
  }
  /// The numbers of a chunk, if it can have them.
  u64 checked_chunk(const std::vector<i64>& at) const {
    const hdf5_gate gate;
    const std::vector<hsize_t> place = place_of(at);
    const hsize_t bytes = stored(*now_open(), place);
    if (!has_other_filters() && numbers_of_chunk_ * size_ > bytes * 1032 + 64)
      bad_row(static_cast<i64>(place[0]),
              fmt::format("its chunk has {} bytes, too few for {} numbers: the file is damaged", bytes,
                          numbers_of_chunk_));
    return numbers_of_chunk_;
  }

  void unpack(const std::vector<i64>& at, std::span<i32> to) const {
    const std::vector<hsize_t> place = place_of(at);
    const i64 first = static_cast<i64>(place[0]);
    if (has_other_filters()) return unpack_by_library(place, to);
    std::vector<u8> bytes;
    u32 left_out = 0;
    {
      const hdf5_gate gate;
      const std::shared_ptr<opened> x = now_open();
      bytes.resize(stored(*x, place));
      if (H5Dread_chunk(x->set.get(), H5P_DEFAULT, place.data(), &left_out, bytes.data()) < 0)
        bad_row(first,
                fmt::format("its chunk cannot be read (libhdf5: {}): the file is damaged or cut short, "
                            "make or fetch it again",
                            hdf5_reason()));
    }
    if (const std::string wrong = unpack_hdf5_chunk(
            bytes, filters_, left_out, static_cast<std::size_t>(numbers_of_chunk_) * size_, size_);
        !wrong.empty())
      bad_row(first, fmt::format("its chunk is damaged: {}; make or fetch the file again", wrong));
    convert(bytes, first, to);
  }
  /// The chunk with its edges, which libhdf5 leaves out.
  void unpack_by_library(const std::vector<hsize_t>& place, std::span<i32> to) const {
    std::vector<hsize_t> size(place.size());
    u64 numbers = 1;
    for (std::size_t a = 0; a < place.size(); ++a) {
      size[a] = std::min(static_cast<hsize_t>(chunk_[a]), static_cast<hsize_t>(shape_[a]) - place[a]);
      numbers *= size[a];
    }
    std::vector<i32> part(static_cast<std::size_t>(numbers));
    {
      const hdf5_gate gate;
      stored(*now_open(), place);
    }
    block(place, size, static_cast<i64>(place[0]), part);
    const std::size_t last = place.size() - 1;
    for (u64 i = 0; i < numbers; i += size[last]) {
      u64 left = i / size[last], where = 0, by = static_cast<u64>(chunk_[last]);
      for (std::size_t a = last; a-- > 0;) {
        where += left % size[a] * by;
        left /= size[a], by *= static_cast<u64>(chunk_[a]);
      }
      std::copy_n(part.begin() + static_cast<std::ptrdiff_t>(i), size[last],
                  to.begin() + static_cast<std::ptrdiff_t>(where));
    }
  }

  template <class T>
  void convert_as(const std::vector<u8>& bytes, i64 first, std::span<i32> to) const {
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::array<u8, sizeof(T)> b;
      std::memcpy(b.data(), bytes.data() + i * sizeof(T), sizeof(T));
      if (is_swapped_) std::reverse(b.begin(), b.end());
      const T x = std::bit_cast<T>(b);
      if constexpr (sizeof(T) < 4 || std::is_same_v<T, i32>) to[i] = static_cast<i32>(x);
      else if (std::cmp_greater(x, std::numeric_limits<i32>::max()) ||
               std::cmp_less(x, std::numeric_limits<i32>::min()))
        bad_row(first + static_cast<i64>(i / (numbers_of_chunk_ / static_cast<u64>(chunk_[0]))),
                fmt::format("{} has more than 32 bits, and is no token", x));
      else to[i] = static_cast<i32>(x);
    }
  }
  void convert(const std::vector<u8>& bytes, i64 first, std::span<i32> to) const {
    if (size_ == 4 && is_signed_ && !is_swapped_) {
      std::memcpy(to.data(), bytes.data(), to.size() * 4);
      return;
    }
    switch (size_) {
      case 1: return is_signed_ ? convert_as<i8>(bytes, first, to) : convert_as<u8>(bytes, first, to);
      case 2: return is_signed_ ? convert_as<i16>(bytes, first, to) : convert_as<u16>(bytes, first, to);
      case 4: return is_signed_ ? convert_as<i32>(bytes, first, to) : convert_as<u32>(bytes, first, to);
      default: return is_signed_ ? convert_as<i64>(bytes, first, to) : convert_as<u64>(bytes, first, to);
    }
  }

  static u64 next_id() {
    static std::atomic<u64> last = 0;
    return ++last;
  }

  std::string file_, name_, storage_;
  u64 id_ = next_id();  // by which the cache tells datasets apart
  std::shared_ptr<chunk_cache> cache_;
  u64 bytes_of_file_ = 0, numbers_of_chunk_ = 0;
  std::vector<i64> shape_, chunk_;
  i64 row_ = 1;
  std::size_t size_ = 4;
  bool is_signed_ = true, is_swapped_ = false;
  std::vector<hdf5_filter> filters_;
  std::shared_ptr<open_place> open_ = std::make_shared<open_place>();
};

}  // namespace wsl::ml
