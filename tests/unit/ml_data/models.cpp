// SPDX-License-Identifier: MIT
// Models and runs on disk: llm.c's files, Hugging Face's folders, checkpoints.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <set>
#include <wsl/ml/io/checkpoint.hpp>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/hugging_face/companions.hpp>
#include <wsl/ml/io/hugging_face/match.hpp>
#include <wsl/ml/io/llmc.hpp>
#include <wsl/ml/model/serial.hpp>
#include <wsl/ml/run/checkpointing.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

decoder small(bool bias = true) {
  decoder d{.vocabulary = 11, .positions = 5, .layers = 2, .heads = 2, .width = 6};
  d.between = nonlinearity::gelu_tanh, d.bias = bias;
  return d;
}
bool equal(const weights& a, const weights& b) {
  bool all = a.size() == b.size();
  for (std::size_t k = 0; all && k < a.size(); ++k) all = a[k] == b[k];
  return all;
}

TEST_CASE("A model comes back from a file of llm.c") {
  const files::folder here;
  const network n = small().build();
  const weights w(n, 3);
  write_llmc_model(here / "m.bin", llmc_model::of(small(), n, w));
  const llmc_model m = read_llmc_model(here / "m.bin");
  CHECK(m.padded == 128);
  CHECK((m.config.vocabulary == 11 && m.config.positions == 5 && m.config.layers == 2 &&
         m.config.heads == 2 && m.config.width == 6));
  CHECK(equal(m.to_weights(m.config.build()), w));

  llmc_state s;
  s.sequences = 2, s.length = 3, s.ids = {0, 1, 2, 3, 4, 10}, s.targets = {1, 2, 3, 4, 5, 6};
  s.logits.assign(66, 0.5f), s.loss = 2.5f, s.gradients.assign(m.numbers.size(), 0.25f);
  write_llmc_state(here / "s.bin", s);
  const llmc_state back = read_llmc_state(here / "s.bin", m);
  CHECK((back.ids == s.ids && back.targets == s.targets && back.logits == s.logits && back.loss == s.loss &&
         back.gradients == s.gradients));
}

TEST_CASE("A model that llm.c has not is refused") {
  const network n = small(false).build();
  CHECK_THROWS_WITH(llmc_model::of(small(false), n, weights(n)),
                    Contains("every model of llm.c has biases; this one has not"));
  const llmc_model m = llmc_model::of(small(), small().build(), weights(small().build()));
  decoder other = small();
  other.tied = false;
  CHECK_THROWS_WITH(llmc_model::of(other, other.build(), weights(other.build())),
                    Contains("GPT-2, which has the table of tokens as its head; this model has not"));
  other = small();
  other.experts = 2;
  CHECK_THROWS_WITH(llmc_model::of(other, other.build(), weights(other.build())),
                    Contains("GPT-2, which has one feed-forward part in a block; this model has not"));
  CHECK_THROWS_WITH(m.to_weights(n),
                    Contains("a model of llm.c has 'layer 0 norm 1.bias', this one has not"));
}

TEST_CASE("Files of llm.c that are none are refused") {
  const files::folder here;
  const network n = small().build();
  const llmc_model m = llmc_model::of(small(), n, weights(n));
  write_llmc_model(here / "m.bin", m);
  const std::string whole = read_whole(here / "m.bin");
  const auto model_says = [&](std::size_t word, i32 value, std::size_t bytes) {
    std::string changed = whole;
    std::memcpy(changed.data() + 4 * word, &value, 4);
    changed.resize(bytes);
    files::write(here / "x.bin", changed);
    return files::refusal([&] { read_llmc_model(here / "x.bin"); });
  };
  CHECK(model_says(9, 0, whole.size()) == "it is taken");
  CHECK_THAT(model_says(0, 7, whole.size()), Contains("its first word is 7, not 20240326"));
  CHECK_THAT(model_says(1, 2, whole.size()), Contains("version 3 (f32) or 5 (bf16), not 2"));
  CHECK_THAT(model_says(1, 5, whole.size()), Contains("bytes follow"));
  for (std::size_t word : {2u, 3u, 4u, 5u, 6u, 7u})
    CHECK_THAT(model_says(word, -1, whole.size()), Contains("sizes that no model has"));
  CHECK_THAT(model_says(5, 4, whole.size()), Contains("sizes that no model has"));
  CHECK_THAT(model_says(4, 2147483647, whole.size()), Contains("the parameters should follow"));
  CHECK_THAT(model_says(9, 0, whole.size() - 4), Contains("the parameters should follow"));
  CHECK_THAT(model_says(9, 0, whole.size() + 4), Contains("4 bytes follow"));
  CHECK_THAT(model_says(9, 0, 1000), Contains("the header of 256 words should follow"));

  llmc_state s;
  s.sequences = 1, s.length = 1, s.ids = {1}, s.targets = {2}, s.logits.assign(11, 0),
  s.gradients.assign(m.numbers.size(), 0);
  const auto state_says = [&](auto change) {
    llmc_state changed = s;
    change(changed);
    write_llmc_state(here / "s.bin", changed);
    return files::refusal([&] { read_llmc_state(here / "s.bin", m); });
  };
  CHECK(state_says([](auto&) {}) == "it is taken");
  CHECK_THAT(state_says([](auto& x) { x.length = 6; }),
             Contains("1 sequences of 6 tokens; the model takes 1 to 5"));
  CHECK_THAT(state_says([](auto& x) { x.sequences = 2147483647; }), Contains("the tokens should follow"));
  CHECK_THAT(state_says([](auto& x) { x.targets = {11}; }), Contains("none of the model's 11"));
  CHECK_THAT(state_says([](auto& x) { x.gradients.pop_back(); }), Contains("the gradients should follow"));
  files::write(here / "s.bin", whole);
  CHECK_THAT(files::refusal([&] { read_llmc_state(here / "s.bin", m); }),
             Contains("this is no debug state of llm.c"));
}

