// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <wsl/ml/data/characters.hpp>
#include <wsl/ml/data/idx.hpp>
#include <wsl/ml/data/images.hpp>
#include <wsl/ml/data/vocabulary.hpp>
#include <wsl/ml/io/checkpoint.hpp>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/llmc.hpp>
#include <wsl/ml/tokenizer/tokenizer.hpp>

#include "commands.hpp"
#include "kind.hpp"

namespace data_app {
namespace {
using namespace wsl;
using namespace wsl::ml;

template <class... T>
void line(const char* form, const T&... x) {
  std::printf("  ");
  if constexpr (sizeof...(x) == 0) std::fputs(form, stdout);
  else std::printf(form, x...);
  std::printf("\n");
}

template <class T>
void range(const char* what, const std::vector<T>& x) {
  if (x.empty()) return line("%s: none", what);
  const auto [least, most] = std::minmax_element(x.begin(), x.end());
  const f64 sum = std::accumulate(x.begin(), x.end(), 0., [](f64 s, T v) { return s + static_cast<f64>(v); });
  line("%s: %zu, from %g to %g, mean %g", what, x.size(), static_cast<f64>(*least), static_cast<f64>(*most),
       sum / static_cast<f64>(x.size()));
}

/// A small grey image in characters, two for each pixel.
void picture(const u8* pixels, u32 rows, u32 columns) {
  constexpr std::string_view greys = " .:-=+*#%@";
  for (u32 y = 0; y < rows; ++y) {
    std::string text;
    for (u32 x = 0; x < columns; ++x) text.append(2, greys[pixels[y * columns + x] * greys.size() / 256]);
    text.erase(text.find_last_not_of(' ') + 1);
    line("%s", text.c_str());
  }
}

void say_idx(const std::string& path) {
  const idx_array x = read_idx(path);
  static constexpr const char* names[] = {"u8", "i8", "i16", "i32", "f32", "f64"};
  const std::vector<u64> shape(x.shape.begin(), x.shape.end());
  line("IDX: %s of shape %s", names[x.numbers.index()], text_of(shape).c_str());
  std::visit([](const auto& numbers) { range("numbers", numbers); }, x.numbers);
  const auto* bytes = std::get_if<std::vector<u8>>(&x.numbers);
  if (bytes && x.shape.size() == 3 && x.shape[0] && x.shape[1] <= 64 && x.shape[2] <= 64)
    line("the first image:"), picture(bytes->data(), x.shape[1], x.shape[2]);
}

void say_safetensors(const std::string& path) {
  const safetensors_file in(path);
  line("safetensors: %zu tensors", in.tensors().size());
  for (const auto& [key, text] : in.metadata()) line("%s = %s", key.c_str(), text.c_str());
  u64 numbers = 0;
  for (const tensor_info& t : in.tensors()) {
    line("%-40s %-5s %s", t.name.c_str(), std::string(t.type.name).c_str(), text_of(t.shape).c_str());
    numbers += t.count();
  }
  line("%llu numbers in all", static_cast<unsigned long long>(numbers));
}

void say_decoder(const decoder& d) {
  line("a vocabulary of %d, %d positions, %d layers of %d heads, %d wide", d.vocabulary, d.positions,
       d.layers, d.heads, d.width);
}

void say_model(const std::string& path) {
  const llmc_model m = read_llmc_model(path);
  line("a model of llm.c, the vocabulary filled up to %d", m.padded);
  say_decoder(m.config);
  range("parameters", m.numbers);
}

void say_state(const std::string& path, const std::string& model) {
  line("a debug state of llm.c");
  if (model.empty()) return line("say --model <its model> to see more");
  const llmc_state s = read_llmc_state(path, read_llmc_model(model));
  line("%d sequences of %d tokens, a loss of %g", s.sequences, s.length, static_cast<f64>(s.loss));
  range("logits", s.logits);
  range("gradients", s.gradients);
}

/// How a file of tokens is written.
const char* form_of(const std::string& path) {
  return kind_of(path) == kind::llmc_tokens ? "in the form of llm.c" : "without a header";
}
void say_tokens(const std::string& path, const char* form) {
  const tokens x = read_tokens(path);
  line("tokens, %s: %lld of them, %d bits each, the largest %d", form, static_cast<long long>(x.size()),
       x.are_wide() ? 32 : 16, x.largest());
  std::string first;
  for (i64 i = 0; i < std::min<i64>(x.size(), 12); ++i) first += fmt::format(" {}", x[i]);
  line("they begin with%s", first.c_str());
}

void say_text(const std::string& path) {
  const std::string text = read_text(path);
  line("text: %zu bytes, %td lines, %d different characters", text.size(),
       std::count(text.begin(), text.end(), '\n'), characters::of(text).size());
}

void say_hugging_face(const std::string& path) {
  pretrained p = read_hugging_face(path);
  line("a %s of Hugging Face", p.model_type());
  say_decoder(p.config);
  const network n = p.config.build();
  p.to_weights(n);
  line("%lld parameters, all there", static_cast<long long>(n.parameter_count()));
}

void say_tokenized(const std::string& folder) {
  for (const char* part : {"train.bin", "val.bin"}) {
    const std::string file = folder + "/" + part;
    if (!std::filesystem::exists(file)) continue;
    line("%s", part), say_tokens(file, form_of(file));
  }
  const std::string letters = folder + "/vocab.json";
  if (std::filesystem::exists(letters)) line("vocab.json: %d characters", read_characters(letters).size());
}

void say_tokenizer(const std::string& path) {
  const tokenizer t = tokenizer::from_file(path);
  line("a tokenizer, %s, %d tokens; `wsl-data tokenizer show` says more", t.model_name(), t.size());
}

void say_mnist(const std::string& path) {
  for (const auto& [part, name] : {std::pair(mnist_part::train, "training"), {mnist_part::test, "testing"}}) {
    const images x = read_mnist(path, part);
    std::array<int, 256> of{};
    for (u8 l : x.labels) ++of[l];
    std::string counts;
    for (int n : std::span(of).first(10)) counts += fmt::format(" {}", n);
    line("MNIST for %s: %lld images of %d x %d; of 0 to 9 there are%s", name,
         static_cast<long long>(x.count()), x.rows, x.columns, counts.c_str());
  }
}

/// Whether a text is one object in JSON with the model of a tokenizer.
bool is_tokenizer(const std::string& path) {
  const nlohmann::json all = nlohmann::json::parse(read_text(path), nullptr, false);
  return all.is_object() && all.contains("model") && all["model"].is_object() &&
         all["model"].contains("vocab");
}
bool is_text(const std::string& path) {
  try {
    return read_text(path).find('\0') == std::string::npos;
  } catch (const file_error&) { return false; }
}

}  // namespace

kind kind_of(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    const auto has = [&](const char* file) { return std::filesystem::exists(path + "/" + file); };
    if (has("config.json")) return kind::hugging_face;
    if (has("train.bin") || has("val.bin")) return kind::tokenized;
    if (tokenizer::is_in(path)) return kind::tokenizer;
    try {
      read_mnist(path, mnist_part::test);
    } catch (const file_error& e) {
      throw file_error(path +
                       " is a folder, but neither one of Hugging Face, for it has no config.json, nor one of "
                       "tokens, for it has "
                       "no train.bin, nor of a tokenizer, nor one of MNIST: " +
                       std::string(e.what()).substr(std::string_view("wsl: ").size()));
    }
    return kind::mnist;
  }
  input_file in(path);
  const std::string first = in.take_text(std::min<u64>(in.size(), 9), "the beginning");
  const auto word = [&] {
    i32 w = 0;
    std::memcpy(&w, first.data(), std::min<std::size_t>(first.size(), 4));
    return w;
  }();
  if (word == llmc_model_magic) return kind::llmc_model;
  if (word == llmc_state_magic) return kind::llmc_state;
  if (word == gpt2_tokens.magic || word == llama3_tokens.magic) return kind::llmc_tokens;
  if (first.starts_with("\x89HDF\r\n\x1a\n")) return kind::hdf5;
  if (first.starts_with("\x1f\x8b") || (first.size() >= 4 && !first[0] && !first[1] && first[2] >= 8 &&
                                        first[2] <= 14 && first[3] >= 0 && first[3] < 8))
    return kind::idx;
  if (first.size() == 9 && first[8] == '{' && !first[7] && !first[6]) return kind::safetensors;
  if (!is_text(path)) return kind::raw_tokens;
  return is_tokenizer(path) ? kind::tokenizer : kind::text;
}

