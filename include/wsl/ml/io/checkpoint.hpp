// SPDX-License-Identifier: MIT
// A checkpoint is a training state on disk: named arrays (parameters and what the optimizer keeps) and
// metadata as text (step, seed, position in the data, configuration). It is one safetensors file with a
// checksum over the numbers, which exists completely or not at all.
//   checkpoints saved("model_dir", 3);                     // keeps the 3 newest
//   saved.save(t.steps(), arrays, {{"configuration", yaml}});
//   checkpoint last(*saved.newest());
//   last.restore(arrays);
// run/checkpointing.hpp saves and loads a trainer by these.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <optional>

#include "safetensors.hpp"

namespace wsl::ml {

/// A named view of an array, to save it or to restore it.
struct named_array {
  std::string name;
  std::vector<u64> shape;
  std::span<f32> numbers;
};

/// The places of a sparse array that may be other than zero, with the name and shape of the array: 1 there,
/// and 0 elsewhere. In the file it is a tensor of the type BOOL, with "_mask" after the array's name.
struct named_mask {
  static constexpr std::string_view suffix = "_mask";

  std::string name;
  std::vector<u64> shape;
  std::vector<u8> places;
};

namespace detail {

inline constexpr const char *checkpoint_form = "wsl.checkpoint", *checkpoint_step = "wsl.step",
                            *checkpoint_sum = "wsl.crc32", *checkpoint_facts_sum = "wsl.facts.crc32";

}  // namespace detail

class checkpoint {
 public:
  /// Opens a checkpoint and reads its facts. Throws file_error if the file is no checkpoint, or incomplete.
  explicit checkpoint(const std::string& name);

  const std::string& name() const { return in_.name(); }
  i64 step() const { return whole_number<i64>(detail::checkpoint_step); }
  const text_by_name& facts() const { return in_.metadata(); }
  /// The fact of that name. Throws file_error if there is none.
  const std::string& fact(const std::string& key) const { return in_.text(key); }
  /// A fact as a whole number. Throws file_error if it is something else.
  template <class T>
  T whole_number(const std::string& key) const {
    return number<T>(key, "whole number");
  }
  /// A fact as a number of any type. Throws file_error if it is something else.
  template <class T>
  T number(const std::string& key, const char* what = "number") const {
    const std::string& text = fact(key);
    T n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc{} || end != text.data() + text.size())
      throw file_error(fmt::format("wsl: {}: '{}' should be a {}, not '{}'", name(), key, what, text));
    return n;
  }

  /// Throws file_error if a byte of the facts or of the numbers is not as it was written.
  void require_undamaged();

  /// The names and shapes of its tensors.
  const std::vector<tensor_info>& tensors() const { return in_.tensors(); }
  /// Whether there is a tensor of that name.
  bool has(std::string_view name) const;
  /// The names of the arrays that have masks.
  std::vector<std::string> masked() const;
  /// The mask of an array. Throws file_error if it has none of that shape.
  std::vector<u8> mask_of(const std::string& array, const std::vector<u64>& shape);
  /// Requires that arrays and tensors of the file correspond one to one, in name and shape; but the file may
  /// have more for an array, whose names are the array's with a suffix after it that `leaves_out` accepts.
  /// Throws file_error that names the first that does not, or says that the file is damaged. Only names and
  /// shapes of the arrays are read.
  void require(std::span<const named_array> arrays,
               const std::function<bool(std::string_view suffix)>& leaves_out = {});
  /// Fills the arrays. Throws what `require` throws; then no array has changed.
  void restore(std::span<const named_array> arrays,
               const std::function<bool(std::string_view suffix)>& leaves_out = {});

 private:
  safetensors_file in_;
};

/// The checkpoints of a run: files checkpoint_<step>.safetensors in a folder.
class checkpoints {
 public:
  /// Keeps the `keep` newest checkpoints; 0 keeps all. Throws std::invalid_argument if it is negative.
  explicit checkpoints(std::string folder, int keep = 0);

  /// Writes a checkpoint, with the masks of sparse arrays, and returns the name of its file. Older ones are
  /// removed only when it is on the disk. Throws file_error, with the system's reason, if it cannot be
  /// written; then the others stay.
  std::string save(i64 step, std::span<const named_array> arrays, text_by_name facts,
                   std::span<const named_mask> masks = {}) const;

  /// The steps of which there are files, complete or not, in ascending order.
  std::vector<i64> steps() const;
  /// The file of a step.
  std::string name_of(i64 step) const;
  /// The newest complete and undamaged checkpoint, if there is one: all of it is read. `rejected`, if given,
  /// gets a sentence for each newer file that is not.
  std::optional<std::string> newest(std::vector<std::string>* rejected = nullptr) const;

 private:
  // Checkpoints of later steps are from a run that has been taken back, and stay.
  void remove_oldest(i64 newest) const;

  std::string folder_;
  int keep_;
};

}  // namespace wsl::ml

#ifndef WSL_ML_DATA_COMPILED
#include "safetensors/checkpoints.hpp"
#endif
