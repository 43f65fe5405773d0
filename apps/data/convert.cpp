// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <wsl/ml/data/digits.hpp>
#include <wsl/ml/data/idx.hpp>
#include <wsl/ml/data/vocabulary.hpp>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/llmc.hpp>
#include <wsl/ml/tokenizer/tokenizer.hpp>
#include <wsl/support/whole_folder.hpp>

#include "../files.hpp"
#include "commands.hpp"
#include "kind.hpp"

namespace data_app {
namespace {
using namespace wsl;
using namespace wsl::ml;

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

void write_part(const std::string& name, std::span<const i32> ids, token_format form, int vocabulary) {
  write_tokens(name, tokens(ids), form, vocabulary);
  std::printf("%s: %zu tokens\n", name.c_str(), ids.size());
}

// Characters are cut between two of them, bytes of GPT-2 where a character begins.
std::size_t cut_of(const std::string& text, double part) {
  auto at = static_cast<std::size_t>(part * static_cast<double>(text.size()));
  while (at < text.size() && (static_cast<u8>(text[at]) & 0xc0) == 0x80) ++at;
  return std::min(at, text.size());
}

/// `vocabulary` is what the headers say of it.
template <class Encode>
void write_split(const tokenizing& how, const std::string& text, int vocabulary, Encode encode) {
  if (how.validation >= 0) {
    const std::vector<i32> ids = encode(text);
    const auto n = static_cast<std::size_t>(how.validation);
    if (n > ids.size())
      refuse("--validation-tokens: the text has " + std::to_string(ids.size()) + " tokens, not " +
             std::to_string(n));
    write_part(how.out + "/val.bin", std::span(ids).first(n), how.form, vocabulary);
    return write_part(how.out + "/train.bin", std::span(ids).subspan(n), how.form, vocabulary);
  }
  const std::size_t cut = cut_of(text, how.train);
  write_part(how.out + "/train.bin", encode(std::string_view(text).substr(0, cut)), how.form, vocabulary);
  write_part(how.out + "/val.bin", encode(std::string_view(text).substr(cut)), how.form, vocabulary);
}

void convert_tokens(const std::string& in, const std::string& out, token_format form) {
  app::require_free(out, "name");
  const tokens x = read_tokens(in);
  write_tokens(out, x, form, vocabulary_of_tokens(in));
  std::printf("%s: %lld tokens\n", out.c_str(), static_cast<long long>(x.size()));
}

void export_model(const llmc_model& m, const std::string& folder) {
  if (folder.ends_with(".bin"))
    refuse(folder + " is the name of a file; a model of llm.c is converted to a folder of Hugging Face");
  const network n = m.config.build();
  support::whole_folder out(folder);
  write_hugging_face(out.unfinished(), m.config, n, m.to_weights(n));
  out.finish();
  std::printf("%s: config.json, model.safetensors, %lld parameters\n", folder.c_str(),
              static_cast<long long>(n.parameter_count()));
}
void import_model(const std::string& folder, const std::string& file) {
  app::require_free(file, "name");
  pretrained p = read_hugging_face(folder);
  const network n = p.config.build();
  write_llmc_model(file, llmc_model::of(p.config, n, p.to_weights(n)));
  std::printf("%s: a model of llm.c, %lld parameters\n", file.c_str(),
              static_cast<long long>(n.parameter_count()));
}

}  // namespace

int size_in_header(int vocabulary, token_format form) {
  constexpr int of_gpt2 = 50257, of_llama3 = 128256;
  return vocabulary == (form == token_format::llmc_llama3 ? of_llama3 : of_gpt2) ? 0 : vocabulary;
}

void tokenize(const tokenizing& how) {
  namespace fs = std::filesystem;
  const std::string text = read_text(how.text);
  app::make_folder(how.out);
  if (!how.tokenizer.empty() && fs::exists(how.out + "/vocab.json") && !tokenizer::is_in(how.out))
    refuse(how.out +
           "/vocab.json is of characters, and would be taken for the vocabulary of these tokens: give "
           "another --out");
  for (const char* name : {"train.bin", "val.bin"}) app::require_free(fs::path(how.out) / name, "--out");
  if (how.tokenizer.empty()) {
    if (tokenizer::is_in(how.out))
      refuse(how.out +
             " has a tokenizer, which would be taken for that of these characters: give another --out");
    app::require_free(fs::path(how.out) / "vocab.json", "--out");
    const characters letters = characters::of(text);
    write_split(how, text, 0, [&](std::string_view part) { return letters.encode(part); });
    write_characters(how.out + "/vocab.json", letters);
    std::printf("%s/vocab.json: %d characters\n", how.out.c_str(), letters.size());
    return;
  }
  const tokenizer by = tokenizer::from_file(how.tokenizer);
  // The tokens may go to the folder of their tokenizer.
  const bool is_there = fs::is_directory(how.tokenizer) && fs::equivalent(how.tokenizer, how.out);
  if (!is_there && tokenizer::is_in(how.out))
    refuse(how.out + " has a tokenizer, which would be taken for that of these tokens: give another --out");
  // A text is text, also where it reads like a special token.
  const encode_options as_text{.add_special_tokens = false, .match_special_tokens = false};
  write_split(how, text, size_in_header(by.size(), how.form), [&](std::string_view part) {
    return how.sections ? encode_sections(by, part, as_text) : by.encode(part, as_text);
  });
  if (!is_there) write_tokenizer(how.out, tokenizer::json_of(how.tokenizer) + "\n", how.tokenizer);
}

void say(const std::string& file, const std::string& vocabulary, long long from, long long count) {
  const tokens all = read_tokens(file);
  if (from > all.size()) refuse("--from: " + file + " has " + std::to_string(all.size()) + " tokens");
  std::vector<i32> ids(static_cast<std::size_t>(std::min<i64>(count, all.size() - from)));
  all.copy(from, ids);
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const std::string beside =
      tokenizer::is_in(folder.string()) ? folder.string() : (folder / "vocab.json").string();
  if (vocabulary.empty() && !std::filesystem::exists(beside))
    refuse("there is no vocab.json and no tokenizer beside " + file + ": give --vocabulary");
  const std::string& from_file = vocabulary.empty() ? beside : vocabulary;
  const bool are_characters = std::filesystem::path(from_file).filename() == "vocab.json";
  const std::string text = are_characters
                               ? read_characters(from_file).decode(ids)
                               : tokenizer::from_file(from_file).decode(ids, {.skip_special_tokens = false});
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::printf("\n");
}

void draw(long long train, long long test, unsigned long long seed, const std::string& out) {
  app::make_folder(out);
  for (const char* stem : {"train", "t10k"})
    for (const char* of : {"images-idx3-ubyte", "labels-idx1-ubyte"})
      app::require_free(fmt::format("{}/{}-{}", out, stem, of), "--out");
  const auto part = [&](const std::string& stem, long long count, u64 of) {
    write_images(out + "/" + stem + "-images-idx3-ubyte", out + "/" + stem + "-labels-idx1-ubyte",
                 draw_digits(count, of));
    std::printf("%s/%s-images-idx3-ubyte, -labels-idx1-ubyte: %lld digits\n", out.c_str(), stem.c_str(),
                count);
  };
  part("train", train, 2 * seed);
  part("t10k", test, 2 * seed + 1);
}

void convert(const std::string& in, const std::string& out, token_format form) {
  switch (kind_of(in)) {
    case kind::llmc_model: return export_model(read_llmc_model(in), out);
    case kind::hugging_face: return import_model(in, out);
    case kind::llmc_tokens: return convert_tokens(in, out, form);
    case kind::raw_tokens: return convert_tokens(in, out, form);
    case kind::idx: app::require_free(out, "name"); return write_idx(out, read_idx(in));
    default:
      refuse(in +
             " has no other form to convert to; `wsl-data inspect` says what it is, `wsl-data tokenize` "
             "makes tokens of a text, and with --max_seq_length examples in HDF5 are made");
  }
}

}  // namespace data_app