TEST_CASE("The golden GPT-2 goes to every format and comes back") {
  const auto file = files::data_set("gpt2_tiny/gpt2_tiny.bin");
  if (!file) return;
  const files::folder here;
  const llmc_model m = read_llmc_model(*file);
  const network n = m.config.build();
  const weights w = m.to_weights(n);
  llmc_model back = llmc_model::of(m.config, n, w);
  write_llmc_model(here / "m.bin", back);
  const std::string a = read_whole(here / "m.bin"), b = read_whole(*file);
  CHECK(a == b);
  write_hugging_face(here / "hf", m.config, n, w);
  pretrained p = read_hugging_face(here / "hf");
  CHECK((p.config.between == nonlinearity::gelu_tanh && p.config.heads == 4 && p.config.epsilon == 1e-5f));
  CHECK(equal(p.to_weights(p.config.build()), w));
}

TEST_CASE("A folder of Hugging Face: their names, their order of rows and columns") {
  const files::folder here;
  const network n = small(false).build();
  const weights w(n, 5);
  write_hugging_face(here / "m", small(false), n, w);
  safetensors_file in(here / "m/model.safetensors");
  CHECK(in.tensors().size() == 2 + 2 * 12 + 2);
  CHECK(in.metadata() == text_by_name{{"format", "pt"}});
  const std::vector<f32> theirs = in.numbers("transformer.h.1.attn.c_attn.weight", {6, 18});
  std::size_t k = 0;
  while (n.parameters()[k].name != "layer 1 qkv.weight") ++k;
  CHECK(theirs[2 * 18 + 7] == w[k][7 * 6 + 2]);
  CHECK(in.numbers("transformer.h.0.mlp.c_fc.bias", {24}) == std::vector<f32>(24));
  // A bias of zeros changes nothing: the model with it says what the model without it says.
  pretrained p = read_hugging_face(here / "m");
  const network with_bias = p.config.build();
  weights copy = p.to_weights(with_bias), first = w;
  const std::vector<i32> ids{1, 2, 3, 4, 5}, targets{2, 3, 4, 5, 6};
  const auto loss_of = [&](const network& net, weights& x) {
    batch b{.ids = ids, .targets = targets, .sequences = 1, .length = 5};
    check(net, b);
    activation_store at = store_of(net, b);
    return serial_forward(net, x, at);
  };
  CHECK(loss_of(with_bias, copy) == loss_of(n, first));
}

