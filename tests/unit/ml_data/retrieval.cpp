// SPDX-License-Identifier: MIT
// Pairs of encoders in the folders of Hugging Face: DPR's own, and a BERT with which both begin.
#include <set>
#include <wsl/ml/io/hugging_face.hpp>
#include <wsl/ml/io/hugging_face/dpr.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

dual_encoder small(int projection, bool shared = false) {
  encoder e{.vocabulary = 11, .positions = 5, .layers = 2, .heads = 2, .width = 6};
  e.filter = 24, e.padding = 0;
  dual_encoder d{.questions = e, .passages = e, .projection = projection, .shared = shared};
  if (!shared) d.passages.layers = 1, d.passages.positions = 9;
  return d;
}

TEST_CASE("A pair of encoders comes back from the folders of DPR") {
  for (const int projection : {0, 4})
    for (const bool shared : {false, true}) {
      const files::folder here;
      const dual_encoder d = small(projection, shared);
      const network n = d.build();
      const weights w(n, 3);
      write_dpr(here / "dpr", d, n, w);
      const dpr_folders in = dpr_folders::in(here / "dpr");
      const dual_encoder back = read_dpr_config(in, shared);
      CHECK(back == d);
      const weights read = read_dpr(in, back, n, weights(n));
      for (std::size_t k = 0; k < w.size(); ++k) CHECK(read[k] == w[k]);
    }
}

TEST_CASE("The tensors and the configuration are those of transformers") {
  const files::folder here;
  const dual_encoder d = small(4);
  const network n = d.build();
  write_dpr(here / "dpr", d, n, weights(n, 3));
  const tensor_shards q(here / "dpr/q_encoder"), c(here / "dpr/ctx_encoder");
  const auto of_layers = [](const std::string& base, int layers) {
    const std::string bert = base + "bert_model.";
    std::set<std::string> names{bert + "embeddings.word_embeddings.weight",
                                bert + "embeddings.position_embeddings.weight",
                                bert + "embeddings.token_type_embeddings.weight",
                                bert + "embeddings.LayerNorm.weight",
                                bert + "embeddings.LayerNorm.bias",
                                base + "encode_proj.weight",
                                base + "encode_proj.bias"};
    for (int l = 0; l < layers; ++l)
      for (const char* part :
           {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
            "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"})
        for (const char* end : {"weight", "bias"})
          names.insert(fmt::format("{}encoder.layer.{}.{}.{}", bert, l, part, end));
    return std::vector<std::string>(names.begin(), names.end());
  };
  CHECK(q.names() == of_layers("question_encoder.", 2));
  CHECK(c.names() == of_layers("ctx_encoder.", 1));
  const hugging_face::json config = hugging_face::config_file(here / "dpr/ctx_encoder/config.json").fields();
  CHECK(config["model_type"] == "dpr");
  CHECK(config["architectures"] == hugging_face::json{"DPRContextEncoder"});
  CHECK((config["projection_dim"] == 4 && config["num_hidden_layers"] == 1));
  CHECK(config["max_position_embeddings"] == 9);
}

TEST_CASE("Both encoders begin with the weights of a BERT") {
  const files::folder here;
  encoder e = small(0).questions;
  e.task = encoder_task::next_sentence;
  const network bert = e.build();
  const weights of_bert(bert, 5);
  write_hugging_face(here / "bert", e, bert, of_bert);
  const dpr_folders in = dpr_folders::in(here / "bert");
  CHECK(in.questions == in.passages);
  dual_encoder d = read_dpr_config(in);
  CHECK((d.projection == 0 && d.passages == d.questions));
  d.projection = 3;
  const network n = d.build();
  const weights fresh(n, 7), w = read_dpr(in, d, n, fresh);
  const auto of = [](const network& from, const weights& all, const std::string& name) {
    for (std::size_t k = 0; k < all.size(); ++k)
      if (from.parameters()[k].name == name) return all[k];
    FAIL("there is no " + name);
    return std::vector<f32>{};
  };
  for (const char* name : {"embedding.tokens", "types.tokens", "layer 1 qkv.weight", "layer 0 norm 2.gain"})
    for (const char* half : {"question ", "passage 0 "})
      CHECK(of(n, w, std::string(half) + name) == of(bert, of_bert, name));
  CHECK(of(n, w, "question projection.weight") == of(n, fresh, "question projection.weight"));
}

TEST_CASE("A shared encoder is read from folders whose halves are equal, and from one of them") {
  const files::folder here;
  const dual_encoder d = small(4, true);
  const network n = d.build();
  const weights w(n, 3);
  write_dpr(here / "dpr", d, n, w);
  dual_encoder two = d;
  two.shared = false;
  const network of_two = two.build();
  write_dpr(here / "other", two, of_two, weights(of_two, 3));  // both halves begin with other numbers
  const dpr_folders in = dpr_folders::in(here / "dpr"), differs = dpr_folders::in(here / "other");
  CHECK(read_dpr_config(differs, true) == d);
  CHECK_THAT(files::refusal([&] { read_dpr(differs, d, n, weights(n)); }),
             Contains("its tensor 'ctx_encoder.bert_model.embeddings.word_embeddings.weight' is not "
                      "'question_encoder.bert_model.embeddings.word_embeddings.weight' of") &&
                 Contains("but a shared encoder is one for questions and passages"));
  two.passages.layers = 1;
  const network of_forms = two.build();
  write_dpr(here / "forms", two, of_forms, weights(of_forms, 3));
  CHECK_THAT(files::refusal([&] { read_dpr_config(dpr_folders::in(here / "forms"), true); }),
             Contains("the encoder has another form than that of"));
  std::filesystem::remove_all(here / "dpr/ctx_encoder");
  const weights alone = read_dpr(in, read_dpr_config(in, true), n, weights(n));
  for (std::size_t k = 0; k < w.size(); ++k) CHECK(alone[k] == w[k]);
}

TEST_CASE("Folders that are no pair are refused") {
  const files::folder here;
  const dual_encoder d = small(4);
  const network n = d.build();
  write_dpr(here / "dpr", d, n, weights(n, 3));
  const std::string q = here / "dpr/q_encoder", c = here / "dpr/ctx_encoder";
  CHECK_THAT(
      files::refusal([&] { read_dpr_config({q, q}); }),
      Contains("'architectures' is [\"DPRQuestionEncoder\"], and here it should be DPRContextEncoder"));
  const dual_encoder other = small(0);
  const network m = other.build();
  write_dpr(here / "plain", other, m, weights(m, 3));
  CHECK_THAT(files::refusal([&] { read_dpr_config({q, here / "plain/ctx_encoder"}); }),
             Contains("'projection_dim' 0 and 4"));
  files::write(here / "plain/q_encoder/config.json", R"({"model_type": "gpt2"})");
  CHECK_THAT(files::refusal([&] { read_dpr_config(dpr_folders::in(here / "plain")); }),
             Contains("'model_type' is \"gpt2\"; known here are dpr, and bert to begin with"));
  hugging_face::json config = hugging_face::config_file(q + "/config.json").fields();
  config["projection_dim"] = 0;
  files::write(q + "/config.json", config.dump());
  dual_encoder without = d;
  without.projection = 0;
  const network of_without = without.build();
  CHECK_THAT(files::refusal([&] { read_dpr({q, c}, without, of_without, weights(of_without)); }),
             Contains("there is a projection"));
  dual_encoder linformer = small(0);
  linformer.questions.projected = 3;
  const network l = linformer.build();
  CHECK_THROWS_WITH(write_dpr(here / "linformer", linformer, l, weights(l)),
                    Contains("DPR does not have this encoder"));
}

}  // namespace
