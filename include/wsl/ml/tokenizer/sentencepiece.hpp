// SPDX-License-Identifier: MIT
// A SentencePiece model (tokenizer.model, spiece.model) as a tokenizer.json. The file is a protocol buffer
// (google/sentencepiece, src/sentencepiece_model.proto), of which the fields are read that an encoding
// depends on. It is read here and not by SentencePiece's library, which ends the process on some broken
// files.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "byte_level_document.hpp"
#include "charsmap.hpp"

namespace wsl::ml::detail {

/// The fields of a message in protobuf's wire format.
class proto_message {
 public:
  proto_message(std::string_view bytes, std::size_t offset, const std::string& file)
      : bytes_(bytes), offset_(offset), file_(&file) {}

  struct field {
    u64 number = 0, value = 0;  ///< the value of a varint or of four bytes
    std::string_view bytes;     ///< a text or an inner message
    std::size_t at = 0;         ///< their place in the file
  };
  bool ends() const { return at_ == bytes_.size(); }
  field take() {
    field f;
    const u64 key = varint();
    f.number = key >> 3;
    switch (key & 7) {
      case 0: f.value = varint(); return f;
      case 1: return skip(8), f;
      case 2: {
        const u64 size = varint();
        f.at = offset_ + at_;
        f.bytes = skip(size);
        return f;
      }
      case 5: {
        u32 four = 0;
        std::memcpy(&four, skip(4).data(), 4);
        f.value = four;
        return f;
      }
      default: throw error();
    }
  }
  file_error error() const {
    return file_error(fmt::format(
        "wsl: {}, byte {}: it is neither a tokenizer.json nor a SentencePiece model", *file_, offset_ + at_));
  }

 private:
  u64 varint() {
    u64 x = 0;
    for (u32 shift = 0; shift < 64; shift += 7) {
      if (ends()) throw error();
      const u64 byte = static_cast<u8>(bytes_[at_++]);
      x |= (byte & 0x7f) << shift;
      if (byte < 0x80) return x;
    }
    throw error();
  }
  std::string_view skip(u64 size) {
    if (size > bytes_.size() - at_) throw error();
    const std::string_view some = bytes_.substr(at_, size);
    at_ += size;
    return some;
  }

  std::string_view bytes_;
  std::size_t at_ = 0, offset_;
  const std::string* file_;
};

struct sentencepiece_model {
  enum kind : u64 { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  struct piece {
    std::string text;
    f32 score = 0;
    u64 type = normal;
  };
  std::vector<piece> pieces;
  u64 model = 1;  // 1 unigram, 2 BPE, 3 words, 4 characters
  bool byte_fallback = false, dummy_prefix = true, removes_spaces = true, escapes_spaces = true,
       spaces_after = false;
  std::string charsmap;
  i32 begin = 1, end = 2;

  static sentencepiece_model read(std::string_view bytes, const std::string& file) {
    sentencepiece_model m;
    proto_message all(bytes, 0, file);
    while (!all.ends()) {
      const auto f = all.take();
      proto_message inner(f.bytes, f.at, file);
      if (f.number == 1) m.read_piece(inner, f, file);
      if (f.number == 2) m.read_trainer(inner);
      if (f.number == 3) m.read_normalizer(inner);
    }
    if (m.pieces.empty()) throw all.error();
    return m;
  }

