// SPDX-License-Identifier: MIT
// A corpus whose texts are repaired and have one normal form of Unicode.
#pragma once
#include "../../../support/whole_file.hpp"
#include "passes.hpp"
#include "text_fixes.hpp"

namespace wsl::ml {

struct normalizing {
  text_fixing fixes = {};
  pass_settings pass = {};
};
struct normalization_report {
  i64 documents = 0, changed = 0, invalid = 0;
  fix_counts counts = {};
};

/// Writes one file with the documents of the corpus: of objects the text in the field is repaired, and a line
/// without anything to repair stays as it is, byte by byte; sections have an empty line between them; of
/// whole texts there is one. Throws file_error for a document that is refused and an `out` that is there, and
/// std::invalid_argument for several whole texts; then nothing is written.
inline normalization_report normalize(const corpus& in, const std::string& out, const normalizing& how) {
  if (in.is_whole() && in.files().size() > 1)
    throw std::invalid_argument(
        fmt::format("wsl: one file is written, and {} texts would become one: give one at a time, or read "
                    "them as sections",
                    in.files().size()));
  if (file_exists(out))
    throw file_error(
        fmt::format("wsl: {} is there: give a name that is free, so that nothing is written over", out));
  struct repaired {
    std::string bytes;
    fix_counts counts;
    bool is_changed;
  };
  normalization_report report;
  support::whole_file to(out);
  i64 written = 0;
  const auto repair = [&](const document& d) {
    repaired r{{}, {}, false};
    const std::string whole = in.is_json() ? joined_escapes(d.bytes, r.counts.surrogates)
                                           : joined_surrogates(d.bytes, r.counts.surrogates);
    document now = d;
    now.bytes = whole;
    const std::string text = in.text_of(now);
    std::string fixed = fixed_text(text, how.fixes, r.counts);
    r.is_changed = whole != d.bytes || fixed != text;
    if (!in.is_json()) r.bytes = std::move(fixed);
    else if (fixed == text) r.bytes = whole;
    else {
      nlohmann::ordered_json object = nlohmann::ordered_json::parse(whole);
      object[in.form().text_key] = std::move(fixed);
      r.bytes = object.dump();
    }
    return r;
  };
  report.documents = pass_over(in, how.pass, repair, [&](const document&, std::optional<repaired> r) {
    if (!r) return void(++report.invalid);
    report.counts += r->counts, report.changed += r->is_changed;
    if (in.form().sections && written++ > 0) to.write("\n");
    to.write(in.is_whole() ? r->bytes : r->bytes + "\n");
  });
  to.finish();
  return report;
}

}  // namespace wsl::ml