TEST_CASE("Old names, buffers, tied and strange tensors in a folder of Hugging Face") {
  const files::folder here;
  const network n = small().build();
  const weights w(n, 5);
  write_hugging_face(here / "m", small(), n, w);
  safetensors_file in(here / "m/model.safetensors");
  std::vector<std::vector<f32>> numbers;
  const auto rewrite = [&](const std::vector<tensor_view>& more, const std::string& left_out = {}) {
    numbers.clear();
    numbers.reserve(in.tensors().size());
    std::vector<tensor_view> all = more;
    for (const tensor_info& t : in.tensors()) {
      if (t.name == left_out) continue;
      numbers.push_back(in.numbers(t));
      all.emplace_back(t.name.substr(std::string("transformer.").size()), t.shape, numbers.back());
    }
    std::filesystem::create_directories(here / "old");
    std::filesystem::copy_file(here / "m/config.json", here / "old/config.json",
                               std::filesystem::copy_options::overwrite_existing);
    write_safetensors(here / "old/model.safetensors", all);
    return files::refusal([&] {
      pretrained p = read_hugging_face(here / "old");
      const bool same = equal(p.to_weights(n), w);
      CHECK(same);
    });
  };
  const std::vector<u8> mask(25);
  const std::vector<f32> table = w[0], other(66), one(1);
  CHECK(rewrite({{"h.0.attn.bias", {1, 1, 5, 5}, mask},
                 {"h.0.attn.masked_bias", {1}, one},
                 {"lm_head.weight", {11, 6}, table}}) == "it is taken");
  CHECK_THAT(rewrite({{"lm_head.weight", {11, 6}, other}}),
             Contains("lm_head.weight differs from the table of tokens"));
  CHECK_THAT(rewrite({{"h.0.attn.rotary", {1}, one}}), Contains("'h.0.attn.rotary' that gpt2 has not"));
  CHECK_THAT(rewrite({}, "transformer.ln_f.bias"), Contains("has no tensor 'ln_f.bias'"));
  const auto config_says = [&](const std::string& text) {
    files::write(here / "m/config.json", text);
    return files::refusal([&] { read_hugging_face(here / "m"); });
  };
  CHECK_THAT(config_says("{\n  \"n_layer\": 2,\n  !"),
             Contains("config.json: this is no JSON from line 3, column 3 on"));
  CHECK_THAT(config_says("[]"), Contains("config.json: this is no object in JSON"));
  CHECK_THAT(config_says(R"({"a":1e999})"), Contains("a number beyond those of 64 bits"));
  CHECK_THAT(config_says(R"({"model_type":"gpt2","a":{"b":1,"b":2}})"), Contains("'b' is there twice"));
  CHECK_THAT(config_says("version https://git-lfs.github.com/spec/v1\noid"), Contains("`git lfs pull`"));
  CHECK_THAT(config_says("{}"), Contains("'model_type' is \"\"; known are gpt2, gptj"));
  CHECK_THAT(config_says(R"({"model_type":"gpt2","n_layer":-1})"),
             Contains("'n_layer' should be a whole number"));
  CHECK_THAT(config_says(R"({"model_type":"gpt2","n_head":5})"),
             Contains("'n_head' 5 does not divide 'n_embd' 768"));
  CHECK_THAT(config_says(R"({"model_type":"gpt2","activation_function":"mish"})"),
             Contains("\"mish\", which is not known"));
  CHECK_THAT(config_says(R"({"model_type":"gpt2","tie_word_embeddings":0})"),
             Contains("'tie_word_embeddings' should be true or false, not 0"));
  CHECK_THAT(config_says(R"({"model_type":"llama","vocab_size":7})"),
             Contains("'num_hidden_layers' is missing"));
  CHECK_THAT(config_says(R"({"model_type":"gpt2","layer_norm_epsilon":"small"})"),
             Contains("'layer_norm_epsilon' should be a number"));
  for (const char* value : {"-1", "1e300"})
    CHECK_THAT(config_says(fmt::format(R"({{"model_type":"gpt2","layer_norm_epsilon":{}}})", value)),
               Contains("'layer_norm_epsilon' should be a number of at least 0, not "));
  for (const int layers : {1, 100'000})
    CHECK_THAT(config_says(fmt::format(R"({{"model_type":"gpt2","n_layer":{}}})", layers)),
               Contains(fmt::format("the tensors of 2 layers, and config.json says {}", layers)));
  CHECK(config_says(R"({"model_type":"gpt2","n_layer":2,"n_inner":null})") == "it is taken");
  files::write(here / "m/model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0123");
  CHECK_THAT(config_says(R"({"model_type":"gpt2"})"),
             Contains("model.safetensors: this is a pointer of Git LFS"));
}

TEST_CASE("A model in several files is read by their index, and a wrong index is refused") {
  const files::folder here;
  const network n = small().build();
  const weights w(n, 5);
  write_hugging_face(here / "m", small(), n, w);
  std::vector<std::vector<f32>> numbers;
  std::vector<tensor_view> parts[2];
  nlohmann::json map;
  {
    safetensors_file in(here / "m/model.safetensors");
    numbers.reserve(in.tensors().size());
    for (const tensor_info& t : in.tensors()) {
      const std::size_t k = numbers.size() % 2;
      numbers.push_back(in.numbers(t));
      parts[k].emplace_back(t.name, t.shape, numbers.back());
      map[t.name] = k ? "model-00002-of-00002.safetensors" : "model-00001-of-00002.safetensors";
    }
  }
  std::filesystem::remove(here / "m/model.safetensors");
  write_safetensors(here / "m/model-00001-of-00002.safetensors", parts[0]);
  write_safetensors(here / "m/model-00002-of-00002.safetensors", parts[1]);
  const auto says = [&](const std::string& index) {
    files::write(here / "m/model.safetensors.index.json", index);
    return files::refusal([&] {
      pretrained p = read_hugging_face(here / "m");
      CHECK(equal(p.to_weights(p.config.build()), w));
    });
  };
  const auto with = [&](const char* tensor, const nlohmann::json& file) {
    nlohmann::json changed = map;
    changed[tensor] = file;
    return says(nlohmann::json{{"metadata", {{"total_size", 1}}}, {"weight_map", changed}}.dump());
  };
  const char *bias = "transformer.ln_f.bias", *first = "model-00001-of-00002.safetensors";
  CHECK(with(bias, map[bias]) == "it is taken");
  CHECK_THAT(says("{"), Contains("index.json: an index is an object in JSON with a 'weight_map'"));
  CHECK_THAT(says(R"({"weight_map": {}})"), Contains("an index is an object"));
  CHECK_THAT(says(R"({"weight_map": ["a"]})"), Contains("an index is an object"));
  for (const nlohmann::json& file :
       {nlohmann::json("../m/model-00001-of-00002.safetensors"), nlohmann::json("/etc/passwd"),
        nlohmann::json(""), nlohmann::json(3), nlohmann::json("a.bin")})
    CHECK_THAT(with(bias, file),
               Contains("should be in a file <name>.safetensors beside the index, not in " + file.dump()));
  CHECK_THAT(with(bias, "other.safetensors"),
             Contains("cannot read " + here / "m/other.safetensors") && Contains("index.json names it"));
  CHECK_THAT(with("more", first),
             Contains("tensor 'more' is not in model-00001-of-00002.safetensors, where it should be"));
  map.erase(bias);
  CHECK_THAT(with("transformer.wte.weight", map["transformer.wte.weight"]),
             Contains("has a tensor 'transformer.ln_f.bias' that the index does not have there"));
  std::filesystem::remove(here / "m/model.safetensors.index.json");
  CHECK_THAT(files::refusal([&] { read_hugging_face(here / "m"); }),
             Contains("is a part of a model, and there is no") && Contains("index.json"));
}

/// A small decoder that a family has: with the function, and the head, that it knows.
decoder like(const hugging_face::family& f) {
  decoder d{.vocabulary = 11, .positions = 8, .layers = 2, .heads = 4, .width = 32, .filter = 64};
  if (std::string_view(f.model_type) == "mixtral") d.experts = 4;
  for (const bool tied : {true, false})
    for (const nonlinearity between : {nonlinearity::gelu, nonlinearity::relu, nonlinearity::swiglu}) {
      d.tied = tied, d.between = between;
      try {
        return hugging_face::as_in_family(f, d);
      } catch (const file_error&) {}
    }
  throw std::logic_error("no small decoder is one of this family");
}

TEST_CASE("A model of each family is written whole or in several files, and comes back from either",
          "[large]") {
  const files::folder here;
  for (const hugging_face::family* f : hugging_face::families) {
    INFO(f->model_type);
    const decoder d = like(*f);
    const network n = d.build();
    const weights w(n, 7);
    write_hugging_face(here / "whole", d, n, w, {f->model_type});
    write_hugging_face(here / "parts", d, n, w, {f->model_type, 6000});
    write_hugging_face(here / "parts", d, n, w, {f->model_type, 17000});  // without a part of the first
    CHECK_FALSE(std::filesystem::exists(here / "parts/model.safetensors"));
    std::size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(here / "parts"))
      if (file.path().extension() == ".safetensors") {
        ++files;
        CHECK(file.file_size() < 17000 + 4000);  // with a header
      }
    CHECK(files > 2);
    pretrained p = read_hugging_face(here / "parts");
    CHECK(hugging_face::difference(p.config, d).empty());
    const weights back = p.to_weights(n);
    CHECK(equal(back, w));
    // Written whole again, in the place of the parts, it has the same bytes, and the index is gone.
    write_hugging_face(here / "parts", p.config, n, back, {f->model_type});
    CHECK(read_whole(here / "parts/model.safetensors") == read_whole(here / "whole/model.safetensors"));
    CHECK(read_whole(here / "parts/config.json") == read_whole(here / "whole/config.json"));
    CHECK_FALSE(std::filesystem::exists(here / "parts/model.safetensors.index.json"));
    for (const auto& file : std::filesystem::directory_iterator(here / "parts"))
      CHECK_FALSE(is_shard(file.path()));
    std::filesystem::remove_all(here / "parts");

    // Without the biases that the family can leave out, it comes back with zeros, or without them.
    decoder bare = d;
    bare.bias.qkv = false;
    if (!hugging_face::lacks(*f, bare).empty()) continue;
    const network m = bare.build();
    write_hugging_face(here / "parts", bare, m, weights(m, 7), {f->model_type});
    pretrained back_again = read_hugging_face(here / "parts");
    CHECK_NOTHROW(back_again.to_weights(back_again.config.build()));
    std::filesystem::remove_all(here / "parts");
  }
}

TEST_CASE("Parts that cannot all be written are not read with those of another model") {
  const files::folder here;
  const network n = small().build();
  const auto write = [&](u64 seed) {
    return files::refusal(
        [&] { write_hugging_face(here / "m", small(), n, weights(n, seed), {.largest_file = 3000}); });
  };
  REQUIRE(write(1) == "it is taken");
  const tensor_shards before(here / "m");
  REQUIRE(before.files().size() >= 2);
  // A folder is in the way of one part, which comes back later.
  const std::string part = before.files()[1], bytes = read_whole(part);
  std::filesystem::remove(part);
  std::filesystem::create_directories(part + "/x");
  CHECK_THAT(write(2), Contains("cannot write"));
  std::filesystem::remove_all(part);
  files::write(part, bytes);
  CHECK_THAT(files::refusal([&] { read_hugging_face(here / "m"); }), Contains("cannot read"));
}

TEST_CASE("A tokenizer and the ids of special tokens go with a model") {
  const files::folder here;
  const network n = small().build();
  const weights w(n, 5);
  write_hugging_face(here / "a", small(), n, w);
  nlohmann::json config = nlohmann::json::parse(read_whole(here / "a/config.json"));
  config.update({{"eos_token_id", {3, 4}}, {"bos_token_id", 2}, {"pad_token_id", nullptr}});
  files::write(here / "a/config.json", config.dump());
  files::write(here / "a/tokenizer.json", "words");
  files::write(here / "a/training_args.bin", "no companion");
  const auto json_of = [&](const char* file) { return nlohmann::json::parse(read_whole(here / file)); };

  write_hugging_face(here / "b", small(), n, w, {.companions = here / "a"});
  CHECK(read_whole(here / "b/tokenizer.json") == "words");
  CHECK_FALSE(std::filesystem::exists(here / "b/training_args.bin"));
  CHECK(json_of("b/generation_config.json") == nlohmann::json{{"eos_token_id", {3, 4}}, {"bos_token_id", 2}});
  CHECK(json_of("b/config.json")["eos_token_id"] == nlohmann::json{3, 4});
  CHECK_FALSE(json_of("b/config.json").contains("pad_token_id"));

  // What generation_config.json says has precedence, and the file is copied if it says all.
  const std::string all = R"({ "eos_token_id": 7, "bos_token_id": 1, "top_p": 0.5 })";
  files::write(here / "b/generation_config.json", all);
  std::filesystem::create_directories(here / "run");
  CHECK(hugging_face::copy_companions(here / "b", here / "run") ==
        nlohmann::json{{"eos_token_id", 7}, {"bos_token_id", 1}});
  CHECK(read_whole(here / "run/generation_config.json") == all);
  write_hugging_face(here / "c", small(), n, w, {.companions = here / "run"});
  CHECK(json_of("c/config.json")["eos_token_id"] == 7);
  CHECK_FALSE(json_of("c/config.json").contains("top_p"));
  files::write(here / "run/generation_config.json", "{");
  CHECK_THAT(files::refusal([&] { hugging_face::copy_companions(here / "run", here / "c"); }),
             Contains("run/generation_config.json: this is no JSON"));
}

TEST_CASE("Pickles are refused with the way to convert them, unless there is something else") {
  const files::folder here;
  const network n = small().build();
  write_hugging_face(here / "m", small(), n, weights(n, 5));
  const auto says = [&] { return files::refusal([&] { read_hugging_face(here / "m"); }); };
  files::write(here / "m/pytorch_model.bin", "\x80\x02");
  files::write(here / "m/optimizer.pt", "\x80\x02");  // of a training run, and no model
  CHECK(says() == "it is taken");
  std::filesystem::remove(here / "m/model.safetensors");
  for (const std::string name : {"pytorch_model.bin", "consolidated.00.pth", "model.pt", "last.ckpt"}) {
    std::filesystem::remove(here / "m/pytorch_model.bin");
    files::write(here / ("m/" + name), "\x80\x02");
    CHECK_THAT(says(), Contains(name + " is a pickle, which can run any program") &&
                           Contains("safe_serialization=True"));
    std::filesystem::remove(here / ("m/" + name));
  }
  CHECK_THAT(says(), Contains("cannot read " + here / "m/model.safetensors"));
}

TEST_CASE("Rotary settings are read in the old form and in the new") {
  const files::folder here;
  const auto file = [&](const nlohmann::json& more) {
    nlohmann::json c{{"model_type", "llama"},        {"vocab_size", 11},       {"hidden_size", 32},
                     {"num_attention_heads", 4},     {"num_hidden_layers", 1}, {"intermediate_size", 64},
                     {"max_position_embeddings", 64}};
    c.update(more);
    files::write(here / "config.json", c.dump());
    return here / "config.json";
  };
  const auto read = [&](const nlohmann::json& more) { return read_hugging_face_config(file(more)).second; };
  const auto says = [&](const nlohmann::json& more) { return files::refusal([&] { read(more); }); };
  using nlohmann::json;
  CHECK(read(json::object()).rotary_base == 10000);
  for (const json& form : {json{{"rope_theta", 5000}},
                           json{{"rope_parameters", {{"rope_theta", 5000}, {"rope_type", "default"}}}}}) {
    CHECK(read(form).rotary_base == 5000);
    CHECK(read(form).rotary_scale == rotary_scaling{});
  }
  const json llama3{{"rope_type", "llama3"},
                    {"factor", 8},
                    {"low_freq_factor", 1},
                    {"high_freq_factor", 4},
                    {"original_max_position_embeddings", 32}};
  json with_base = llama3;
  with_base["rope_theta"] = 5000;
  for (const json& form :
       {json{{"rope_theta", 5000}, {"rope_scaling", llama3}},
        json{{"rope_theta", 5000}, {"rope_parameters", llama3}}, json{{"rope_parameters", with_base}},
        json{{"rope_scaling", llama3}, {"rope_parameters", with_base}}}) {
    const decoder d = read(form);
    CHECK(d.rotary_base == 5000);
    CHECK(d.rotary_scale == rotary_scaling{rotary_scaling::kind::llama3, 8, 1, 4, 32});
  }
  // The first files said "type".
  for (const char* key : {"type", "rope_type"})
    CHECK(read({{"rope_scaling", {{key, "linear"}, {"factor", 2}}}}).rotary_scale ==
          rotary_scaling{rotary_scaling::kind::linear, 2});
  CHECK(read({{"rope_scaling", nullptr}}).rotary_scale == rotary_scaling{});
  CHECK_THAT(says({{"rope_scaling", {{"type", "yarn"}, {"factor", 2}}}}),
             Contains("scaled by 'yarn'; linear and llama3 are known"));
  CHECK_THAT(says({{"rope_scaling", {{"type", "linear"}}}}), Contains("'factor' is missing"));
  CHECK_THAT(says({{"rope_scaling", {{"type", "linear"}, {"factor", 0}}}}),
             Contains("'rope_scaling': 'factor' should be a number above 0, not 0"));
  CHECK_THAT(says({{"rope_scaling", "linear"}}), Contains("'rope_scaling' should be an object"));
  for (const int base : {-1, 0})
    CHECK_THAT(says({{"rope_theta", base}}),
               Contains(fmt::format("'rope_theta' should be a number above 0, not {}", base)));
  CHECK_THAT(says({{"partial_rotary_factor", 1.5}}), Contains("'partial_rotary_factor' should be at most 1"));
  CHECK_THAT(says({{"partial_rotary_factor", 0.125}}),
             Contains("a head has 8 features, of which 1 are rotated"));
  CHECK_THAT(says({{"head_dim", 7}}), Contains("of which 7 are rotated") && Contains("'head_dim' 7"));
  CHECK_THAT(says({{"head_dim", 8}, {"num_attention_heads", 3}, {"num_key_value_heads", 2}}),
             Contains("'num_key_value_heads' 2 does not divide the 3 of 'num_attention_heads'"));
  json upside_down = llama3;
  upside_down["low_freq_factor"] = 5;
  CHECK_THAT(says({{"rope_scaling", upside_down}}),
             Contains("'high_freq_factor' 4 should be more than 'low_freq_factor' 5"));
}

// The values are those of transformers' configuration classes.
TEST_CASE("What a configuration leaves out is what its family has") {
  const files::folder here;
  const auto read = [&](const char* type, const nlohmann::json& more = nlohmann::json::object()) {
    nlohmann::json c{{"model_type", type},
                     {"vocab_size", 11},
                     {"hidden_size", 512},
                     {"num_attention_heads", 32},
                     {"num_hidden_layers", 1},
                     {"intermediate_size", 64},
                     {"n_embd", 256},
                     {"n_head", 4},
                     {"n_layer", 1}};
    c.update(more);
    files::write(here / "config.json", c.dump());
    return read_hugging_face_config(here / "config.json").second;
  };
  const decoder llama = read("llama"), mistral = read("mistral"), mixtral = read("mixtral"),
                qwen2 = read("qwen2"), starcoder2 = read("starcoder2");
  CHECK((llama.epsilon == 1e-6f && llama.rotary_base == 1e4 && llama.kv_heads == 32 && llama.window == 0));
  CHECK((mistral.epsilon == 1e-6f && mistral.rotary_base == 1e4 && mistral.kv_heads == 8 &&
         mistral.window == 4096 && mistral.positions == 131072));
  CHECK((mixtral.epsilon == 1e-5f && mixtral.rotary_base == 1e6 && mixtral.kv_heads == 8 &&
         mixtral.window == 0 && mixtral.positions == 131072));
  CHECK((qwen2.epsilon == 1e-6f && qwen2.rotary_base == 1e4 && qwen2.kv_heads == 32 &&
         qwen2.positions == 32768));
  CHECK((starcoder2.kv_heads == 2 && starcoder2.positions == 4096 && starcoder2.deviation == 0.018042f));
  CHECK(read("gpt_bigcode").positions == 1024);
  CHECK((read("gptj").rotary_features == 64 && read("codegen").rotary_features == 64));
  // Null is not the same as absent.
  CHECK(read("mistral", {{"sliding_window", nullptr}}).window == 0);
  CHECK(read("mistral", {{"num_key_value_heads", nullptr}}).kv_heads == 32);
  CHECK(read("gptj", {{"rotary_dim", nullptr}}).rotary_features == 0);
  CHECK_THAT(files::refusal([&] { read("gptj", {{"n_head", 8}}); }),
             Contains("'rotary_dim' is 64, as it is not there; it should be even, and at most the 32"));
}

struct run {
  std::vector<f32> w{1, 2, 3, 4}, m{5, 6};
  std::vector<named_array> arrays() { return {{"w", {2, 2}, w}, {"m", {2}, m}}; }
};

TEST_CASE("A run is saved and gone on with") {
  const files::folder here;
  const checkpoints saved(here / "run", 2);
  CHECK(!saved.newest());
  run r;
  for (i64 step : {1, 5, 20, 100}) {
    r.w[0] = static_cast<f32>(step);
    text_by_name facts{{"configuration", "optimizer:\n  \"adamw\"\n"}};
    add_facts(facts, {.seed = ~u64{0}, .epoch = 3, .example = 14});
    CHECK(saved.save(step, r.arrays(), facts) ==
          here / ("run/checkpoint_" + std::to_string(step) + ".safetensors"));
  }
  CHECK(saved.steps() == std::vector<i64>{20, 100});
  checkpoint last(saved.newest().value());
  CHECK(last.step() == 100);
  CHECK(last.fact("configuration") == "optimizer:\n  \"adamw\"\n");
  CHECK(place_in_data(last) == data_position{~u64{0}, 3, 14});
  CHECK_THAT(files::refusal([&] { last.whole_number<i64>("configuration"); }),
             Contains("'configuration' should be a whole number"));
  CHECK_THAT(files::refusal([&] { last.fact("mood"); }), Contains("says nothing of 'mood'"));
  run other;
  other.m = {0, 0};
  last.restore(other.arrays());
  CHECK((other.w == r.w && other.m == r.m));
  // From an earlier step again: what is later stays, and is not counted.
  saved.save(50, r.arrays(), {});
  CHECK(saved.steps() == std::vector<i64>{20, 50, 100});
}

TEST_CASE("A file that is not whole is never a checkpoint") {
  const files::folder here;
  const checkpoints saved(here / "run");
  run r;
  saved.save(1, r.arrays(), {});
  const std::string whole = read_whole(here / "run/checkpoint_1.safetensors");
  files::write(here / "run/checkpoint_3.safetensors.unfinished", whole);
  files::write(here / "run/checkpoint_x.safetensors", whole);
  files::write(here / "run/checkpoint_4.safetensors", whole);  // of another step
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    files::write(here / "run/checkpoint_2.safetensors", whole.substr(0, bytes));
    CHECK(saved.newest() == here / "run/checkpoint_1.safetensors");
  }
  std::vector<std::string> refused;
  saved.newest(&refused);
  REQUIRE(refused.size() == 2);
  CHECK_THAT(refused[0], Contains("of another step"));
  CHECK_THAT(refused[1], Contains("cut short"));
  CHECK_THAT(files::refusal([&] { checkpoint(here / "run/checkpoint_2.safetensors"); }),
             Contains("cut short"));
  const std::vector<f32> x(1);
  write_safetensors(here / "x", {{"x", {1}, x}});
  CHECK_THAT(files::refusal([&] { checkpoint(here / "x"); }), Contains("it was not written by this program"));
}

