// SPDX-License-Identifier: MIT
// Texts that are read and texts that are written in HDF5 files, as the Model Zoo's T5HDF5DataProcessor reads
// them. data_params.json beside the files names the rows:
//   data_0  (n, 2, sources)  input_ids, attention_mask
//   data_1  (n, 3, targets)  decoder_input_ids, decoder_attention_mask, labels
// or `data` (n, 5, length) has all of them, or each is a dataset of its name. Labels count where
// decoder_attention_mask is 1, or without it where they are not -100. Batches have the numbers of
// encoder_decoder_tokens.
//   const text_task t = hdf5_encoder_decoder({.paths = {"data"}, .vocabulary = 32128});
#pragma once
#include "../text/masking.hpp"
#include "../text/text_task.hpp"
#include "rows_of_text.hpp"

namespace wsl::ml {

struct hdf5_encoder_decoder_settings {
  std::vector<std::string> paths;  ///< files, and folders of *.h5
  int vocabulary = 0;  ///< a token that is not below is an error when it is read; 0: any from 0 on
};

/// The data have the lengths of the files. Throws file_error for files of another form; rows are looked at
/// when they are read.
inline text_task hdf5_encoder_decoder(const hdf5_encoder_decoder_settings& how) {
  const auto all = std::make_shared<const detail::text_rows>(hdf5_files_of(how.paths));
  const hdf5_examples& x = all->all();
  require_objective(x.files(), "span_corruption"), require_whole(x, how.paths);
  const int sources = all->length_of("input_ids", {"attention_mask"}),
            targets = all->length_of("labels", {"decoder_input_ids", "decoder_attention_mask"});
  x.field("attention_mask"), x.field("decoder_input_ids");
  const bool has_mask = x.find("decoder_attention_mask");
  text_task t;
  t.vocabulary = how.vocabulary;
  t.about = fmt::format("{}, pairs of a text that is read and one that is written", x.about());
  t.data.count = x.count(), t.data.length = sources;
  t.data.named = {{"input_ids", sources},
                  {"attention_mask", sources},
                  {"decoder_input_ids", targets},
                  {"labels", targets}};
  t.data.get = [all, has_mask, most = how.vocabulary](i64 which, const example& to) {
    const detail::text_rows::row r = all->read(which);
    for (const char* name : {"input_ids", "decoder_input_ids"}) r.check_tokens(name, most);
    r.check_mask("attention_mask");
    std::span<const i32> mask;
    if (has_mask) r.check_mask("decoder_attention_mask"), mask = r["decoder_attention_mask"];
    const std::span<const i32> read = r["decoder_input_ids"], labels = r["labels"];
    const auto put = [&](std::size_t k, std::span<const i32> numbers) {
      std::copy(numbers.begin(), numbers.end(), to.named[k].begin());
    };
    put(0, r["input_ids"]), put(1, r["attention_mask"]), put(2, read);
    const std::span<i32> out = to.named[3];
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const bool counts = (mask.empty() || mask[i]) && labels[i] != ignored_label;
      out[i] = counts ? labels[i] : ignored_label;
      if (!counts) continue;
      r.check_token("labels", i, most);
      // The decoder reads next what it writes.
      const bool is_read =
          i + 1 < labels.size() &&
          (mask.empty() ? labels[i + 1] != ignored_label : mask[i + 1] && labels[i + 1] != ignored_label);
      if (is_read && read[i + 1] != labels[i])
        r.wrong(
            "decoder_input_ids", i + 1,
            fmt::format(", and the label before it is {}: a decoder reads the labels shifted by one token: "
                        "write the data again",
                        labels[i]));
    }
  };
  return t;
}

}  // namespace wsl::ml
