// SPDX-License-Identifier: MIT
// Texts cut into pieces of as many tokens as a sequence has room for. The files are encoded twice: once to
// find where each piece begins, sixteen bytes that stay in memory, and again, the few lines of a piece, when
// it is wanted. So the tokens of a corpus are never held.
//   whole lines   one sentence a line, empty lines between documents; a piece has whole sentences, as many
//                 as there is room for, of one document or of several (RoBERTa's FULL-SENTENCES,
//                 arXiv:1907.11692)
//   else          one document a line; a piece is full but for the last of a document, or of so many
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "line_file.hpp"
#include "piece.hpp"

namespace wsl::ml {

/// Lines of several files in a row.
class text_lines {
 public:
  explicit text_lines(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      files_.push_back(std::make_shared<const line_file>(name));
      begins_.push_back(count_);
      count_ += files_.back()->count();
    }
  }
  i64 count() const { return count_; }
  /// Whether a line is the first of its file.
  bool begins_file(i64 which) const { return std::binary_search(begins_.begin(), begins_.end(), which); }
  std::string_view line(i64 which) const {
    const auto [file, i] = place_of(which);
    return files_[file]->line(i);
  }
  file_error error(i64 which, std::string_view why) const {
    const auto [file, i] = place_of(which);
    return files_[file]->error(i, why);
  }

 private:
  std::pair<std::size_t, i64> place_of(i64 which) const {
    const auto k = static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), which) -
                                            begins_.begin() - 1);
    return {k, which - begins_[k]};
  }

  std::vector<std::shared_ptr<const line_file>> files_;
  std::vector<i64> begins_;
  i64 count_ = 0;
};

/// The tokens of a line. Called by several threads at a time.
using line_encoder = std::function<std::vector<text_piece>(std::string_view)>;

/// Lines that are encoded when they are wanted.
class encoded_lines : public text_lines {
 public:
  encoded_lines(const std::vector<std::string>& names, line_encoder encode)
      : text_lines(names), encode_(std::move(encode)) {}

  /// The tokens of a line. Throws file_error, with its place, for what the encoder refuses.
  std::vector<text_piece> tokens(i64 which) const {
    try {
      return encode_(line(which));
    } catch (const std::invalid_argument& e) { throw error(which, e.what()); }
  }

 private:
  line_encoder encode_;
};

struct packing {
  int room = 0;                     ///< tokens of a piece
  bool whole_lines = false;         ///< lines are sentences; false: they are documents
  int documents_together = 1;       ///< documents that may share a piece; 0: all
  std::optional<i32> between = {};  ///< the token between documents that share a piece
};

class packed_text {
 public:
  /// Throws file_error if the files have no tokens, and what the encoder throws with the line.
  packed_text(const std::vector<std::string>& files, line_encoder encode, const packing& how)
      : lines_(files, std::move(encode)), how_(how) {
    if (how.room < 1)
      throw std::invalid_argument(fmt::format(
          "wsl: a piece of text has room for {} tokens: take a larger max_sequence_length", how.room));
    packer p{*this};
    i64 document = -1;
    bool begins = true;
    for (i64 i = 0; i < lines_.count(); ++i) {
      begins = begins || !how.whole_lines || lines_.begins_file(i);
      if (lines_.line(i).empty()) {
        begins = true;
        continue;
      }
      const int tokens = static_cast<int>(lines_.tokens(i).size());
      if (tokens == 0) continue;
      document += std::exchange(begins, false);
      p.add(i, tokens, document);
    }
    p.close();
    if (pieces_.empty())
      throw file_error(
          fmt::format("wsl: {}: there is no text in it", files.empty() ? "no file" : files.front()));
  }

  i64 count() const { return std::ssize(pieces_); }
  int tokens_of(i64 which) const { return pieces_[static_cast<std::size_t>(which)].count; }
  /// The tokens of a piece; the words of different lines have different numbers.
  std::vector<text_piece> tokens(i64 which) const {
    const piece& p = pieces_[static_cast<std::size_t>(which)];
    const auto wanted = static_cast<std::size_t>(p.count);
    std::vector<text_piece> all;
    auto skip = static_cast<std::size_t>(p.skip);
    bool begins = false;
    for (i64 i = p.line; all.size() < wanted; ++i) {
      begins = begins || (i > p.line && (!how_.whole_lines || lines_.begins_file(i)));
      if (lines_.line(i).empty()) {
        begins = true;
        continue;
      }
      const std::vector<text_piece> line = lines_.tokens(i);
      if (line.empty()) continue;
      const i32 words = all.empty() ? 0 : all.back().word + 1;
      if (std::exchange(begins, false) && how_.between && !all.empty()) all.push_back({*how_.between, words});
      for (std::size_t k = std::exchange(skip, 0); k < line.size() && all.size() < wanted; ++k) {
        all.push_back(line[k]);
        all.back().word += words + 1;
      }
    }
    return all;
  }

 private:
  struct piece {
    i64 line;         // the first
    i32 skip, count;  // tokens of this line that are left out, tokens of the piece
  };
  struct packer {
    packed_text& to;
    piece now{0, 0, 0};
    i64 document = -1;  // of the last line

    void close() {
      if (now.count > 0) to.pieces_.push_back(now);
      now.count = 0;
    }
    void add(i64 line, int tokens, i64 of) {
      const packing& how = to.how_;
      const bool apart = document >= 0 && of != document;
      if (apart && how.documents_together > 0 && of % how.documents_together == 0) close();
      document = of;
      int between = apart && how.between ? 1 : 0;
      if (how.whole_lines && now.count > 0 && now.count + between + tokens > how.room) close();
      for (int used = 0; used < tokens;) {
        if (now.count == 0) now = {line, used, 0}, between = 0;
        const int taken = std::min(tokens - used, how.room - now.count - between);
        if (taken < 1) {
          close();
          continue;
        }
        now.count += taken + std::exchange(between, 0), used += taken;
        if (now.count == how.room) close();
      }
    }
  };

  encoded_lines lines_;
  packing how_;
  std::vector<piece> pieces_;
};

}  // namespace wsl::ml