TEST_CASE("A flipped bit in the newest checkpoint lets the one before it be the newest") {
  const files::folder here;
  const checkpoints saved(here / "run");
  run r;
  saved.save(1, r.arrays(), {});
  r.w[0] = 9;
  const std::string name = saved.save(2, r.arrays(), {{"model", "num_heads: 2\n"}});
  const std::string whole = read_whole(name);
  int unnoticed = 0;
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    std::string flipped = whole;
    flipped[byte] = static_cast<char>(flipped[byte] ^ 4);
    files::write(name, flipped);
    std::vector<std::string> refused;
    const auto newest = saved.newest(&refused);
    if (newest == name) {
      // A change that is not noticed must be harmless: to the name of the sum itself, or of a text that is
      // not read.
      ++unnoticed;
      run back;
      checkpoint c(name);
      c.restore(back.arrays());
      CHECK((back.w == r.w && back.m == r.m && c.fact("model") == "num_heads: 2\n"));
      continue;
    }
    CHECK(newest == here / "run/checkpoint_1.safetensors");
    CHECK(refused.size() == 1);
  }
  CHECK(unnoticed < 32);
}

TEST_CASE("A run that is killed at any moment leaves whole checkpoints") {
  const files::folder here;
  const checkpoints saved(here / "run", 2);
  std::vector<f32> w(20'000);
  const std::vector<named_array> arrays{{"w", {100, 200}, w}};
  std::mt19937 random(1);
  i64 last = 0;
  unsigned longest = 8000;  // microseconds; doubled while that is too little for the first checkpoint
  for (int life = 0; life < 50; ++life) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (i64 step = last + 1;; ++step) {
        std::fill(w.begin(), w.end(), static_cast<f32>(step));
        saved.save(step, arrays, {});
      }
    }
    ::usleep(static_cast<unsigned>(1000 + random() % longest));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto newest = saved.newest();
    if (!newest) {
      longest = std::min(2 * longest, 500'000U);
      continue;
    }
    checkpoint c(*newest);
    c.restore(arrays);
    CHECK(c.step() >= last);
    last = c.step();
    CHECK(std::all_of(w.begin(), w.end(), [&](f32 x) { return x == static_cast<f32>(last); }));
  }
  CHECK(last > 0);
  // A process that is killed before it removes the oldest leaves more of them; the next one removes them.
  saved.save(last + 1, arrays, {});
  CHECK(saved.steps() == std::vector<i64>{last, last + 1});
}

