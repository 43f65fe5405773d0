// SPDX-License-Identifier: MIT
#include "checkpoint.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <wsl/ml/io/checkpoint.hpp>
#include <wsl/ml/io/hugging_face/match.hpp>
#include <wsl/ml/io/hugging_face/reward.hpp>
#include <wsl/support/whole_folder.hpp>

#include "../command_line.hpp"
#include "stored.hpp"

namespace zoo_app {
namespace {

namespace ml = wsl::ml;
namespace hf = ml::hugging_face;
using wsl::f32;
using wsl::f64;
using wsl::u64;

struct conversion {
  std::string model = {}, from_format = {}, to_format = {}, path = {}, out = {}, shard_size = {},
              adapter = {};
  bool drops_optimizer_state = false, shows = false, adapter_only = false;
};
struct words {
  conversion convert, folding{.from_format = "hf", .to_format = "hf"};
  std::string first, second;
  std::function<int()> chosen;
};

/// The family of a model: its name, or one that --name of `fit` has for it.
const hf::family& family_named(const std::string& model) {
  static const std::map<std::string, std::string> others{{"gpt", "gpt2"},
                                                         {"gpt3", "gpt2"},
                                                         {"gpt-neox", "gpt_neox"},
                                                         {"santacoder", "gpt_bigcode"},
                                                         {"starcoder", "gpt_bigcode"}};
  const auto other = others.find(model);
  if (const hf::family* f = hf::find_family(other == others.end() ? model : other->second)) return *f;
  std::vector<std::string> known;
  for (const hf::family* f : hf::families) known.push_back(f->model_type);
  throw std::invalid_argument("--model " + model + " is not known" + app::nearest_words(model, known) +
                              "; wsl-zoo checkpoint list has all");
}

/// Bytes, from a number with a unit (B, KB, MB, GB, of which each is 1000 of the one before) or without.
u64 bytes_of(const std::string& text) {
  f64 number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::map<std::string, f64> units{{"", 1}, {"B", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}};
  const auto found = units.find(unit);
  if (error != std::errc{} || found == units.end() || !(number * found->second >= 1) ||
      number * found->second > 1e15)
    throw std::invalid_argument(
        "--shard-size is a number of bytes of at least 1, such as 500MB or 5GB, not '" + text + "'");
  return static_cast<u64>(number * found->second);
}

std::string shape_text(const std::vector<u64>& shape) { return ml::text_of(shape); }

/// Where the parameters of a model lie in the tensors of a family.
std::vector<hf::tensor_rule> rules_of(const hf::family& f, const stored_model& m) {
  return m.is_reward ? hf::rules_of_scores(f, m.config) : f.tensors(m.config);
}

/// Prints the tensors of both sides, theirs and ours.
void show_names(const hf::family& f, const stored_model& m) {
  for (const hf::tensor_rule& r : rules_of(f, m)) {
    const ml::parameter* p = hf::find_parameter(m.network, r.ours);
    if (!p) continue;
    const u64 count = r.count(*p), all = static_cast<u64>(r.is_vector() ? p->columns : p->rows);
    const std::string part = count == all ? "" : fmt::format(", {} of {} rows", count, all);
    const std::string how = r.transposed ? ", transposed" : "";
    std::printf("%-56s %-14s <-> %s%s%s\n", r.theirs.c_str(), shape_text(r.shape(*p)).c_str(), r.ours.c_str(),
                part.c_str(), how.c_str());
  }
}

stored_model model_to_convert(const conversion& c) {
  refuse_pickle(c.path);
  if (c.from_format == "wsl") return read_checkpoint(c.path);
  if (std::filesystem::is_regular_file(c.path))
    throw std::invalid_argument(c.path +
                                " is a file, and a model of hf is a folder with config.json and "
                                "model.safetensors: give the folder it is in");
  return read_hugging_face_model(c.path);
}

/// Writes the adapters of a run for peft.
int write_adapters(const conversion& c, const stored_model& m) {
  if (!m.adapted)
    throw std::invalid_argument(c.path + " has no adapters, which --adapter-only writes: leave it out");
  if (m.is_reward)
    throw std::invalid_argument(c.path +
                                " is a reward model, whose score is no adapter: leave --adapter-only out, "
                                "and the adapters are folded into "
                                "the layers");
  wsl::support::whole_folder out(c.out);
  m.adapted->write(out.unfinished(), m.numbers);
  out.finish();
  std::printf("%s/%s\n%s/%s\n", c.out.c_str(), hf::adapter_tensors, c.out.c_str(), hf::adapter_config);
  return 0;
}

int convert(const conversion& c) {
  const hf::family& f = family_named(c.model);
  if (c.adapter_only && (c.from_format != "wsl" || c.to_format != "hf" || !c.adapter.empty()))
    throw std::invalid_argument(
        "--adapter-only writes the adapters of a run: it goes with --src-fmt wsl and --tgt-fmt hf, and "
        "without "
        "--adapter");
  if (c.out.empty() && !c.shows)
    throw std::invalid_argument("convert needs --output-dir, the folder to write, or --show");
  if (!c.shard_size.empty() && c.to_format != "hf")
    throw std::invalid_argument("--shard-size is of --tgt-fmt hf: a checkpoint is one file; leave it out");
  const u64 largest = c.shard_size.empty() ? 0 : bytes_of(c.shard_size);
  stored_model m = model_to_convert(c);
  if (!m.model_type.empty() && m.model_type != f.model_type)
    throw std::invalid_argument(c.path + " is a model of " + m.model_type + ", not of " + c.model +
                                ": take --model " + m.model_type);
  if (const std::string lacking = hf::lacks(f, m.config); !lacking.empty())
    throw std::invalid_argument(c.path + " is no model of " + c.model + ", which does not have " + lacking);
  if (m.adapted && !c.adapter.empty())
    throw std::invalid_argument(
        c.path +
        " has adapters of its own, and --adapter names others: fold its own first, by "
        "convert without --adapter");
  // Beside adapters alone no one looks for the state of an optimizer.
  if (m.has_optimizer_state && !c.drops_optimizer_state && !c.adapter_only && !c.shows)
    throw std::invalid_argument(c.path +
                                " has what the optimizer keeps, for which the files to write have no place: "
                                "--drop-optimizer-state leaves it out");
  if (c.adapter_only) return write_adapters(c, m);
  fold(m);
  if (m.is_reward && !c.adapter.empty())
    throw std::invalid_argument(c.path +
                                " is a reward model, and --adapter is for a model that writes: leave it out");
  if (!c.adapter.empty()) m.numbers = gpt_app::folded(c.adapter, m.config, f.model_type, m.numbers);
  if (c.shows) return show_names(f, m), 0;
  const auto tensors = m.network.parameters().size();
  const std::string companions = std::filesystem::is_directory(c.path)
                                     ? c.path
                                     : std::filesystem::absolute(c.path).parent_path().string();
  if (c.to_format == "wsl") {
    m.model_type = f.model_type;
    const std::string file = write_checkpoint(c.out, m, companions);
    std::printf("%s: %zu tensors\n%s/params.yaml\n", file.c_str(), tensors, c.out.c_str());
  } else {
    wsl::support::whole_folder out(c.out);
    const ml::hugging_face_settings how{
        .model_type = f.model_type, .largest_file = largest, .companions = companions};
    if (!m.is_reward) ml::write_hugging_face(out.unfinished(), m.config, m.network, m.numbers, how);
    else if (!m.padding)
      throw std::invalid_argument(c.path +
                                  " does not say which token is the padding, by which transformers find the "
                                  "end of a text: train it first");
    else ml::write_reward_model(out.unfinished(), m.config, m.network, m.numbers, *m.padding, how);
    out.finish();
    std::printf("%s: %s\n%s/config.json\n", ml::tensor_shards(c.out).name().c_str(), f.model_type,
                c.out.c_str());
  }
  return 0;
}

int fold_adapter(conversion c) {
  require_decoder(c.path);
  c.model = model_type_of(c.path);
  return convert(c);
}

/// The files of a model.
std::vector<std::string> files_of(const std::string& path) {
  if (!is_hugging_face(path)) return {checkpoint_file(path)};
  return ml::tensor_shards(path).files();
}

int list(const std::string& path) {
  if (path.empty()) {
    std::printf("%-14s %-22s %s\n", "model", "class of transformers", "formats");
    for (const hf::family* f : hf::families)
      std::printf("%-14s %-22s hf wsl\n", f->model_type, f->architecture);
    std::printf(
        "\nhf: a folder with config.json and model.safetensors, or its parts and their index\n"
        "wsl: checkpoint_<step>.safetensors of wsl-zoo and wsl-gpt, or the folder of a run\n");
    return 0;
  }
  refuse_pickle(path);
  std::size_t tensors = 0;
  u64 numbers = 0;
  for (const std::string& file : files_of(path)) {
    const ml::safetensors_file in(file);
    for (const ml::tensor_info& t : in.tensors()) {
      std::printf("%-56s %-4s %s\n", t.name.c_str(), std::string(t.type.name).c_str(),
                  shape_text(t.shape).c_str());
      ++tensors, numbers += t.count();
    }
  }
  std::printf("list: %zu tensors of %llu numbers\n", tensors, static_cast<unsigned long long>(numbers));
  return 0;
}

/// The tensors of a model, by name.
struct named_tensors {
  struct tensor {
    std::vector<u64> shape;
    std::vector<f32> numbers;
  };
  std::map<std::string, tensor> all;

