// SPDX-License-Identifier: MIT
// DPR (transformers, models/dpr): a pair of encoders lies in two folders, a DPRQuestionEncoder and a
// DPRContextEncoder, each one BERT without its pooler and perhaps a projection. The Cerebras Model Zoo keeps
// them side by side, in q_encoder and ctx_encoder of one folder. A pair may also begin with a BERT, which
// both encoders get.
//   dual_encoder d = read_dpr_config(dpr_folders::in("dpr"));
//   const network n = d.build();
//   const weights w = read_dpr(dpr_folders::in("dpr"), d, n, weights(n));
//   write_dpr("export", d, n, w);
#pragma once
#include <filesystem>

#include "../../model/dual_encoder.hpp"
#include "../hugging_face.hpp"
#include "families.hpp"
#include "match.hpp"

namespace wsl::ml {

namespace hugging_face {

// Defined in pretrained.hpp.
void write_model_files(const std::string& folder, const std::vector<tensor>& tensors, json config,
                       const hugging_face_settings& how);

}  // namespace hugging_face

/// The folders of a pair of encoders.
struct dpr_folders {
  std::string questions, passages;

  static constexpr const char *of_questions = "q_encoder", *of_passages = "ctx_encoder";
  /// A folder that has both, or one with an encoder with which both begin.
  static dpr_folders in(const std::string& folder) {
    const auto half = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
    const std::string q = half(of_questions), c = half(of_passages);
    if (std::filesystem::is_directory(q) || std::filesystem::is_directory(c)) return {q, c};
    return {folder, folder};
  }
};

namespace hugging_face {

/// One of a pair of encoders in a folder.
struct dpr_half {
  std::string folder;
  bool of_questions;

