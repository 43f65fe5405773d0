// SPDX-License-Identifier: MIT
// The fields of a config.json of Hugging Face's transformers. The file is not trusted: a field of the wrong
// type, or with a value that no decoder has, is a file_error with the name of the file and the field.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "../../model/decoder.hpp"
#include "../input_file.hpp"

namespace wsl::ml::hugging_face {

using json = nlohmann::json;

struct activation_name {
  const char* name;
  nonlinearity what;
};
/// The names of transformers' activations; the first of each is written. `gelu_fast` and `gelu_new` are the
/// same function.
inline constexpr activation_name activation_names[]{{"gelu_new", nonlinearity::gelu_tanh},
                                                    {"gelu_pytorch_tanh", nonlinearity::gelu_tanh},
                                                    {"gelu_fast", nonlinearity::gelu_tanh},
                                                    {"gelu", nonlinearity::gelu},
                                                    {"quick_gelu", nonlinearity::quick_gelu},
                                                    {"relu", nonlinearity::relu},
                                                    {"silu", nonlinearity::silu},
                                                    {"swish", nonlinearity::silu}};
/// Null for a nonlinearity that transformers have no name for.
inline json name_of(nonlinearity f) {
  for (const activation_name& a : activation_names)
    if (a.what == f) return a.name;
  return {};
}
/// The nonlinearity whose gate is f, and back.
inline nonlinearity gated_by(nonlinearity f) {
  return f == nonlinearity::silu        ? nonlinearity::swiglu
         : f == nonlinearity::gelu      ? nonlinearity::geglu
         : f == nonlinearity::relu      ? nonlinearity::reglu
         : f == nonlinearity::gelu_tanh ? nonlinearity::geglu_tanh
                                        : f;
}
inline nonlinearity gate_of(nonlinearity f) {
  return f == nonlinearity::swiglu       ? nonlinearity::silu
         : f == nonlinearity::geglu      ? nonlinearity::gelu
         : f == nonlinearity::reglu      ? nonlinearity::relu
         : f == nonlinearity::geglu_tanh ? nonlinearity::gelu_tanh
                                         : f;
}

/// The number with as few digits as tell x apart from other f32, so that 1e-5f becomes 1e-05.
inline f64 shortest(f32 x) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, x).ptr;
  f64 y = 0;
  std::from_chars(digits, end, y);
  return y;
}

/// JSON as text for a message, whatever bytes are in it.
inline std::string printable(const json& x) { return x.dump(-1, ' ', false, json::error_handler_t::replace); }

class config_file {
 public:
  /// Throws file_error if the file cannot be read, or is no object in JSON.
  explicit config_file(const std::string& name) : name_(name) {
    input_file in(name);
    if (in.size() > 1'000'000) throw in.error("a configuration has less than a million bytes");
    const std::string text = in.take_text(in.size(), "the text");
    if (is_git_lfs_pointer(text)) throw error("{}", git_lfs_remedy);
    parse(text);
    if (!json_.is_object()) throw error("this is no object in JSON");
  }
  config_file(const std::string& name, json fields) : name_(name), json_(std::move(fields)) {}

  template <class... T>
  file_error error(fmt::format_string<T...> text, T&&... x) const {
    return file_error(fmt::format("wsl: {}: {}", name_, fmt::format(text, std::forward<T>(x)...)));
  }

