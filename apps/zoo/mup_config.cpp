// SPDX-License-Identifier: MIT
#include "mup_config.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "../command_line.hpp"
#include "../files.hpp"
#include "options.hpp"

namespace zoo_app {
namespace {

using wsl::f64;

/// The settings of the base model; those of Cerebras-GPT (Dey et al., arXiv 2304.03208) unless they are
/// given.
struct mup_options {
  std::string input = {}, output = {};
  f64 width = 256, rate = 6e-3, deviation = 0.08, embeddings_scale = 10;
};

/// A params file as lines, in which some fields are replaced.
class edited_file {
 public:
  edited_file(const std::string& text, std::string name) : name_(std::move(name)) {
    std::size_t from = 0;
    while (from < text.size()) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      lines_.push_back(text.substr(from, end - from)), from = end + 1;
    }
    root_ = YAML::Load(text);
  }

  /// The value of a field; a node that is none if it is not there.
  YAML::Node at(const std::string& section, const std::string& field) const {
    const YAML::Node in = static_cast<const YAML::Node&>(root_)[section];
    return in && in.IsMap() ? in[field] : YAML::Node(YAML::NodeType::Undefined);
  }
  /// Puts a number in the place of another one.
  void replace(const YAML::Node& number, const std::string& by) {
    const std::size_t line = static_cast<std::size_t>(number.Mark().line),
                      column = static_cast<std::size_t>(number.Mark().column);
    const std::string& was = number.Scalar();
    if (line >= lines_.size() || lines_[line].compare(column, was.size(), was) != 0)
      throw std::invalid_argument(
          fmt::format("{}:{}: the number {} is not written plainly: write it so", name_, line + 1, was));
    replacements_.push_back({line, column, was.size(), by});
  }
  /// Gives a section a field, in place of the field of that name if it has one.
  void set(const std::string& section, const std::string& field, const std::string& value) {
    const YAML::Node in = static_cast<const YAML::Node&>(root_)[section];
    if (!in || !in.IsMap() || in.size() == 0)
      throw std::invalid_argument(
          fmt::format("{}: there is no section {} with fields: write one", name_, section));
    const YAML::Node first = in.begin()->first;
    const std::size_t indent = static_cast<std::size_t>(first.Mark().column);
    const auto line_of = [](const YAML::Node& n) { return static_cast<std::size_t>(n.Mark().line); };
    const bool is_block = lines_[line_of(first)].find_first_not_of(' ') == indent && indent > 0;
    if (!is_block)
      throw std::invalid_argument(fmt::format(
          "{}:{}: the section {} is written in braces: write each of its fields in a line of its own", name_,
          line_of(first) + 1, section));
    std::size_t last = line_of(first);
    std::optional<std::size_t> own;
    for (const auto& pair : in) {
      last = std::max(last, line_of(pair.first));
      if (pair.first.Scalar() == field) own = line_of(pair.first);
    }
    const std::string text = std::string(indent, ' ') + field + ": " + value;
    if (own) {
      for (std::size_t k = *own + 1; k < end_of_field(*own, indent); ++k) removed_.push_back(k);
      replacements_.push_back({*own, 0, lines_[*own].size(), text + comment_of(*own)});
    } else {
      added_.push_back({end_of_field(last, indent), text});
    }
  }
  std::string text() const {
    std::vector<std::string> lines = lines_;
    // Of several in a line the last comes first, so that the places of the others stay.
    std::vector<replacement> sorted = replacements_;
    std::sort(sorted.begin(), sorted.end(), [](const replacement& a, const replacement& b) {
      return std::pair(a.line, a.column) > std::pair(b.line, b.column);
    });
    for (const replacement& r : sorted) lines[r.line].replace(r.column, r.length, r.by);
    std::string out;
    for (std::size_t k = 0; k <= lines.size(); ++k) {
      for (const addition& a : added_)
        if (a.before == k) out += a.text + "\n";
      if (k < lines.size() && std::find(removed_.begin(), removed_.end(), k) == removed_.end())
        out += lines[k] + "\n";
    }
    return out;
  }

 private:
  struct replacement {
    std::size_t line, column, length;
    std::string by;
  };
  struct addition {
    std::size_t before;
    std::string text;
  };

  /// The line after the last one of the value of a field, which begins at this indentation. Comments and
  /// empty lines behind it belong to what follows.
  std::size_t end_of_field(std::size_t line, std::size_t indent) const {
    std::size_t end = line + 1;
    for (std::size_t k = line + 1; k < lines_.size(); ++k) {
      const std::size_t first = lines_[k].find_first_not_of(' ');
      if (first == std::string::npos || lines_[k][first] == '#' || lines_[k][first] == '\r') continue;
      const bool is_item = first == indent && lines_[k][first] == '-';
      if (first <= indent && !is_item) break;
      end = k + 1;
    }
    return end;
  }
  /// The comment at the end of a line, with the blanks before it.
  std::string comment_of(std::size_t line) const {
    const std::size_t at = lines_[line].find(" #");
    return at == std::string::npos ? "" : " " + lines_[line].substr(at);
  }

