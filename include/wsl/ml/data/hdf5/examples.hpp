// SPDX-License-Identifier: MIT
// Examples of named numbers in HDF5 files, in the forms in which the Cerebras Model Zoo writes them:
//   data (n, 3, length)                 rows are input_ids, attention_mask (the mask of the loss), labels, or
//                                       what data_params.json beside the files lists as `features`
//   data (n, 5, length)                 also attention_span and position_ids, of packed documents
//   data_0 (n, k, length), data_1, ...  with `data_0_features` and so on in data_params.json
//   input_ids (n, length), labels, ...  one dataset a name
//   data (n, 2, length), labels (n, 3, m) of BERT (masked.hpp); and example_0, example_1, ... of (3, length)
#pragma once
#include "files.hpp"

namespace wsl::ml {

/// The numbers of an example that have a name.
struct hdf5_field {
  std::string name;
  i64 at = 0, length = 0;  ///< their place among the numbers of an example
};

class hdf5_examples {
 public:
  /// Looks at all files. Throws file_error for one that has no examples, or others than the first.
  explicit hdf5_examples(std::vector<std::string> files) : files_(std::move(files)) {
    const auto cache = std::make_shared<chunk_cache>();
    for (const std::string& name : files_) {
      part p{.file = name, .sets = {}, .begin = count_};
      const std::vector<std::string> all = hdf5_datasets(name);
      std::vector<hdf5_field> fields;
      i64 numbers = 0;
      const auto add = [&](const std::string& set, std::vector<std::string> names) {
        const hdf5_rows& x = p.sets.emplace_back(name, set, cache);
        add_fields(x, std::move(names), fields, numbers);
      };
      if (all.empty())
        throw file_error(
            fmt::format("wsl: {}: the file has no datasets outside of groups: make examples of text "
                        "with `wsl-data convert`",
                        name));
      p.is_old = is_in(all, "example_0");
      if (p.is_old) take_old(p, all, cache, fields, numbers);
      else if (is_in(all, "data")) {
        const bool of_bert = is_in(all, "labels");
        add("data", names_of_data(name, of_bert));
        if (of_bert) add("labels", {"labels", "masked_lm_positions", "masked_lm_mask"});
        if (is_in(all, "next_sentence_label")) add("next_sentence_label", {"next_sentence_label"});
      } else if (is_in(all, "data_0")) {
        const nlohmann::json params = hdf5_params(name);
        for (int k = 0; is_in(all, fmt::format("data_{}", k)); ++k) {
          const std::string set = fmt::format("data_{}", k);
          std::vector<std::string> names = names_in_params(params, set + "_features", name);
          if (names.empty())
            bad_hdf5(name, set,
                     fmt::format("what its rows are nobody says: data_params.json beside it has "
                                 "'{}_features', a list of names",
                                 set));
          add(set, std::move(names));
        }
      } else {
        for (const std::string& set : all) add(set, {set});
      }
      p.count = p.is_old ? static_cast<i64>(p.sets.size()) : p.sets.front().count();
      check_part(p, fields, numbers);
      count_ += p.count;
      parts_.push_back(std::move(p));
    }
    if (count_ == 0)
      throw file_error(
          fmt::format("wsl: {}: there are no examples in it", files_.empty() ? "no file" : files_.front()));
  }

  i64 count() const { return count_; }
  /// The examples of a file; 0 if it is none of these.
  i64 count_in(const std::string& file) const {
    const auto at = std::find_if(parts_.begin(), parts_.end(), [&](const part& p) { return p.file == file; });
    return at == parts_.end() ? 0 : at->count;
  }
  const std::vector<std::string>& files() const { return files_; }
  const std::vector<hdf5_field>& fields() const { return fields_; }
  /// The field of a name; none if there is none.
  const hdf5_field* find(std::string_view name) const {
    const auto at =
        std::find_if(fields_.begin(), fields_.end(), [&](const hdf5_field& x) { return x.name == name; });
    return at == fields_.end() ? nullptr : &*at;
  }
  /// The same. Throws file_error with the names that there are.
  const hdf5_field& field(std::string_view name) const {
    if (const hdf5_field* x = find(name)) return *x;
    throw file_error(
        fmt::format("wsl: {}: examples have no '{}', but {}: write them with it, or name the rows "
                    "in data_params.json (features)",
                    files_.front(), name, names()));
  }
  /// "'input_ids', 'labels'"
  std::string names() const {
    std::string all;
    for (const hdf5_field& x : fields_) all += fmt::format("{}'{}'", all.empty() ? "" : ", ", x.name);
    return all;
  }
  /// The numbers of an example.
  i64 size() const { return size_; }