  /// Whether there is such a field; null is none.
  bool has(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && !found->is_null();
  }
  /// The fields of an object, none if there is no such field.
  config_file object(const char* key) const {
    if (!has(key)) return {name_, json::object()};
    if (!json_[key].is_object()) throw error("'{}' should be an object, not {}", key, text_of(key));
    return {name_ + ", '" + key + "'", json_[key]};
  }
  /// All fields.
  const json& fields() const { return json_; }
  int whole(const char* key) const {
    if (!has(key)) throw error("'{}' is missing", key);
    const json& x = json_[key];
    if (!x.is_number_integer() || x < 1 || x > 1 << 24)
      throw error("'{}' should be a whole number from 1 to 2^24, not {}", key, text_of(key));
    return x.get<int>();
  }
  int whole(const char* key, int otherwise) const { return has(key) ? whole(key) : otherwise; }
  /// The same where a field that is null has another meaning than one that is absent.
  int whole(const char* key, int absent, int if_null) const {
    return !has(key) && json_.contains(key) ? if_null : whole(key, absent);
  }
  /// The number of a token; null is none.
  std::optional<i32> token(const char* key, i32 absent) const {
    if (!has(key)) return json_.contains(key) ? std::nullopt : std::optional(absent);
    const json& x = json_[key];
    if (!x.is_number_integer() || x < 0 || x > 1 << 24)
      throw error("'{}' should be the number of a token, not {}", key, text_of(key));
    return x.get<i32>();
  }
  /// A number of at least 0, in the range of its type.
  template <std::floating_point T>
  T number(const char* key, T otherwise) const {
    return has(key) ? number_in<T>(key, false) : otherwise;
  }
  /// A number above 0.
  template <std::floating_point T>
  T positive(const char* key, T otherwise) const {
    return has(key) ? number_in<T>(key, true) : otherwise;
  }
  f64 positive(const char* key) const {
    if (!has(key)) throw error("'{}' is missing", key);
    return number_in<f64>(key, true);
  }
  bool flag(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    if (!json_[key].is_boolean()) throw error("'{}' should be true or false, not {}", key, text_of(key));
    return json_[key].get<bool>();
  }
  std::string text(const char* key, const char* otherwise) const {
    if (!has(key)) return otherwise;
    if (!json_[key].is_string()) throw error("'{}' should be a text, not {}", key, text_of(key));
    return json_[key].get<std::string>();
  }
  nonlinearity activation(const char* key, const char* otherwise) const {
    const std::string name = text(key, otherwise);
    for (const activation_name& a : activation_names)
      if (name == a.name) return a.what;
    throw error("'{}' is {}, which is not known here", key, printable(name));
  }
  /// Throws file_error if the field is there and has another value, apart from null.
  void is(const char* key, const json& wanted) const {
    if (has(key) && json_[key] != wanted)
      throw error("'{}' is {}; only {} is known here", key, text_of(key), wanted.dump());
  }

 private:
  std::string text_of(const char* key) const { return printable(json_[key]); }
  template <class T>
  T number_in(const char* key, bool is_positive) const {
    const json& x = json_[key];
    constexpr f64 largest = static_cast<f64>(std::numeric_limits<T>::max());
    const f64 y = x.is_number() ? x.get<f64>() : -1;
    if (!(y >= 0 && y <= largest) || (is_positive && !(static_cast<T>(y) > 0)))
      throw error("'{}' should be a number {}, not {}", key, is_positive ? "above 0" : "of at least 0",
                  text_of(key));
    return static_cast<T>(y);
  }
  /// Other readers take the first of two fields of a name, or the last: a file with both is refused.
  void parse(const std::string& text) {
    std::vector<std::set<std::string>> keys;
    const auto check = [&](int, json::parse_event_t event, json& x) {
      if (event == json::parse_event_t::object_start) keys.emplace_back();
      if (event == json::parse_event_t::object_end) keys.pop_back();
      if (event == json::parse_event_t::key && !keys.back().insert(x.get<std::string>()).second)
        throw error("'{}' is there twice", x.get<std::string>());
      return true;
    };
    try {
      json_ = json::parse(text.data(), text.data() + text.size(), check);
    } catch (const json::out_of_range&) {
      throw error("it has a number beyond those of 64 bits");
    } catch (const json::parse_error& e) {
      const std::string_view before = std::string_view(text).substr(0, e.byte > 0 ? e.byte - 1 : 0);
      const std::size_t line = before.rfind('\n') + 1;  // 0 if there is none
      throw error("this is no JSON from line {}, column {} on",
                  1 + std::count(before.begin(), before.end(), '\n'), before.size() - line + 1);
    }
  }

  std::string name_;
  json json_;
};

/// The names of the sizes in a family's configuration.
struct size_keys {
  const char *positions, *layers, *heads, *width;
};
inline constexpr size_keys old_sizes{"n_positions", "n_layer", "n_head", "n_embd"};
inline constexpr size_keys new_sizes{"max_position_embeddings", "num_hidden_layers", "num_attention_heads",
                                     "hidden_size"};