  std::string name_;
  std::vector<std::string> lines_;
  YAML::Node root_;
  std::vector<replacement> replacements_;
  std::vector<addition> added_;
  std::vector<std::size_t> removed_;
};

std::string text_of(f64 x) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}

/// What wsl-zoo reads in a file.
struct read_file {
  train_app::fields all;
  options o;

  read_file(const std::string& text, const std::string& name) {
    declare(all, o);
    all.read(text, name);
  }
  const std::string& given(const std::string& field) { return all.named(field).front()->given; }
};

/// Throws std::invalid_argument for a file that has muP already.
void require_standard(read_file& file) {
  for (const char* name :
       {"mup_base_hidden_size", "mup_base_filter_size", "embeddings_scale", "output_logits_scale",
        "output_logits_alpha", "scale_output_logits_by_d", "scale_qk_dot_by_d", "attention_logits_alpha"})
    if (const std::string& place = file.given(std::string("model.") + name); !place.empty())
      throw std::invalid_argument(fmt::format(
          "{}: the file has muP already, model.{}: give one of the standard parametrization", place, name));
  if (const std::string& place = file.given("optimizer.adjust_learning_rate"); !place.empty())
    throw std::invalid_argument(fmt::format(
        "{}: optimizer.adjust_learning_rate has factors of learning rates, which muP would set: leave it out",
        place));
  if (const std::string& place = file.given("model.attention_scale"); !place.empty())
    throw std::invalid_argument(fmt::format(
        "{}: model.attention_scale is a factor of the scores, which muP would set: leave it out", place));
}

struct change {
  std::string field, was, is;
};

/// The learning rates of the base model in place of those of the file, as the Zoo's tool has it: the peak
/// becomes the base's, and an end that is not 0 keeps its ratio to it.
void set_rates(edited_file& file, read_file& in, f64 rate, std::vector<change>& changes) {
  const YAML::Node parts = file.at("optimizer", "learning_rate");
  const std::string field = "optimizer.learning_rate", place = in.given(field);
  if (!parts || parts.IsNull()) {
    file.set("optimizer", "learning_rate", text_of(rate));
    changes.push_back({field, "not given", text_of(rate)});
    return;
  }
  const auto replace = [&](const std::string& name, const YAML::Node& number, f64 by) {
    if (!number || !number.IsScalar())
      throw std::invalid_argument(fmt::format("{}: {} is missing: give it", place, name));
    changes.push_back({name, number.Scalar(), text_of(by)});
    file.replace(number, text_of(by));
  };
  if (parts.IsScalar()) return replace(field, parts, rate);
  const auto change_part = [&](const YAML::Node& part, const train_app::rate_part& p,
                               const std::string& name) {
    if (p.scheduler == "Constant") return replace(name + ".learning_rate", part["learning_rate"], rate);
    if (p.scheduler != "Linear" && p.scheduler != "CosineDecay" && p.scheduler != "Cosine")
      throw std::invalid_argument(fmt::format(
          "{}: a learning rate with the scheduler {} is not converted: Constant, Linear and CosineDecay are",
          place, p.scheduler));
    const YAML::Node first = part["initial_learning_rate"], last = part["end_learning_rate"];
    if (!last)
      throw std::invalid_argument(fmt::format("{}: {} has no end_learning_rate: give it", place, name));
    if (p.initial_learning_rate == 0) return replace(name + ".end_learning_rate", last, rate);
    // A warm-up may begin near 0, too: it ends with the peak.
    const bool rises = p.end_learning_rate > p.initial_learning_rate;
    const f64 peak = std::max(p.initial_learning_rate, p.end_learning_rate);
    if (first && !rises) replace(name + ".initial_learning_rate", first, rate);
    else if (first) replace(name + ".initial_learning_rate", first, rate * (p.initial_learning_rate / peak));
    if (p.end_learning_rate != 0)
      replace(name + ".end_learning_rate", last, rate * (p.end_learning_rate / peak));
  };
  const train_app::rate_parts& read = in.o.common.optimizer.learning_rate;
  if (parts.IsMap()) return change_part(parts, read.front(), field);
  for (std::size_t k = 0; k < parts.size(); ++k)
    change_part(parts[k], read[k], fmt::format("{}[{}]", field, k));
}

/// The fields of the result have the values of the file's, but for those that change.
void require_rest_unchanged(read_file& before, read_file& after, const std::vector<std::string>& changed,
                            const std::string& input) {
  for (const train_app::field& x : before.all.all()) {
    if (std::find(changed.begin(), changed.end(), x.full_name()) != changed.end()) continue;
    const auto same = after.all.named(x.full_name());
    if (same.front()->text() != x.text())
      throw std::invalid_argument(fmt::format(
          "{}: the field {} cannot be kept as it is written, and nothing was converted: write each field in "
          "a line of its own",
          input, x.full_name()));
  }
}

