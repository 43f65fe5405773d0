// SPDX-License-Identifier: MIT
// A corpus without its near duplicates, as SlimPajama removes them: of each set the first document is kept,
// so files of better quality are named first. Documents are read twice, and what is remembered of one are its
// signature, 512 bytes with 128 permutations, and 5 bytes.
//   const deduplication_report done = deduplicate(corpus({"part.jsonl"}), "clean", {.least_length = 200});
#pragma once
#include <unordered_map>

#include "../../../support/whole_folder.hpp"
#include "document_writer.hpp"
#include "near_duplicates.hpp"
#include "passes.hpp"

namespace wsl::ml {

struct deduplication {
  int permutations = 128, width = 13;  ///< of minhash
  u64 seed = 1;
  f64 threshold = 0.8;  ///< of near_duplicate_settings, as the next two
  band_shape shape = {};
  bool compared = true;
  i64 least_length = 0;       ///< texts with fewer code points, as shingle_text counts them, are removed
  bool skip_invalid = false;  ///< of pass_settings
  int threads = 0;            ///< 0: one for each processor
  /// bytes for signatures and tables of bands: half of it each; signatures beyond it are on the disk
  u64 memory = u64{4} << 30;
  std::function<void(const char* what, u64 total)> begins = {};  ///< a part of the work, of so many steps
  std::function<void(u64 steps)> advances = {};
};

struct deduplication_report {
  i64 documents = 0, duplicates = 0, too_short = 0, invalid = 0;
  i64 sets = 0;                   ///< of near duplicates
  u64 bytes = 0, kept_bytes = 0;  ///< of documents, without the ends of lines
  u64 signature_bytes = 0, signature_bytes_on_disk = 0;
  band_shape shape;

  i64 kept() const { return documents - duplicates - too_short - invalid; }
};

/// Writes the documents that are kept to the files of the folder `out`, which have the names of those that
/// they come from, and the others to its removed.jsonl: the place, the reason and, of duplicates, the place
/// of the document that is kept and the estimated similarity to it. That may be below the threshold where
/// documents are joined by others between them. The result depends on the documents, their order and the
/// seed. Throws file_error for a document that is refused and an `out` that has files, in which case nothing
/// is written, and what near_duplicates throws.
inline deduplication_report deduplicate(const corpus& in, const std::string& out, const deduplication& how) {
  enum class fate : u8 { kept, too_short, invalid };
  struct sketch {
    std::vector<u32> signature;
    bool is_short;
  };
  const minhash by(how.permutations, how.width, how.seed);
  const near_duplicate_settings search{.threshold = how.threshold,
                                       .shape = how.shape,
                                       .compared = how.compared,
                                       .threads = how.threads,
                                       .memory = how.memory / 2};
  deduplication_report report;
  report.shape = bands_of(search, how.permutations);
  for (std::size_t k = 0; k < in.files().size(); ++k)
    if (in.name_below(k) == "removed.jsonl")
      throw file_error(
          fmt::format("wsl: {} has the name of the list of what is removed: rename it", in.files()[k]));
  const auto begin = [&](const char* what, u64 total) {
    if (how.begins) how.begins(what, total);
  };
  support::whole_folder folder(out);
  signature_table table(how.permutations, how.memory / 2, folder.unfinished());
  std::vector<fate> fates;
  begin("signatures: bytes", in.bytes());
  const auto sketch_of = [&](const document& d) {
    const std::u32string text = shingle_text(in.text_of(d));
    if (static_cast<i64>(text.size()) < how.least_length) return sketch{{}, true};
    return sketch{by.signature(text), false};
  };
  pass_over(in, {.skip_invalid = how.skip_invalid, .threads = how.threads, .on_bytes = how.advances},
            sketch_of, [&](const document& d, std::optional<sketch> s) {
              report.bytes += d.bytes.size();
              fates.push_back(!s ? fate::invalid : s->is_short ? fate::too_short : fate::kept);
              if (s && !s->is_short) table.add(s->signature);
            });
  report.documents = static_cast<i64>(fates.size());
  report.signature_bytes = table.bytes(), report.signature_bytes_on_disk = table.bytes_on_disk();

  begin("bands", static_cast<u64>(report.shape.bands));
  disjoint_sets sets = near_duplicates(table, how.permutations, search, [&] {
    if (how.advances) how.advances(1);
  });

  begin("writing: bytes", in.bytes());
  struct place {
    std::size_t file;
    i64 line;
  };
  std::unordered_map<u32, place> firsts;  // of sets of several
  for (u32 i = 0; i < sets.count(); ++i)
    if (sets.find(i) != i) firsts.try_emplace(sets.find(i));
  report.sets = static_cast<i64>(firsts.size());
  support::whole_file removed(folder / "removed.jsonl");
  std::optional<document_writer> to;
  std::size_t file = 0;
  std::size_t number = 0;
  u32 signed_number = 0;
  const auto list = [&](const document& d, nlohmann::ordered_json more) {
    nlohmann::ordered_json line{{"file", in.files()[d.file]}, {"line", d.line}};
    line.update(more);
    removed.write(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  };
  in.each([&](const document& d) {
    if (number == fates.size())
      throw file_error(fmt::format("wsl: {} has changed since it was read: begin again", in.files()[d.file]));
    if (how.advances) how.advances(d.bytes.size());
    switch (fates[number++]) {
      case fate::too_short: return ++report.too_short, list(d, {{"reason", "short"}});
      case fate::invalid: return ++report.invalid, list(d, {{"reason", "invalid"}});
      case fate::kept: break;
    }
    const u32 me = signed_number++, first = sets.find(me);
    if (first != me) {
      const place kept = firsts.at(first);
      ++report.duplicates;
      return list(d, {{"reason", "duplicate"},
                      {"kept_file", in.files()[kept.file]},
                      {"kept_line", kept.line},
                      {"similarity", similarity(table[first], table[me])}});
    }
    if (const auto found = firsts.find(me); found != firsts.end()) found->second = {d.file, d.line};
    if (!to || file != d.file) {
      if (to) to->finish();
      to.emplace(folder / in.name_below(d.file), document_writer::form_of(in)), file = d.file;
    }
    to->write(d.bytes), report.kept_bytes += d.bytes.size();
  });
  if (number != fates.size())
    throw file_error(fmt::format("wsl: {} has changed since it was read: begin again", in.files().back()));
  if (to) to->finish();
  removed.finish();
  folder.finish();
  return report;
}

}  // namespace wsl::ml