/// A decoder with these sizes. Throws file_error if one is missing, but for the longest sequence, for which
/// each family has a value of its own.
inline decoder read_sizes(const config_file& c, const size_keys& k, int positions = 2048) {
  decoder d{.vocabulary = c.whole("vocab_size"),
            .positions = c.whole(k.positions, positions),
            .layers = c.whole(k.layers),
            .heads = c.whole(k.heads),
            .width = c.whole(k.width)};
  if (d.width % d.heads && !c.has("head_dim"))
    throw c.error("'{}' {} does not divide '{}' {}", k.heads, d.heads, k.width, d.width);
  d.head_width = d.width % d.heads ? c.whole("head_dim") : 0;
  d.deviation = c.number("initializer_range", 0.02f);
  return d;
}
inline json write_sizes(const decoder& d, const size_keys& k) {
  return {{"vocab_size", d.vocabulary},
          {k.positions, d.positions},
          {k.layers, d.layers},
          {k.heads, d.heads},
          {k.width, d.width},
          {"initializer_range", shortest(d.deviation)},
          {"tie_word_embeddings", d.tied}};
}

/// The heads of keys and values: as many as of queries if the field is null, or absent in a family that says
/// 0 for it.
inline int read_kv_heads(const config_file& c, const decoder& d, const char* key = "num_key_value_heads",
                         int absent = 0) {
  const int heads = c.whole(key, absent ? absent : d.heads, d.heads);
  if (d.heads % heads)
    throw c.error("'{}' {} does not divide the {} of 'num_attention_heads'", key, heads, d.heads);
  return heads;
}

/// Reads the settings of rotary positions: `rope_theta` and `rope_scaling`, or `rope_parameters`, which has
/// both since version 5 of transformers. `partial` names the part of a head's features that is rotated.
inline void read_rotary(const config_file& c, decoder& d, const char* partial, f64 of_head,
                        f64 base = 10000) {
  const config_file both = c.object("rope_parameters"), scaling = c.object("rope_scaling"),
                    &how = scaling.has("rope_type") || scaling.has("type") ? scaling : both;
  d.position = positioning::rotary, d.rotary_pairs = pairs::halves;
  d.rotary_base = both.positive("rope_theta", c.positive("rope_theta", c.positive("rotary_emb_base", base)));
  const f64 part = both.positive("partial_rotary_factor", c.positive(partial, of_head));
  if (part > 1) throw c.error("'{}' should be at most 1, all features of a head, not {}", partial, part);
  d.rotary_features = part == 1 ? 0 : static_cast<int>(part * d.width_of_head());
  if (const int turned = part == 1 ? d.width_of_head() : d.rotary_features; turned < 2 || turned % 2)
    throw c.error(
        "a head has {} features, of which {} are rotated; they should be pairs: 'hidden_size' is {}, "
        "'num_attention_heads' {}, '{}' {}{}",
        d.width_of_head(), turned, d.width, d.heads, partial, part,
        c.has("head_dim") ? fmt::format(", 'head_dim' {}", d.head_width) : "");
  const std::string type = how.text("rope_type", how.text("type", "default").c_str());
  if (type == "default") return;
  if (type != "linear" && type != "llama3")
    throw c.error("the rotary positions are scaled by '{}'; linear and llama3 are known here", type);
  rotary_scaling& s = d.rotary_scale;
  s.how = type == "linear" ? rotary_scaling::kind::linear : rotary_scaling::kind::llama3;
  s.factor = how.positive("factor");
  if (type != "llama3") return;
  s.low = how.positive("low_freq_factor"), s.high = how.positive("high_freq_factor");
  s.positions = how.whole("original_max_position_embeddings");
  if (!(s.high > s.low))
    throw how.error("'high_freq_factor' {} should be more than 'low_freq_factor' {}", s.high, s.low);
}
/// Writes them in both forms.
inline void write_rotary(json& to, const decoder& d, const char* partial = nullptr) {
  json scaling;
  const rotary_scaling& s = d.rotary_scale;
  if (s.how == rotary_scaling::kind::linear) scaling = {{"rope_type", "linear"}, {"factor", s.factor}};
  if (s.how == rotary_scaling::kind::llama3)
    scaling = {{"rope_type", "llama3"},
               {"factor", s.factor},
               {"low_freq_factor", s.low},
               {"high_freq_factor", s.high},
               {"original_max_position_embeddings", s.positions}};
  json both = scaling.is_null() ? json{{"rope_type", "default"}} : scaling;
  both["rope_theta"] = to["rope_theta"] = d.rotary_base;
  to["rope_scaling"] = scaling;
  if (partial)
    both["partial_rotary_factor"] = to[partial] =
        d.rotary_features ? static_cast<f64>(d.rotary_features) / d.width_of_head() : 1.;
  to["rope_parameters"] = both;
}

}  // namespace wsl::ml::hugging_face
