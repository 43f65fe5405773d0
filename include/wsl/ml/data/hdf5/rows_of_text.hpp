// SPDX-License-Identifier: MIT
// The fields of one example of text in HDF5, with the checks that every form of them has: each mistake is a
// file_error with the file, the dataset, the row and the place in it.
#pragma once
#include "examples.hpp"

namespace wsl::ml::detail {

/// The fields that readers of text take, of which some may be missing, and an example with them.
class text_rows {
 public:
  explicit text_rows(std::vector<std::string> files) : all_(std::move(files)) {}

  const hdf5_examples& all() const { return all_; }
  /// The length of a field. Throws file_error if it has no field of that name, or if another field has
  /// another length.
  int length_of(const char* name, std::initializer_list<const char*> alike) const {
    const hdf5_field& x = all_.field(name);
    for (const char* other : alike)
      if (const hdf5_field* y = all_.find(other); y && y->length != x.length)
        throw all_.error(0, fmt::format("'{}' are {} and '{}' {} numbers: each token has one of both", name,
                                        x.length, other, y->length));
    return static_cast<int>(x.length);
  }

  struct row {
    const hdf5_examples* all = nullptr;
    i64 which = 0;
    std::vector<i32> numbers = {};

    bool has(const char* name) const { return all->find(name); }
    std::span<const i32> operator[](const char* name) const {
      const hdf5_field& x = all->field(name);
      return std::span(numbers).subspan(static_cast<std::size_t>(x.at), static_cast<std::size_t>(x.length));
    }
    [[noreturn]] void wrong(const char* name, std::size_t at, const std::string& why) const {
      throw all->error(which, fmt::format("number {} of '{}' is {}{}", at, name, (*this)[name][at], why));
    }
    /// Numbers from 0 on, below a limit.
    void check_below(const char* name, i32 limit, const char* what) const {
      const std::span<const i32> x = (*this)[name];
      for (std::size_t i = 0; i < x.size(); ++i)
        if (x[i] < 0 || x[i] >= limit) wrong(name, i, fmt::format(", and {}", what));
    }
    /// A token of the vocabulary.
    void check_token(const char* name, std::size_t at, int vocabulary) const {
      const i32 id = (*this)[name][at];
      if (id < 0 || (vocabulary && id >= vocabulary))
        wrong(name, at,
              fmt::format(", none of the model's {}: take the vocabulary with which the data were made",
                          vocabulary ? fmt::format("{} tokens", vocabulary) : "tokens, from 0 on"));
    }
    void check_tokens(const char* name, int vocabulary) const {
      for (std::size_t i = 0; i < (*this)[name].size(); ++i) check_token(name, i, vocabulary);
    }
    void check_mask(const char* name) const {
      check_below(name, 2, "a mask is 0 or 1: write the data again");
    }
  };
  row read(i64 which) const {
    row r{.all = &all_, .which = which};
    r.numbers.resize(static_cast<std::size_t>(all_.size()));
    all_.read(which, r.numbers);
    return r;
  }

 private:
  hdf5_examples all_;
};

}  // namespace wsl::ml::detail