TEST_CASE("Weights are taken from a checkpoint without what the optimizer keeps of them") {
  const files::folder here;
  std::vector<f32> w{1, 2, 3, 4}, first{5, 6, 7, 8}, second{9, 9, 9, 9}, to(4);
  const std::string name =
      checkpoints(here / "run")
          .save(1,
                std::vector<named_array>{
                    {"w", {2, 2}, w}, {"w/first", {2, 2}, first}, {"w/second", {2, 2}, second}},
                {});
  checkpoint c(name);
  const std::vector<named_array> weights{{"w", {2, 2}, to}};
  CHECK_THAT(files::refusal([&] { c.restore(weights); }), Contains("has a tensor 'w/first' for which"));
  CHECK_THAT(files::refusal([&] { c.restore(weights, [](auto suffix) { return suffix == "/first"; }); }),
             Contains("has a tensor 'w/second' for which"));
  CHECK(to == std::vector<f32>(4));
  c.restore(weights, [](auto suffix) { return suffix == "/first" || suffix == "/second"; });
  CHECK(to == w);
}

TEST_CASE("What does not fit a checkpoint is named, and nothing changes") {
  const files::folder here;
  const checkpoints saved(here / "run");
  run r;
  const std::string name = saved.save(1, r.arrays(), {});
  checkpoint c(name);
  std::vector<f32> w(4), m(2), z(1);
  const auto says = [&](std::vector<named_array> arrays) {
    return files::refusal([&] { c.restore(arrays); });
  };
  CHECK_THAT(says({{"w", {2, 2}, w}}), Contains("has a tensor 'm' for which there is no place"));
  CHECK_THAT(says({{"w", {2, 2}, w}, {"m", {2}, m}, {"z", {1}, z}}), Contains("has no tensor 'z'"));
  CHECK_THAT(says({{"w", {4}, w}, {"m", {2}, m}}), Contains("tensor 'w' has the shape (2, 2), not (4)"));
  std::string damaged = read_whole(name);
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  files::write(name, damaged);
  checkpoint d(name);
  CHECK_THAT(files::refusal([&] { d.restore(std::vector<named_array>{{"w", {2, 2}, w}, {"m", {2}, m}}); }),
             Contains("the numbers are damaged"));
  CHECK((w == std::vector<f32>(4) && m == std::vector<f32>(2)));
}

}  // namespace