  /// Reads an example; there is room for size() numbers, of which each field has a part. Throws file_error.
  /// May be called by several threads at a time.
  void read(i64 which, std::span<i32> to) const {
    const part& p = part_of(which);
    const i64 row = which - p.begin;
    if (p.is_old) {
      const hdf5_rows& x = p.sets[static_cast<std::size_t>(row)];
      return x.read(0, x.count(), to);
    }
    for (const hdf5_rows& x : p.sets) {
      x.read(row, 1, to.first(static_cast<std::size_t>(x.row())));
      to = to.subspan(static_cast<std::size_t>(x.row()));
    }
  }
  /// An error in an example, to be thrown.
  file_error error(i64 which, std::string_view what) const {
    const part& p = part_of(which);
    const i64 row = which - p.begin;
    const bool old = p.is_old;
    return file_error(fmt::format("wsl: {}, dataset '{}', {}: {}", p.file,
                                  p.sets[old ? static_cast<std::size_t>(row) : 0].name(),
                                  old ? "the example" : fmt::format("row {}", row), what));
  }
  /// "2000 examples in 3 files of HDF5, data/data-1.h5 and others"
  std::string about() const {
    return files_.size() == 1 ? fmt::format("{} examples of {}", count_, files_.front())
                              : fmt::format("{} examples in {} files of HDF5, {} and others", count_,
                                            files_.size(), files_.front());
  }

 private:
  struct part {
    std::string file;
    std::vector<hdf5_rows> sets;
    i64 begin = 0, count = 0;
    bool is_old = false;  // each example is a dataset
  };

  static bool is_in(const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  }
  const part& part_of(i64 which) const {
    return *std::prev(std::upper_bound(parts_.begin(), parts_.end(), which,
                                       [](i64 i, const part& p) { return i < p.begin; }));
  }

  /// Those of BERT have labels in a dataset of its own, which the list of the Model Zoo names as well.
  static std::vector<std::string> names_of_data(const std::string& file, bool of_bert = false) {
    std::vector<std::string> names = names_in_params(hdf5_params(file), "features", file);
    if (of_bert) {
      for (const char* elsewhere : {"labels", "masked_lm_positions", "masked_lm_mask", "masked_lm_weights"})
        std::erase(names, elsewhere);
      if (names.empty()) names = {"input_ids", "attention_mask", "token_type_ids"};
    }
    if (names.empty()) names = {"input_ids", "attention_mask", "labels", "attention_span", "position_ids"};
    return names;
  }
  /// The rows of a dataset by name: (n, rows, length), or (n, length) and (n) for one row.
  static void add_fields(const hdf5_rows& x, std::vector<std::string> names, std::vector<hdf5_field>& to,
                         i64& numbers) {
    const std::vector<i64>& shape = x.shape();
    const std::size_t rows = shape.size() < 3 ? 1 : static_cast<std::size_t>(shape[1]);
    if (shape.size() > 3 || rows == 0 || x.row() == 0 || x.row() > std::numeric_limits<int>::max())
      bad_hdf5(x.file(), x.name(),
               fmt::format("its shape is ({}); examples of tokens are (examples, features, tokens)",
                           shape_text(shape)));
    if (rows > names.size())
      bad_hdf5(
          x.file(), x.name(),
          fmt::format("it has {} rows an example, and {} names: data_params.json beside it lists the names "
                      "of all as 'features'",
                      rows, names.size()));
    names.resize(rows);
    for (const std::string& name : names) {
      if (std::any_of(to.begin(), to.end(), [&](const hdf5_field& f) { return f.name == name; }))
        bad_hdf5(x.file(), x.name(), fmt::format("'{}' is there twice", name));
      to.push_back({name, numbers, x.row() / static_cast<i64>(rows)});
      numbers += to.back().length;
    }
  }
  void take_old(part& p, const std::vector<std::string>& all, const std::shared_ptr<chunk_cache>& cache,
                std::vector<hdf5_field>& fields, i64& numbers) const {
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::string name = fmt::format("example_{}", k);
      if (!is_in(all, name)) break;
      const hdf5_rows& x = p.sets.emplace_back(p.file, name, cache);
      if (x.shape().size() != 2 || x.count() < 2 || x.count() > 3 || x.shape() != p.sets.front().shape())
        bad_hdf5(p.file, name,
                 fmt::format("its shape is ({}); examples of this form are all (3, tokens)",
                             shape_text(x.shape())));
    }
    std::vector<std::string> names = names_of_data(p.file);
    const hdf5_rows& first = p.sets.front();
    for (i64 row = 0; row < first.count() && row < std::ssize(names); ++row) {
      fields.push_back({names[static_cast<std::size_t>(row)], numbers, first.row()});
      numbers += first.row();
    }
  }

