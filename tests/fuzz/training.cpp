// SPDX-License-Identifier: MIT
// The readers of training: texts, images, token files, models, checkpoints and loss curves.
#include <wsl/ml/data/characters.hpp>
#include <wsl/ml/data/images.hpp>
#include <wsl/ml/data/token_shards.hpp>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/llmc.hpp>
#include <wsl/ml/run/checkpointing.hpp>
#include <wsl/ml/run/loss_curve.hpp>

#include "fuzz.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using namespace fuzz;

void safetensors(std::string_view bytes) {
  const memory_file f(bytes);
  safetensors_file in(f.name());
  for (const tensor_info& t : in.tensors()) {
    holds(t.end <= bytes.size());
    if (t.type.name == "F16") in.numbers(t);
    if (t.type.name == "I32") in.read<i32>(t);
  }
}
void checkpoints_of(std::string_view bytes) {
  const memory_file f(bytes);
  checkpoint c(f.name());
  std::vector<f32> w(4);
  c.restore(std::vector<named_array>{{"w", {2, 2}, w}});
  c.step(), ml::place_in_data(c);
}
void idx(std::string_view bytes) {
  const memory_file f(bytes);
  const idx_array x = read_idx(f.name());
  write_idx(scratch() + "/idx", x);
  const idx_array y = read_idx(scratch() + "/idx");
  // Numbers that are NaN are not equal, their bytes are.
  const auto bytes_of = [](const idx_array& a) {
    return std::visit(
        [](const auto& n) {
          return std::string(reinterpret_cast<const char*>(n.data()), n.size() * sizeof n[0]);
        },
        a.numbers);
  };
  holds(x.shape == y.shape && bytes_of(x) == bytes_of(y));
}
void gzip(std::string_view bytes) {
  const memory_file f("\x1f\x8b\x08" + std::string(bytes));
  gzip_file in(f.name());
  in.take<u8>(1 << 16, "numbers");
}
void text(std::string_view bytes) {
  const memory_file f(bytes);
  const std::string all = read_text(f.name());
  const characters letters = characters::of(all);
  holds(letters.decode(letters.encode(all)) == all &&
        characters::in_order(letters.letters()).size() == letters.size());
}
void token_files(std::string_view bytes) {
  const memory_file f(bytes);
  const tokens x = read_tokens(f.name());
  const bool wide = x.are_wide();
  write_tokens(scratch() + "/tokens", x, wide ? token_format::llmc_llama3 : token_format::llmc);
  const tokens y = read_tokens(scratch() + "/tokens");
  holds(x.size() == y.size() && x.are_wide() == y.are_wide());
  for (i64 i = 0; i < x.size(); ++i) holds(x[i] == y[i]);
  // And twice, as two shards.
  const token_format form = format_of_tokens(f.name());
  write_tokens(scratch() + "/tokens", x, form);
  const tokens both = read_token_files({f.name(), scratch() + "/tokens"});
  holds(both.size() == 2 * x.size() && both.largest() == x.largest());
  std::vector<i32> all(static_cast<std::size_t>(both.size()));
  both.copy(0, all);
  for (i64 i = 0; i < both.size(); ++i)
    holds(both[i] == x[i % x.size()] && both[i] == all[static_cast<std::size_t>(i)]);
}
void llmc(std::string_view bytes) {
  const memory_file f(bytes);
  const llmc_model m = read_llmc_model(f.name());
  write_llmc_model(scratch() + "/model", m);
  holds(read_llmc_model(scratch() + "/model").numbers.size() == m.numbers.size());
}
void llmc_states(std::string_view bytes) {
  const llmc_model m{{.vocabulary = 3,
                      .positions = 4,
                      .layers = 1,
                      .heads = 1,
                      .width = 1,
                      .between = nonlinearity::gelu_tanh},
                     4,
                     std::vector<f32>(10)};
  const memory_file f(bytes);
  holds(read_llmc_state(f.name(), m).gradients.size() == 10);
}
void hugging_face(std::string_view bytes) {
  const memory_file f(bytes);
  const decoder d = read_hugging_face_config(f.name()).second;
  holds((d.head_width > 0 || d.width % d.heads == 0) && d.layers > 0);
}

void shards(std::string_view bytes) {
  static const std::vector<f32> w{1, 2}, v{3};
  static const std::string folder = [] {
    write_safetensors(scratch() + "/a.safetensors", {{"w", {2}, w}, {"x", {1}, v}});
    write_safetensors(scratch() + "/b.safetensors", {{"v", {1}, v}});
    return scratch();
  }();
  support::write_whole_file(folder + "/model.safetensors.index.json", std::string(bytes));
  tensor_shards in(folder);
  holds(in.names() == std::vector<std::string>{"v"} ||
        in.names() == std::vector<std::string>{"v", "w", "x"} ||
        in.names() == std::vector<std::string>{"w", "x"});
  if (in.has("w")) holds(in.numbers("w", {2}) == w);
}
void curve(std::string_view bytes) {
  try {
    const loss_curve c = loss_curve::from_csv(bytes);
    holds(loss_curve::from_csv(c.csv()).csv() == c.csv() &&
          c.svg("a < b").size() < 2000 + 100 * bytes.size());
  } catch (const std::invalid_argument& e) { holds(std::string_view(e.what()).starts_with("wsl: line ")); }
}

const enter table{{"safetensors", safetensors},
                  {"checkpoint", checkpoints_of},
                  {"shards", shards},
                  {"config", hugging_face},
                  {"idx", idx},
                  {"gzip", gzip},
                  {"text", text},
                  {"tokens", token_files},
                  {"llmc", llmc},
                  {"llmc_state", llmc_states},
                  {"curve", curve}};
}  // namespace
