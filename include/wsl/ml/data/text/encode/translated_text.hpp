// SPDX-License-Identifier: MIT
// Texts and their translations, or whatever is to be written for them. They are two files with as many
// lines, or two columns of a table (.tsv, .csv) or of objects (.jsonl). As in the Model Zoo, a pair of which
// one text is empty, or does not fit with its special token, is left out. Texts to predict need no
// translation; of those that are too long the end is left out.
#pragma once
#include "../packed_text.hpp"
#include "../records.hpp"
#include "encoder_decoder_text.hpp"
#include "text_survey.hpp"

namespace wsl::ml {

struct translated_text {
  /// Files of lines, the sources and the targets in the same order; empty: `tables` are read.
  std::vector<std::string> source_files = {}, target_files = {};
  std::vector<std::string> tables = {};
  std::string source_column = {}, target_column = {};
  encoder_decoder_settings sequences = {};
  bool ends_inputs = false;  ///< inputs end with eos_token
  /// Only sources are needed, and all of them but empty ones are read. Where the target is missing or too
  /// long no label counts.
  bool may_lack_targets = false;
};

namespace detail {

/// Pairs of texts from two files of lines, or from two columns.
class text_pairs {
 public:
  explicit text_pairs(const translated_text& how) : how_(how) {
    if (!how.tables.empty()) {
      rows_ = std::make_shared<const records>(how.tables);
      rows_->text(0, how.source_column);
      if (!how.may_lack_targets) rows_->text(0, how.target_column);
      return;
    }
    if (how.may_lack_targets && how.target_files.empty()) {
      sources_ = std::make_shared<const text_lines>(how.source_files);
      return;
    }
    if (how.source_files.size() != how.target_files.size() || how.source_files.empty())
      throw std::invalid_argument(
          fmt::format("wsl: {} files of sources have {} of targets: name as many of both",
                      how.source_files.size(), how.target_files.size()));
    for (std::size_t i = 0; i < how.source_files.size(); ++i) {
      const i64 sources = line_file(how.source_files[i]).count(),
                targets = line_file(how.target_files[i]).count();
      detail::check_meta(how.source_files[i], sources);
      if (sources != targets)
        throw file_error(
            fmt::format("wsl: {} has {} lines and {} has {}: line by line they should be translations",
                        how.source_files[i], sources, how.target_files[i], targets));
    }
    sources_ = std::make_shared<const text_lines>(how.source_files),
    targets_ = std::make_shared<const text_lines>(how.target_files);
  }
  i64 count() const { return rows_ ? rows_->count() : sources_->count(); }
  std::pair<std::string, std::string> get(i64 which) const {
    if (rows_)
      return {rows_->text(which, how_.source_column),
              how_.may_lack_targets ? rows_->find(which, how_.target_column).value_or("")
                                    : rows_->text(which, how_.target_column)};
    return {std::string(sources_->line(which)), targets_ ? std::string(targets_->line(which)) : ""};
  }

 private:
  translated_text how_;
  std::shared_ptr<const records> rows_;
  std::shared_ptr<const text_lines> sources_, targets_;
};

}  // namespace detail

/// All texts are encoded once, to find those that fit, and again when they are wanted. Throws file_error for
/// files that cannot be read and if no pair fits, std::invalid_argument for settings that do not fit.
inline text_task translations_of(const translated_text& how, const tokenizer& by) {
  const encoder_decoder_tokens tokens = encoder_decoder_tokens::of(how.sequences, by);
  const auto all = std::make_shared<const detail::text_pairs>(how);
  const auto encode = std::make_shared<const piece_encoder>(by);
  const auto fitting = std::make_shared<std::vector<i64>>();
  text_survey survey(how.sequences.oov_token, tokens.unknown);
  for (i64 i = 0; i < all->count(); ++i) {
    const auto [source, target] = all->get(i);
    const std::vector<text_piece> read = (*encode)(source), written = (*encode)(target);
    survey.add_unknown(read), survey.add_unknown(written);
    const i64 n = std::ssize(read), m = std::ssize(written);
    const bool fits = n < tokens.sources && m > 0 && m < tokens.targets;
    survey.add_example(how.may_lack_targets && n >= tokens.sources);
    if (n > 0 && (fits || how.may_lack_targets)) fitting->push_back(i);
  }
  if (fitting->empty())
    throw file_error(fmt::format("wsl: {}: none of {} pairs of texts fits sequences of {} and {} tokens",
                                 how.tables.empty() ? how.source_files.front() : how.tables.front(),
                                 all->count(), tokens.sources, tokens.targets));
  text_task t;
  t.vocabulary = by.size();
  const i64 left_out = all->count() - std::ssize(*fitting);
  t.about = fmt::format("{} {}{}{}", fitting->size(), how.may_lack_targets ? "texts" : "pairs of texts",
                        left_out ? fmt::format("; {} left out, since {}", left_out,
                                               !how.may_lack_targets ? "one text is empty or too long"
                                               : left_out > 1        ? "they are empty"
                                                                     : "it is empty")
                                 : "",
                        survey.text(all->count(), "src_max_sequence_length", tokens.sources));
  t.source = [all, fitting](i64 which) {
    auto [source, target] = all->get((*fitting)[static_cast<std::size_t>(which)]);
    return target.empty() ? text_source{{source}, {}} : text_source{{source}, {target}};
  };
  t.data.count = std::ssize(*fitting), t.data.length = tokens.sources, t.data.named = tokens.fields();
  t.data.get = [all, fitting, encode, tokens, ends = how.ends_inputs](i64 which, const example& to) {
    const auto [source, target] = all->get((*fitting)[static_cast<std::size_t>(which)]);
    std::vector<i32> inputs = detail::ids_of((*encode)(source)), outputs = detail::ids_of((*encode)(target));
    if (std::ssize(inputs) >= tokens.sources) inputs.resize(static_cast<std::size_t>(tokens.sources) - 1);
    if (ends) inputs.push_back(tokens.end);
    if (outputs.empty() || std::ssize(outputs) >= tokens.targets) return tokens.put(to, inputs);
    tokens.put(to, inputs, std::move(outputs));
  };
  return t;
}

}  // namespace wsl::ml