  void check_part(const part& p, std::vector<hdf5_field>& fields, i64 numbers) {
    for (const hdf5_rows& x : p.sets)
      if (!p.is_old && x.count() != p.count)
        bad_hdf5(p.file, x.name(),
                 fmt::format("it has {} rows, and dataset '{}' {}: one of both is cut short, make them again",
                             x.count(), p.sets.front().name(), p.count));
    if (const auto n = hdf5_attribute(p.file, "n_examples"); n && *n != p.count)
      bad_hdf5(
          p.file, p.sets.front().name(),
          fmt::format("it has {} rows, but the file says n_examples {}: it was not written to its end, make "
                      "or fetch it again",
                      p.count, *n));
    const auto same = [](const hdf5_field& a, const hdf5_field& b) {
      return a.name == b.name && a.length == b.length;
    };
    if (parts_.empty()) fields_ = std::move(fields), size_ = numbers;
    else if (!std::equal(fields.begin(), fields.end(), fields_.begin(), fields_.end(), same))
      bad_hdf5(
          p.file, p.sets.front().name(),
          fmt::format("its shape is ({}), that of dataset '{}' in {} ({}): files that are read together have "
                      "examples of one form{}",
                      shape_text(p.sets.front().shape()), parts_.front().sets.front().name(), files_.front(),
                      shape_text(parts_.front().sets.front().shape()), first_difference(fields)));
  }

  /// ", and these have no 'labels'", where the datasets of both are alike but for others beside them.
  std::string first_difference(const std::vector<hdf5_field>& fields) const {
    for (std::size_t k = 0; k < std::max(fields.size(), fields_.size()); ++k) {
      if (k >= fields.size()) return fmt::format(", and these have no '{}'", fields_[k].name);
      if (k >= fields_.size()) return fmt::format(", and these have '{}' as well", fields[k].name);
      if (fields[k].name != fields_[k].name)
        return fmt::format(", and these have '{}' in the place of '{}'", fields[k].name, fields_[k].name);
      if (fields[k].length != fields_[k].length)
        return fmt::format(", and '{}' are {} and {} numbers", fields[k].name, fields_[k].length,
                           fields[k].length);
    }
    return "";
  }

  std::vector<std::string> files_;
  std::vector<part> parts_;
  std::vector<hdf5_field> fields_;
  i64 count_ = 0, size_ = 0;
};

/// Throws file_error if a folder that is read whole has fewer examples than its data_params.json counts.
/// Files that are named one by one may be a part of a conversion.
inline void require_whole(const hdf5_examples& all, const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) continue;
    const std::vector<std::string> files = hdf5_files_of({path});
    const nlohmann::json params = hdf5_params(files.front());
    if (!params.is_object() || !params.contains("n_examples") || !params["n_examples"].is_number_integer())
      continue;
    i64 there = 0;
    for (const std::string& file : files) there += all.count_in(file);
    if (const i64 said = params["n_examples"].get<i64>(); there < said)
      throw file_error(fmt::format(
          "wsl: {}: data_params.json counts {} examples, and the {} files there have {}: a file is "
          "missing; fetch it or convert the texts again, or name the files one by one in data_dir "
          "to take a part",
          path, said, files.size(), there));
  }
}

/// Tokens in a row, the dataset 'data' of (n) of one file or of several, which continue each other. They are
/// cut into sequences of any length when they are read.
class hdf5_corpus {
 public:
  /// Throws file_error for a dataset of another form.
  explicit hdf5_corpus(const std::vector<std::string>& files) {
    const auto cache = std::make_shared<chunk_cache>();
    for (const std::string& name : files) {
      const hdf5_rows& x = sets_.emplace_back(name, "data", cache);
      if (x.shape().size() != 1)
        bad_hdf5(name, "data",
                 fmt::format(
                     "its shape is ({}), and dataset 'data' in {} has tokens in a row: files that are read "
                     "together have one form",
                     shape_text(x.shape()), files.front()));
      begins_.push_back(size_);
      size_ += x.count();
    }
  }
  /// Whether a file has this form.
  static bool is_in(const std::string& file) {
    const std::vector<std::string> all = hdf5_datasets(file);
    return std::find(all.begin(), all.end(), "data") != all.end() &&
           hdf5_rows(file, "data").shape().size() == 1;
  }

  i64 size() const { return size_; }
  /// Copies tokens from number `from` on, as many as there is room for. Throws file_error. May be called by
  /// several threads at a time.
  void copy(i64 from, std::span<i32> to) const {
    while (!to.empty()) {
      const auto k = static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), from) -
                                              begins_.begin() - 1);
      const i64 at = from - begins_[k], n = std::min<i64>(std::ssize(to), sets_[k].count() - at);
      sets_[k].read(at, n, to.first(static_cast<std::size_t>(n)));
      from += n, to = to.subspan(static_cast<std::size_t>(n));
    }
  }
  /// An error at a token, to be thrown.
  file_error error(i64 at, std::string_view what) const {
    const auto k =
        static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), at) - begins_.begin() - 1);
    return file_error(
        fmt::format("wsl: {}, dataset 'data', row {}: {}", sets_[k].file(), at - begins_[k], what));
  }

 private:
  std::vector<hdf5_rows> sets_;
  std::vector<i64> begins_;
  i64 size_ = 0;
};

}  // namespace wsl::ml