namespace {

void inspect_one(const std::string& path, const std::string& model) {
  const kind k = kind_of(path);
  std::printf("%s\n", path.c_str());
  switch (k) {
    case kind::idx: return say_idx(path);
    case kind::safetensors: return say_safetensors(path);
    case kind::hdf5: return inspect_hdf5(path);
    case kind::llmc_model: return say_model(path);
    case kind::llmc_state: return say_state(path, model);
    case kind::llmc_tokens:
    case kind::raw_tokens: return say_tokens(path, form_of(path));
    case kind::tokenized: return say_tokenized(path);
    case kind::tokenizer: return say_tokenizer(path);
    case kind::text: return say_text(path);
    case kind::hugging_face: return say_hugging_face(path);
    case kind::mnist: return say_mnist(path);
  }
}

}  // namespace

void inspect(const std::vector<std::string>& paths, const std::string& model) {
  std::string refused;
  for (const std::string& path : paths) {
    try {
      inspect_one(path, model);
    } catch (const file_error& e) {
      const std::string sentence = e.what();
      refused +=
          (refused.empty() ? "" : "\nwsl-data: ") + sentence.substr(sentence.starts_with("wsl: ") ? 5 : 0);
    }
  }
  if (!refused.empty()) throw file_error(refused);
}

}  // namespace data_app