  config_file config() const { return config_file(folder + "/config.json"); }
  const char* architecture() const { return of_questions ? "DPRQuestionEncoder" : "DPRContextEncoder"; }
  std::string base() const { return of_questions ? "question_encoder." : "ctx_encoder."; }
  /// Whether it is a BERT, with which an encoder begins. Throws file_error if it is nothing that one has.
  bool is_bert() const {
    const config_file c = config();
    const std::string type = c.text("model_type", "");
    if (type == "bert") return true;
    if (type != "dpr")
      throw c.error("'model_type' is {}; known here are dpr, and bert to begin with", printable(type));
    const json all = c.fields().value("architectures", json::array({architecture()}));
    if (all != json::array({architecture()}))
      throw c.error("'architectures' is {}, and here it should be {}: a pair has a folder of each",
                    printable(all), architecture());
    return false;
  }
  encoder read() const {
    json fields = config().fields();
    fields.erase("architectures");  // a task of BERT, or DPR's own
    const config_file c(folder + "/config.json", std::move(fields));
    encoder e = read_bert(c, "Bert");
    e.padding = c.token("pad_token_id", 0);
    return e;
  }
  int projection() const {
    const config_file c = config();
    const json x = is_bert() ? json(0) : c.fields().value("projection_dim", json(0));
    return x == 0 ? 0 : c.whole("projection_dim");
  }
  /// The tensors of a DPR, or of a BERT, and the parameters of the pair's network.
  std::vector<tensor_rule> rules(const dual_encoder& d, bool of_bert) const {
    tensor_rules r =
        encoder_tensors(of_questions ? d.questions : d.passages, of_bert ? "bert." : base() + "bert_model.");
    if (d.projection && !of_bert) r.linear(base() + "encode_proj", "projection", true);
    for (tensor_rule& x : r.all) x.ours = d.prefix_of(of_questions) + x.ours;
    return std::move(r.all);
  }
};
/// Whether the folders have an encoder of passages of their own, which a shared one should equal.
inline bool has_both_halves(const dpr_folders& in) {
  return in.passages != in.questions && std::filesystem::is_directory(in.passages);
}
inline std::vector<dpr_half> halves(const dpr_folders& in, const dual_encoder& d) {
  std::vector<dpr_half> all{{in.questions, true}};
  if (!d.shared || has_both_halves(in)) all.push_back({in.passages, false});
  return all;
}
/// Throws file_error, with the names of the tensors, if two halves differ that are to be one shared encoder.
inline void require_equal_halves(const dpr_half& q, const dpr_half& p, const dual_encoder& d,
                                 const network& n, const weights& of_questions, const weights& of_passages) {
  const std::vector<tensor_rule> theirs = q.rules(d, q.is_bert()), others = p.rules(d, p.is_bert());
  for (std::size_t k = 0; k < std::min(theirs.size(), others.size()); ++k) {
    const parameter* const a = find_parameter(n, theirs[k].ours);
    if (!a) continue;
    const auto at = static_cast<std::size_t>(a - n.parameters().data());
    if (of_questions[at] == of_passages[at]) continue;
    throw p.config().error(
        "its tensor '{}' is not '{}' of {}, but a shared encoder is one for questions and passages: read "
        "both "
        "(use_biencoder true), or take a folder with one encoder",
        others[k].theirs, theirs[k].theirs, q.folder);
  }
}

}  // namespace hugging_face

/// The forms of both encoders, and of the projection. With `shared` both are one encoder, that of questions.
/// Throws file_error, also if the folders have two forms then.
inline dual_encoder read_dpr_config(const dpr_folders& in, bool shared = false) {
  using hugging_face::dpr_half;
  const bool has_one = shared && !hugging_face::has_both_halves(in);
  const dpr_half q{in.questions, true}, p{has_one ? in.questions : in.passages, has_one};
  const dual_encoder d{
      .questions = q.read(), .passages = p.read(), .projection = q.projection(), .shared = shared};
  if (d.projection != p.projection() || (!d.projection && d.questions.width != d.passages.width))
    throw p.config().error(
        "the vectors of passages are not those of {}: 'projection_dim' {} and {}, 'hidden_size' {} and {}",
        q.folder, p.projection(), d.projection, d.passages.width, d.questions.width);
  if (shared && !(d.questions == d.passages))
    throw p.config().error(
        "the encoder has another form than that of {}, and cannot be shared with it: read "
        "both (use_biencoder true)",
        q.folder);
  return d;
}

/// The weights of the network that a pair builds. A projection that a BERT does not have is as in
/// `otherwise`. Throws file_error; for a shared encoder of which the folders have two that differ, with the
/// first tensor that does.
inline weights read_dpr(const dpr_folders& in, const dual_encoder& d, const network& n, weights otherwise) {
  const std::vector<hugging_face::dpr_half> halves = hugging_face::halves(in, d);
  for (const hugging_face::dpr_half& half : halves) {
    const bool bert = half.is_bert();
    const std::string prefix = bert ? "bert." : half.base() + "bert_model.";
    const std::vector<hugging_face::tensor_rule> rules = half.rules(d, bert);
    tensor_shards files(half.folder);
    if (!bert && !d.projection && files.has(half.base() + "encode_proj.weight"))
      throw half.config().error("there is a projection in {}, but 'projection_dim' is 0", files.name());
    hugging_face::model_files all(bert ? "bert" : "dpr", prefix, rules, std::move(files));
    all.check_layers(half.of_questions ? d.questions.layers : d.passages.layers);
    weights read = all.to_weights(n, rules, &otherwise);
    if (d.shared && &half != &halves.front())
      hugging_face::require_equal_halves(halves.front(), half, d, n, otherwise, read);
    otherwise = std::move(read);
  }
  return otherwise;
}

/// Writes both encoders for from_pretrained of transformers, to q_encoder and ctx_encoder in a folder; a
/// shared one is written twice. Throws std::invalid_argument for encoders that BERT does not have, and
/// file_error.
inline void write_dpr(const std::string& folder, const dual_encoder& d, const network& n, const weights& w,
                      const hugging_face_settings& how = {}) {
  using namespace hugging_face;
  const std::string in[]{folder + "/" + dpr_folders::of_questions, folder + "/" + dpr_folders::of_passages};
  for (const bool of_questions : {true, false}) {
    const encoder& e = of_questions ? d.questions : d.passages;
    if (const std::string lacking = lacks(bert, e); !lacking.empty())
      throw std::invalid_argument(fmt::format("wsl: DPR does not have this encoder: {}", lacking));
    const dpr_half half{in[of_questions ? 0 : 1], of_questions};
    std::vector<tensor> tensors;
    for (const tensor_rule& r : half.rules(d, false)) {
      const parameter* const p = find_parameter(n, r.ours);
      if (!p) throw std::invalid_argument(fmt::format("wsl: this network has no '{}'", r.ours));
      tensors.push_back(
          {r.theirs, r.shape(*p), r.to_theirs(*p, w[static_cast<std::size_t>(p - n.parameters().data())])});
    }
    json config = write_bert(e, "Bert");
    config["model_type"] = "dpr", config["architectures"] = {half.architecture()};
    config["projection_dim"] = d.projection, config["torch_dtype"] = "float32";
    for (const char* of_task : {"id2label", "label2id"}) config.erase(of_task);
    for (const auto& [name, id] : how.tokens) config[name] = id;
    write_model_files(half.folder, tensors, std::move(config), how);
  }
}

}  // namespace wsl::ml
