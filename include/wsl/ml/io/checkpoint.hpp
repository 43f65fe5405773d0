// SPDX-License-Identifier: MIT
// A training run on disk: named arrays (parameters and what the optimizer keeps of them) and facts in words
// (step, seed, place in the data, configuration), in one safetensors file that is there whole or not at all,
// with a checksum over the numbers.
//   checkpoints saved("model_dir", 3);                                      // the 3 newest stay
//   saved.save(t.steps(), named_arrays(t.state()), {{"configuration", yaml}});
//   checkpoint last(*saved.newest());
//   last.restore(named_arrays(t.state()));                                  // see examples/92_resume.cpp
#pragma once
#include <zlib.h>

#include <charconv>
#include <filesystem>

#include "../train/state.hpp"
#include "data_position.hpp"
#include "safetensors.hpp"

namespace wsl::ml {

/// An array by its name, as a view: to save from, or to restore into.
struct named_array {
  std::string name;
  std::vector<u64> shape;
  std::span<f32> numbers;
};

/// The arrays of a trainer's state.
inline std::vector<named_array> named_arrays(const std::vector<state_array>& state) {
  std::vector<named_array> all;
  for (const state_array& a : state)
    all.push_back({a.name, {static_cast<u64>(a.rows), static_cast<u64>(a.columns)}, a.numbers});
  return all;
}

namespace detail {

inline constexpr const char *checkpoint_form = "wsl.checkpoint", *checkpoint_step = "wsl.step",
                            *checkpoint_sum = "wsl.crc32", *checkpoint_facts_sum = "wsl.facts.crc32";

inline unsigned long checksum(unsigned long sum, const void* bytes, std::size_t size) {
  return ::crc32_z(sum, static_cast<const Bytef*>(bytes), size);
}

/// A sum over the facts, and the names and shapes of the tensors in the order of their names.
template <class Tensors>
std::string checksum_of_facts(const text_by_name& facts, const Tensors& tensors) {
  unsigned long sum = 0;
  // the length, too, so that no letter can move from one text to the next
  const auto add = [&](const std::string& text) {
    const u64 size = text.size();
    sum = checksum(checksum(sum, &size, sizeof size), text.data(), text.size());
  };
  for (const auto& [key, text] : facts)
    if (key != "format" && key != checkpoint_facts_sum) add(key), add(text);
  for (const auto& t : tensors) add(t.name), add(text_of(t.shape));
  return std::to_string(sum);
}

}  // namespace detail

/// The facts of a position in the data; checkpoint::place_in_data reads them.
inline void add_facts(text_by_name& to, const data_position& p) {
  to["data.seed"] = std::to_string(p.seed), to["data.epoch"] = std::to_string(p.epoch),
  to["data.example"] = std::to_string(p.example);
}

class checkpoint {
 public:
  /// Opens it and reads its facts. Throws file_error if it is no checkpoint, or not a whole one.
  explicit checkpoint(const std::string& name) : in_(name) {
    if (in_.text(detail::checkpoint_form) != "1")
      throw file_error("wsl: " + name + " is a checkpoint of form " + in_.text(detail::checkpoint_form) +
                       "; this program reads form 1");
  }

  const std::string& name() const { return in_.name(); }
  i64 step() const { return whole_number<i64>(detail::checkpoint_step); }
  const text_by_name& facts() const { return in_.metadata(); }
  /// Throws file_error if the fact is not there.
  const std::string& fact(const std::string& key) const { return in_.text(key); }
  /// A fact that is a whole number. Throws file_error if it is none.
  template <class T>
  T whole_number(const std::string& key) const {
    const std::string& text = fact(key);
    T n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc{} || end != text.data() + text.size())
      throw file_error("wsl: " + name() + ": '" + key + "' should be a whole number, not '" + text + "'");
    return n;
  }
  data_position place_in_data() const {
    return {whole_number<u64>("data.seed"), whole_number<i64>("data.epoch"),
            whole_number<i64>("data.example")};
  }

  /// Throws file_error if a byte of the facts or of the numbers is not as it was written.
  void require_undamaged() {
    if (const auto facts_sum = facts().find(detail::checkpoint_facts_sum);
        facts_sum != facts().end() && facts_sum->second != detail::checksum_of_facts(facts(), in_.tensors()))
      throw file_error("wsl: " + name() +
                       ": the header is damaged, its checksum is another: go on from an "
                       "earlier checkpoint");
    const std::string sum = std::to_string(in_.checksum(&detail::checksum));
    if (sum != fact(detail::checkpoint_sum))
      throw file_error("wsl: " + name() + ": the numbers are damaged, their checksum is " + sum + ", not " +
                       fact(detail::checkpoint_sum) + ": go on from an earlier checkpoint");
  }