  /// Those of a model in the names of a family.
  named_tensors(const stored_model& m, const hf::family& f) {
    for (hf::tensor& t : m.is_reward ? hf::to_tensors(f.model_type, rules_of(f, m), m.network, m.numbers)
                                     : hf::to_tensors(f, m.config, m.network, m.numbers))
      all.emplace(std::move(t.name), tensor{std::move(t.shape), std::move(t.numbers)});
  }
  /// Those of a file as they are.
  explicit named_tensors(const std::string& file) {
    ml::safetensors_file in(file);
    for (const ml::tensor_info& t : in.tensors()) {
      const bool is_mask = t.name.ends_with(ml::named_mask::suffix) && t.type.name == "BOOL";
      const std::vector<wsl::u8> places = is_mask ? in.read_bool(t) : std::vector<wsl::u8>{};
      all.emplace(t.name,
                  tensor{t.shape, is_mask ? std::vector<f32>(places.begin(), places.end()) : in.numbers(t)});
    }
  }
};

/// Two folders of Hugging Face, or one and a checkpoint, are compared in the names of the family, two files
/// as they are.
named_tensors tensors_of(const std::string& path, const std::string& other) {
  refuse_pickle(path);
  if (is_hugging_face(path)) {
    const stored_model m = read_hugging_face_model(path);
    return {m, family_named(m.model_type)};
  }
  if (!is_hugging_face(other)) return named_tensors(checkpoint_file(path));
  stored_model m = read_checkpoint(path);
  fold(m);
  return {m, *ml::read_hugging_face_config(other + "/config.json").first};
}

int diff(const std::string& first, const std::string& second) {
  const named_tensors a = tensors_of(first, second), b = tensors_of(second, first);
  std::size_t all = a.all.size(), differing = 0;
  for (const auto& [name, x] : a.all) {
    const auto found = b.all.find(name);
    if (found == b.all.end()) {
      std::printf("%s: only in %s\n", name.c_str(), first.c_str()), ++differing;
      continue;
    }
    const named_tensors::tensor& y = found->second;
    if (x.shape != y.shape) {
      std::printf("%s: the shape is %s, and %s\n", name.c_str(), shape_text(x.shape).c_str(),
                  shape_text(y.shape).c_str());
      ++differing;
      continue;
    }
    u64 count = 0;
    f64 largest = 0, size = 0;
    for (std::size_t i = 0; i < x.numbers.size(); ++i) {
      const f64 p = static_cast<f64>(x.numbers[i]), q = static_cast<f64>(y.numbers[i]);
      const bool same = p == q || (std::isnan(p) && std::isnan(q));
      count += !same, size = std::max(size, std::abs(q));
      if (!same && !(std::abs(p - q) <= largest)) largest = std::abs(p - q);
    }
    if (!count) continue;
    std::printf("%s: %llu of %zu numbers differ, by %.3g at most, %.3g of the largest\n", name.c_str(),
                static_cast<unsigned long long>(count), x.numbers.size(), largest,
                size > 0 ? largest / size : largest);
    ++differing;
  }
  for (const auto& [name, y] : b.all)
    if (!a.all.contains(name))
      std::printf("%s: only in %s\n", name.c_str(), second.c_str()), ++differing, ++all;
  std::printf("diff: %zu of %zu tensors differ\n", differing, all);
  return differing ? 1 : 0;
}

void declare(CLI::App& app, words& w) {
  app.require_subcommand(0, 1)->allow_extras();
  const auto command = [&](const char* name, const char* help, std::function<int()> f) {
    CLI::App* c = app.add_subcommand(name, help)->allow_extras();
    c->callback([&w, f] { w.chosen = f; });
    return c;
  };
  const auto format = CLI::IsMember({"hf", "wsl"});
  CLI::App* c = command("convert", "write a model in another format", [&w] { return convert(w.convert); });
  c->add_option("path", w.convert.path, "a folder of hf; of wsl a checkpoint, or the folder of a run")
      ->required();
  c->add_option("--model", w.convert.model, "the family, one of `wsl-zoo checkpoint list`")->required();
  c->add_option("--src-fmt", w.convert.from_format, "hf or wsl")->required()->check(format);
  c->add_option("--tgt-fmt", w.convert.to_format, "hf or wsl")->required()->check(format);
  c->add_option("--output-dir", w.convert.out, "the folder for the files");
  c->add_option("--shard-size", w.convert.shard_size,
                "files of hf of at most so many bytes, such as 5GB, and their index; otherwise one file");
  c->add_flag("--drop-optimizer-state", w.convert.drops_optimizer_state,
              "leave out what the optimizer keeps in a checkpoint");
  c->add_flag("--show", w.convert.shows, "print the names of both sides and write nothing");
  c->add_option("--adapter", w.convert.adapter,
                "a folder of peft, whose low-rank adapters are folded into the layers");
  c->add_flag(
      "--adapter-only", w.convert.adapter_only,
      "write the adapters of a run for peft, and no model; otherwise they are folded into the layers");

  CLI::App* f =
      command("fold", "write a folder of hf with the low-rank adapters of peft folded into its layers",
              [&w] { return fold_adapter(w.folding); });
  f->add_option("path", w.folding.path, "a folder of hf")->required();
  f->add_option("--adapter", w.folding.adapter, "a folder of peft")->required();
  f->add_option("--output-dir", w.folding.out, "the folder for the files")->required();
  f->add_option("--shard-size", w.folding.shard_size, "as of convert");

  CLI::App* l = command("list",
                        "print the names, types and shapes of a model's tensors; without a path the "
                        "models and the formats that are known",
                        [&w] { return list(w.first); });
  l->add_option("path", w.first, "a folder of hf, a file of safetensors, or the folder of a run");

  CLI::App* d = command("diff", "say which tensors of two models differ, and by how much; status 1 if any do",
                        [&w] { return diff(w.first, w.second); });
  d->add_option("first", w.first, "a folder of hf, a checkpoint, or the folder of a run")->required();
  d->add_option("second", w.second, "another")->required();
}

}  // namespace

int run_checkpoint(int argc, char** argv) {
  CLI::App app("Models in the files of Hugging Face and of this project.", "wsl-zoo checkpoint");
  words w;
  declare(app, w);
  int status = 0;
  if (!app::parse(app, argc, argv, "command", status)) return status;
  if (!w.chosen)
    throw std::invalid_argument("what is there to do? wsl-zoo checkpoint list, for instance; see --help");
  return w.chosen();
}

}  // namespace zoo_app