 private:
  void read_piece(proto_message& in, const proto_message::field& place, const std::string& file) {
    piece p;
    while (!in.ends()) {
      const auto f = in.take();
      if (f.number == 1) p.text = f.bytes;
      if (f.number == 2) p.score = std::bit_cast<f32>(static_cast<u32>(f.value));
      if (f.number == 3) p.type = f.value;
    }
    if (!std::isfinite(p.score))
      throw file_error(
          fmt::format("wsl: {}, byte {}: piece {} has the score {}", file, place.at, pieces.size(), p.score));
    for (std::size_t at = 0; at < p.text.size();) {
      const std::size_t n = first_code_point(std::string_view(p.text).substr(at)).bytes;
      if (!n)
        throw file_error(
            fmt::format("wsl: {}, byte {}: piece {} is not UTF-8", file, place.at, pieces.size()));
      at += n;
    }
    pieces.push_back(std::move(p));
  }
  void read_trainer(proto_message& in) {
    while (!in.ends()) {
      const auto f = in.take();
      if (f.number == 3) model = f.value;
      if (f.number == 24) spaces_after = f.value;
      if (f.number == 35) byte_fallback = f.value;
      if (f.number == 41) begin = static_cast<i32>(f.value);
      if (f.number == 42) end = static_cast<i32>(f.value);
    }
  }
  void read_normalizer(proto_message& in) {
    while (!in.ends()) {
      const auto f = in.take();
      if (f.number == 2) charsmap = f.bytes;
      if (f.number == 3) dummy_prefix = f.value;
      if (f.number == 4) removes_spaces = f.value;
      if (f.number == 5) escapes_spaces = f.value;
    }
  }
};

// The merges that pieces stand for: each piece is made of any two others. The score of what a merge makes is
// its rank.
inline nlohmann::json merges_of(const sentencepiece_model& m, const nlohmann::json& numbers) {
  std::vector<const sentencepiece_model::piece*> order;
  for (const auto& p : m.pieces)
    if (p.type == sentencepiece_model::normal || p.type == sentencepiece_model::user_defined)
      order.push_back(&p);
  std::sort(order.begin(), order.end(),  // of equal scores the first piece comes first
            [](auto* a, auto* b) { return a->score != b->score ? a->score > b->score : a < b; });
  nlohmann::json merges = nlohmann::json::array();
  const auto is_normal = [&](const std::string& text) {
    const auto found = numbers.find(text);
    return found != numbers.end() &&
           m.pieces[found->template get<std::size_t>()].type == sentencepiece_model::normal;
  };
  for (const auto* p : order)
    for (std::size_t cut = 0; cut + 1 < p->text.size();) {
      cut += unicode::bytes_from(p->text[cut]);
      if (cut >= p->text.size() || p->text.size() > 256) break;
      const std::string first = p->text.substr(0, cut), second = p->text.substr(cut);
      if (is_normal(first) && is_normal(second)) merges.push_back({first, second});
    }
  return merges;
}

inline nlohmann::json json_of_sentencepiece(std::string_view bytes, const std::string& file) {
  using json = nlohmann::json;
  using model = sentencepiece_model;
  const model m = model::read(bytes, file);
  if (m.model != 1 && m.model != 2)
    throw file_error(fmt::format("wsl: {}: only models of the types unigram and bpe are known here", file));
  if (m.spaces_after || !m.escapes_spaces)
    throw file_error(
        fmt::format("wsl: {}: a model that keeps spaces or has them after words is not known here", file));
  const std::string space = "\xe2\x96\x81";

  json numbers = json::object(), scores = json::array(), added = json::array();
  json unknown = nullptr, unknown_id = nullptr;
  bool divides = true;
  for (std::size_t i = 0; i < m.pieces.size(); ++i) {
    const model::piece& p = m.pieces[i];
    if (numbers.contains(p.text))
      throw file_error(fmt::format("wsl: {}: piece {}, '{}', is there already", file, i, p.text));
    numbers[p.text] = i;
    // Pieces that no text becomes have a score that never wins.
    const bool is_normal = p.type == model::normal || p.type == model::user_defined;
    scores.push_back({p.text, is_normal ? static_cast<f64>(p.score) : 0.});
    if (p.type == model::unknown) unknown = p.text, unknown_id = i;
    if (!is_normal && p.type != model::byte && p.type != model::unused && !p.text.empty())
      added.push_back(added_entry(p.text, static_cast<i32>(i), true));
    if (p.type == model::user_defined && (m.dummy_prefix || m.removes_spaces))
      throw file_error(fmt::format(
          "wsl: {}: piece {}, '{}', is defined by the user; such pieces are known here only where the model "
          "neither removes spaces nor puts one before a text: give the tokenizer.json of this model",
          file, i, p.text));
    if (p.type == model::user_defined && !p.text.empty())
      added.push_back(added_entry(p.text, static_cast<i32>(i), false));
    if (p.type == model::normal && p.text.find(space, 1) != std::string::npos) divides = false;
  }

  json normalizers = json::array();
  const auto replace = [](const char* kind, const std::string& from, const std::string& to) {
    return json{{"type", "Replace"}, {"pattern", {{kind, from}}}, {"content", to}};
  };
  if (!m.charsmap.empty())
    normalizers.push_back(
        {{"type", "Precompiled"}, {"precompiled_charsmap", to_base64(m.charsmap)}, {"longest", true}});
  if (m.removes_spaces) {
    normalizers.push_back(replace("Regex", "\\A +|[ " + space + "]+\\z", ""));
    normalizers.push_back(replace("Regex", " {2,}", " "));
  }
  if (m.dummy_prefix) normalizers.push_back({{"type", "Prepend"}, {"prepend", space}});
  normalizers.push_back(replace("String", " ", space));

  json decoders =
      json::array({replace("String", space, " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}});
  if (m.dummy_prefix) decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});

  // As the libraries of these models do: Llama's texts begin with a token, T5's end with one.
  const bool is_bpe = m.model == 2;
  const i32 edge = is_bpe ? m.begin : m.end;
  json processor = nullptr;
  if (edge >= 0 && edge < static_cast<i32>(m.pieces.size()) &&
      m.pieces[static_cast<std::size_t>(edge)].type == model::control) {
    const std::string& name = m.pieces[static_cast<std::size_t>(edge)].text;
    const json token = {{"SpecialToken", {{"id", name}, {"type_id", 0}}}};
    const auto text = [](const char* which, int type) {
      return json{{"Sequence", {{"id", which}, {"type_id", type}}}};
    };
    const json a = text("A", 0), b = text("B", 1);
    processor = {{"type", "TemplateProcessing"},
                 {"single", is_bpe ? json::array({token, a}) : json::array({a, token})},
                 {"pair", is_bpe ? json::array({token, a, token, b}) : json::array({a, token, b, token})},
                 {"special_tokens", {{name, {{"id", name}, {"ids", {edge}}, {"tokens", {name}}}}}}};
  }

  json made = is_bpe ? json{{"type", "BPE"},    {"unk_token", unknown},
                            {"fuse_unk", true}, {"byte_fallback", m.byte_fallback},
                            {"vocab", numbers}, {"merges", merges_of(m, numbers)}}
                     : json{{"type", "Unigram"},
                            {"unk_id", unknown_id},
                            {"byte_fallback", m.byte_fallback},
                            {"vocab", scores}};
  json words = nullptr;
  if (!is_bpe && divides)
    words = {{"type", "Metaspace"}, {"replacement", space}, {"prepend_scheme", "never"}, {"split", true}};
  return {{"version", "1.0"},
          {"added_tokens", added},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", normalizers}}},
          {"pre_tokenizer", words},
          {"post_processor", processor},
          {"decoder", {{"type", "Sequence"}, {"decoders", decoders}}},
          {"model", made}};
}

}  // namespace wsl::ml::detail
