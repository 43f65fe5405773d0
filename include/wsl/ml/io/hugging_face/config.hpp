// SPDX-License-Identifier: MIT
// The fields of a config.json of Hugging Face's transformers. The file is not trusted: a field of the wrong
// type, or with a value that no decoder has, is a file_error with the name of the file and the field.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

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
  return f == nonlinearity::silu   ? nonlinearity::swiglu
         : f == nonlinearity::gelu ? nonlinearity::geglu
         : f == nonlinearity::relu ? nonlinearity::reglu
                                   : f;
}
inline nonlinearity gate_of(nonlinearity f) {
  return f == nonlinearity::swiglu  ? nonlinearity::silu
         : f == nonlinearity::geglu ? nonlinearity::gelu
         : f == nonlinearity::reglu ? nonlinearity::relu
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
    json_ = json::parse(text.data(), text.data() + text.size(), nullptr, false);
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
    return {name_, json_[key]};
  }
  int whole(const char* key) const {
    if (!has(key)) throw error("'{}' is missing", key);
    const json& x = json_[key];
    if (!x.is_number_integer() || x < 1 || x > 1 << 24)
      throw error("'{}' should be a whole number from 1 to 2^24, not {}", key, text_of(key));
    return x.get<int>();
  }
  int whole(const char* key, int otherwise) const { return has(key) ? whole(key) : otherwise; }
  f64 number(const char* key) const {
    if (!has(key)) throw error("'{}' is missing", key);
    const json& x = json_[key];
    if (!x.is_number() || !std::isfinite(x.get<f64>()))
      throw error("'{}' should be a number, not {}", key, text_of(key));
    return x.get<f64>();
  }
  f64 number(const char* key, f64 otherwise) const { return has(key) ? number(key) : otherwise; }
  f32 number(const char* key, f32 otherwise) const {
    return has(key) ? static_cast<f32>(number(key)) : otherwise;
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

/// A decoder with these sizes. Throws file_error if one is missing.
inline decoder read_sizes(const config_file& c, const size_keys& k) {
  decoder d{.vocabulary = c.whole("vocab_size"),
            .positions = c.whole(k.positions, 2048),
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

/// Reads the settings of rotary positions: `rope_theta` and `rope_scaling`, or `rope_parameters`, which has
/// both since version 5 of transformers. `partial` names the part of a head's features that is rotated.
inline void read_rotary(const config_file& c, decoder& d, const char* partial, f64 of_head,
                        f64 base = 10000) {
  const config_file both = c.object("rope_parameters"), scaling = c.object("rope_scaling"),
                    &how = scaling.has("rope_type") || scaling.has("type") ? scaling : both;
  d.position = positioning::rotary, d.rotary_pairs = pairs::halves;
  d.rotary_base = both.number("rope_theta", c.number("rope_theta", c.number("rotary_emb_base", base)));
  const f64 part = both.number("partial_rotary_factor", c.number(partial, of_head));
  d.rotary_features = part == 1 ? 0 : static_cast<int>(part * d.width_of_head());
  if (!(d.rotary_base > 0) || !(part > 0 && part <= 1))
    throw c.error("the base of rotary positions is {}, and they rotate {} of each head", d.rotary_base, part);
  const std::string type = how.text("rope_type", how.text("type", "default").c_str());
  if (type == "default") return;
  if (type != "linear" && type != "llama3")
    throw c.error("the rotary positions are scaled by '{}'; linear and llama3 are known here", type);
  rotary_scaling& s = d.rotary_scale;
  s.how = type == "linear" ? rotary_scaling::kind::linear : rotary_scaling::kind::llama3;
  s.factor = how.number("factor");
  if (type == "llama3")
    s.low = how.number("low_freq_factor"), s.high = how.number("high_freq_factor"),
    s.positions = how.whole("original_max_position_embeddings");
  if (!(s.factor > 0) || !(s.high > s.low))
    throw c.error("the factors of the rotary positions make no sense");
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
