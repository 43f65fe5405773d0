// SPDX-License-Identifier: MIT
#include "text_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace text_app {

namespace ml = wsl::ml;

namespace {

bool is_one_of(const std::vector<std::string>& all, const std::string& name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

/// One file or folder is a list of one.
template <class T>
void field_of_setting(train_app::fields& f, const std::string& name, T& to, const char* help) {
  f.add(name, to, help).may_be_list =
      std::is_same_v<T, std::vector<std::string>> && name.ends_with("data_dir");
}
/// True and true are the same.
bool is_same_word(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

void text_input::declare(train_app::fields& f, const std::string& section, ml::text_kind kind,
                         const std::vector<std::string>& processors) {
  section_ = section, kind_ = kind;
  f.named(section + ".data_dir").front()->may_be_list = true;
  const auto is_ours = [&](const ml::text_processor& p) {
    return ml::kind_of(p) == kind && is_one_of(processors, ml::name_of(p));
  };
  f.add("data_processor", data_processor, "the form of the data, and what the model is trained for")
      .one_of(processors);
  for (ml::text_processor& p : ml::text_processors()) {
    if (!is_ours(p)) continue;
    ml::each_setting(p, [&](const std::string& name, const auto& usual, const char* help) {
      // The files of every trainer are the field data_dir.
      if (name == "data_dir" || settings_.contains(name)) return;
      using type = std::decay_t<decltype(usual)>;
      usual_.emplace(name, usual);
      field_of_setting(f, name, std::get<type>(settings_.emplace(name, usual).first->second), help);
    });
  }
  for (const ml::text_processor& p : ml::text_processors()) {
    if (!is_ours(p)) continue;
    ml::each_accepted(p, [&](const std::string& name, const std::string& only) {
      if (settings_.contains(name) || accepted_.contains(name)) return;
      f.add(name, accepted_[name],
            only == "any"
                ? "Any value is accepted, for none changes a result here."
                : fmt::format("The only value that is accepted is {}, which is so in any case.", only))
          .may_be_list = true;  // as in files of others, whose lists are refused with the reason
    });
  }
}

const text_input::value* text_input::given(train_app::fields& f, const std::string& name) const {
  const auto at = settings_.find(name);
  return at == settings_.end() || f.named(section_ + "." + name).front()->given.empty() ? nullptr
                                                                                        : &at->second;
}

void text_input::forget_lengths(train_app::fields& f) {
  const auto is_option = [](const train_app::field& x) { return x.given.starts_with("--"); };
  if (data_processor.find("HDF5") == std::string::npos ||
      !is_option(*f.named(section_ + ".data_processor").front()))
    return;
  for (const auto& [setting, x] : settings_)
    if (setting.ends_with("max_sequence_length"))
      if (train_app::field& length = *f.named(section_ + "." + setting).front(); !is_option(length))
        length.reset(), length.given.clear();
}

ml::text_processor text_input::processor(train_app::fields& f, const std::string& data_dir,
                                         const text_input* otherwise) const {
  ml::text_processor p = settings(f, data_dir, otherwise);
  complete_hdf5(p);
  return p;
}

bool text_input::names_files(train_app::fields& f, const std::string& data_dir) const {
  return !data_dir.empty() || given(f, "src_data_dir");
}

ml::text_processor text_input::settings(train_app::fields& f, const std::string& data_dir,
                                        const text_input* otherwise) const {
  const std::string& name = data_processor.empty() && otherwise ? otherwise->data_processor : data_processor;
  if (name.empty())
    throw std::invalid_argument(section_ +
                                ".data_processor is missing: it says what the model is trained for");
  ml::text_processor p = ml::text_processor_of(name, kind_);
  // Files of one part of the data are not paired with those of the other.
  const bool has_files = names_files(f, data_dir);
  std::vector<std::string> known;
  ml::each_setting(p, [&](const std::string& setting, auto& to, const char*) {
    using type = std::decay_t<decltype(to)>;
    known.push_back(setting);
    if constexpr (std::is_same_v<type, std::vector<std::string>>)
      if (setting == "data_dir" && !data_dir.empty()) to = train_app::words_of_list(data_dir);
    const value* x = given(f, setting);
    if (!x && otherwise && !(has_files && setting.ends_with("data_dir"))) x = otherwise->given(f, setting);
    if (x) to = std::get<type>(*x);
  });
  ml::each_accepted(p, [&](const std::string& setting, const std::string&) { known.push_back(setting); });
  for (const auto& [setting, x] : settings_)
    if (x != usual_.at(setting) && !is_one_of(known, setting))
      throw std::invalid_argument(
          fmt::format("{}.{} is no setting of {}: leave it out", section_, setting, name));
  ml::each_accepted(p, [&](const std::string& setting, const std::string& only) {
    const auto at = accepted_.find(setting);
    if (at == accepted_.end() || at->second.empty() || only == "any" || is_same_word(at->second, only))
      return;
    throw std::invalid_argument(fmt::format("{}.{} is {}; {} has {} in any case: leave it out", section_,
                                            setting, at->second, name, only));
  });
  for (const auto& [setting, x] : accepted_)
    if (!x.empty() && !is_one_of(known, setting))
      throw std::invalid_argument(
          fmt::format("{}.{} is no setting of {}: leave it out", section_, setting, name));
  if (needs_no_files(p)) train_app::check_synthetic(section_.c_str(), data_dir);
  return p;
}

void complete_synthetic(ml::text_processor& p, const train_app::input_params& in, bool trains, int vocabulary,
                        int positions) {
  const auto set = [&](auto& x) {
    if (!vocabulary)
      throw std::invalid_argument(
          fmt::format("the model's vocabulary has no size (vocab_size): {} does not say it", x.name));
    const ml::synthetic_settings how = train_app::synthetic_settings_of(in, x.num_examples, trains);
    x.vocab_size = vocabulary, x.seed = how.seed, x.num_examples = static_cast<int>(how.examples);
  };
  const auto length = [&](int& to) {
    if (!to) to = positions;
    if (!to)
      throw std::invalid_argument(
          "model.max_position_embeddings is missing: random tokens do not say how long sequences are");
  };
  if (auto* x = std::get_if<ml::synthetic_encoder_processor>(&p)) set(*x), length(x->max_sequence_length);
  if (auto* x = std::get_if<ml::synthetic_encoder_decoder_processor>(&p))
    set(*x), length(x->sequences.src_max_sequence_length), length(x->sequences.tgt_max_sequence_length);
}

void require_settings(const ml::text_processor& p) {
  if (needs_no_files(p) || std::string(ml::name_of(p)).find("HDF5") != std::string::npos) return;
  std::visit([](const auto& x) { x.check(); }, p);
}

bool needs_no_files(const ml::text_processor& p) {
  return std::holds_alternative<ml::synthetic_encoder_processor>(p) ||
         std::holds_alternative<ml::synthetic_encoder_decoder_processor>(p);
}

}  // namespace text_app