  /// Fills the arrays. All of the file must have a place in them, and all of them a tensor in the file, of
  /// the same shape. Throws file_error that names the first ones that do not, or says that the numbers are
  /// damaged; then no array has changed.
  void restore(std::span<const named_array> arrays) {
    for (const named_array& a : arrays) in_.get(a.name, a.shape);
    for (const tensor_info& t : in_.tensors())
      if (std::none_of(arrays.begin(), arrays.end(), [&](const named_array& a) { return a.name == t.name; }))
        throw file_error("wsl: " + name() + " has a tensor '" + t.name +
                         "' for which there is no place: it is of another model, or of another optimizer");
    require_undamaged();
    for (const named_array& a : arrays) {
      const std::vector<f32> numbers = in_.numbers(a.name, a.shape);
      std::copy(numbers.begin(), numbers.end(), a.numbers.begin());
    }
  }

 private:
  safetensors_file in_;
};

/// The checkpoints of a run: files checkpoint_<step>.safetensors in a folder.
class checkpoints {
 public:
  /// Of which the `keep` newest stay; 0: all.
  explicit checkpoints(std::string folder, int keep = 0) : folder_(std::move(folder)), keep_(keep) {
    if (keep < 0)
      throw std::invalid_argument("wsl: 0 or more checkpoints are kept, not " + std::to_string(keep));
  }

  /// Writes a checkpoint and returns its file's name. Older ones go only when it is on the disk. Throws
  /// std::runtime_error, with the system's reason, if it cannot be written; the others stay as they are.
  std::string save(i64 step, std::span<const named_array> arrays, text_by_name facts) const {
    std::filesystem::create_directories(folder_);
    std::vector<tensor_view> tensors;
    for (const named_array& a : arrays)
      tensors.emplace_back(a.name, a.shape, std::span<const f32>(a.numbers));
    std::sort(tensors.begin(), tensors.end(),
              [](const tensor_view& a, const tensor_view& b) { return a.name < b.name; });
    unsigned long sum = 0;
    for (const tensor_view& t : tensors) sum = detail::checksum(sum, t.bytes.data(), t.bytes.size());
    facts[detail::checkpoint_form] = "1", facts[detail::checkpoint_step] = std::to_string(step),
    facts[detail::checkpoint_sum] = std::to_string(sum);
    facts[detail::checkpoint_facts_sum] = detail::checksum_of_facts(facts, tensors);
    const std::string name = name_of(step);
    write_safetensors(name, std::move(tensors), std::move(facts));
    forget_oldest(step);
    return name;
  }

  /// The steps of which there are files, whole or not, from the first to the last.
  std::vector<i64> steps() const {
    std::vector<i64> all;
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator(folder_, none)) {
      const std::string name = file.path().filename().string();
      constexpr std::string_view begin = "checkpoint_", end = ".safetensors";
      if (!name.starts_with(begin) || !name.ends_with(end)) continue;
      i64 step = 0;
      const char *first = name.data() + begin.size(), *last = name.data() + name.size() - end.size();
      if (const auto r = std::from_chars(first, last, step);
          r.ec == std::errc{} && r.ptr == last && step >= 0)
        all.push_back(step);
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  /// The newest that is whole and undamaged, if there is one: all of it is read. `refused`, if given, gets a
  /// sentence for each newer file that is not.
  std::optional<std::string> newest(std::vector<std::string>* refused = nullptr) const {
    const std::vector<i64> all = steps();
    for (auto step = all.rbegin(); step != all.rend(); ++step) try {
        checkpoint c(name_of(*step));
        c.require_undamaged();
        if (c.step() == *step) return c.name();
        throw file_error("wsl: " + name_of(*step) + " is of another step than its name says");
      } catch (const file_error& e) {
        if (refused) refused->push_back(e.what());
      }
    return {};
  }

 private:
  std::string name_of(i64 step) const {
    return folder_ + "/checkpoint_" + std::to_string(step) + ".safetensors";
  }
  // Those of later steps are of another life of the run, and stay.
  void forget_oldest(i64 newest) const {
    if (!keep_) return;
    std::vector<i64> all = steps();
    std::erase_if(all, [&](i64 s) { return s > newest; });
    for (std::size_t i = 0; i + static_cast<std::size_t>(keep_) < all.size(); ++i)
      std::filesystem::remove(name_of(all[i]));
  }

  std::string folder_;
  int keep_;
};

}  // namespace wsl::ml