std::string converted(const std::string& text, const mup_options& how, std::vector<change>& changes) {
  if (const YAML::Node root = YAML::Load(text); root.IsMap() && root["trainer"])
    throw std::invalid_argument(
        fmt::format("{}:{}: this is the V2 form (trainer:), and muP is written into the V1 form: `wsl-zoo "
                    "config convert -i "
                    "{} -o FILE` makes it",
                    how.input, root["trainer"].Mark().line + 1, how.input));
  read_file in(text, how.input);
  const gpt_app::model_params& m = in.o.model;
  for (const auto& [name, size] : {std::pair("hidden_size", m.hidden_size), {"num_hidden_layers", m.layers}})
    if (size < 1)
      throw std::invalid_argument(
          fmt::format("{}: model.{} is missing, from which muP's factors follow", how.input, name));
  require_standard(in);
  edited_file file(text, how.input);
  std::vector<std::string> changed{"optimizer.learning_rate"};
  const auto set = [&](const char* name, const std::string& value) {
    const std::string full = std::string("model.") + name;
    const train_app::field& was = *in.all.named(full).front();
    changes.push_back({full, was.given.empty() ? "not given" : was.text(), value});
    changed.push_back(full);
    file.set("model", name, value);
  };
  const std::string start =
      fmt::format("{{name: truncated_normal, mean: 0.0, std: {}, a: {}, b: {}}}", text_of(how.deviation),
                  text_of(-2 * how.deviation), text_of(2 * how.deviation));
  const int filter = m.filter_size ? m.filter_size : 4 * m.hidden_size;
  set("mup_base_hidden_size", text_of(how.width));
  set("mup_base_filter_size", text_of(filter * how.width / m.hidden_size));
  for (const char* name :
       {"embedding_initializer", "initializer", "output_layer_initializer", "ffn_output_layer_initializer"})
    set(name, start);
  if (!in.given("model.ffn_initializer").empty()) set("ffn_initializer", start);
  set("embeddings_scale", text_of(how.embeddings_scale));
  set("output_logits_alpha", "1");
  set("scale_qk_dot_by_d", "true");
  set_rates(file, in, how.rate, changes);
  const std::string out = file.text();
  read_file after(out, how.output);
  require_rest_unchanged(in, after, changed, how.input);
  return out;
}

void declare(CLI::App& app, mup_options& o) {
  app.allow_extras();
  app.add_option("-i,--input_yaml", o.input,
                 "the params file of a language model, in the standard parametrization")
      ->required();
  app.add_option("-o,--output_yaml", o.output, "the file to write; otherwise that name with _muP");
  app.add_option("--d_base,--base_layer_width", o.width, "-d_base: hidden_size of the base model [256]")
      ->check(app::at_least(1));
  app.add_option("--lr_base,--base_lr", o.rate, "-lr_base: its largest learning rate [6e-3]")
      ->check(app::at_least(0, true));
  app.add_option("--std_base,--base_init_std", o.deviation,
                 "-std_base: the deviation of its initial weights [0.08]")
      ->check(app::at_least(0, true));
  app.add_option("--m_base,--m_embed", o.embeddings_scale, "-m_base: its factor of the embedding [10]")
      ->check(app::at_least(0, true));
}

}  // namespace

int run_config_mup(int argc, char** argv) {
  CLI::App app(
      "Makes a params file of muP. The base is a small model, for which learning rate, deviation and the "
      "factor of the "
      "embedding were tuned; those of Cerebras-GPT are taken where none are given.",
      "wsl-zoo config mup");
  mup_options how;
  declare(app, how);
  // The Zoo's tool has options of several letters behind one dash.
  std::vector<std::string> words(argv, argv + argc);
  for (std::string& word : words)
    for (const char* name : {"-d_base", "-lr_base", "-std_base", "-m_base"})
      if (word == name || word.starts_with(std::string(name) + "=")) word = "-" + word;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int status = 0;
  if (!app::parse(app, argc, arguments.data(), "option", status)) return status;
  if (how.output.empty()) {
    std::filesystem::path beside = how.input;
    how.output =
        beside.replace_filename(beside.stem().string() + "_muP" + beside.extension().string()).string();
  }
  if (!std::filesystem::is_regular_file(how.input))
    throw std::invalid_argument("-i: there is no file " + how.input);
  app::require_free(how.output, "-o");
  std::vector<change> changes;
  app::write_file(how.output, converted(app::read_file(how.input), how, changes));
  for (const change& c : changes) std::printf("%s: %s -> %s\n", c.field.c_str(), c.was.c_str(), c.is.c_str());
  std::string usual;
  for (const auto& [option, name] : {std::pair("--d_base", "-d_base"),
                                     {"--lr_base", "-lr_base"},
                                     {"--std_base", "-std_base"},
                                     {"--m_base", "-m_base"}})
    if (app.count(option) == 0) usual += (usual.empty() ? "" : ", ") + std::string(name);
  if (!usual.empty())
    std::fprintf(stderr,
                 "wsl-zoo: %s: those of Cerebras-GPT are taken; the best ones are of your own base model\n",
                 usual.c_str());
  std::printf("%s has muP with a base of width %s\n", how.output.c_str(), text_of(how.width).c_str());
  return 0;
}

}  // namespace zoo_app
