// SPDX-License-Identifier: MIT
#include "reference.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <wsl/ml/io/safetensors.hpp>
#include <wsl/ml/op/precision.hpp>
#include <wsl/support/fingerprint.hpp>

#include "../files.hpp"

namespace train_app {
namespace {

namespace ml = wsl::ml;
using wsl::f32;
using wsl::i32;
using wsl::u64;

constexpr const char *tensor = "reference_log_probs", *key_fact = "key", *sum_fact = "fingerprint";

u64 fingerprint_of_numbers(const std::vector<f32>& numbers) {
  wsl::support::fingerprint f;
  f.add(numbers.data(), numbers.size() * sizeof(f32));
  return f.value();
}

/// Of all examples, unlike ml::fingerprint_of.
void add_all(wsl::support::fingerprint& f, const ml::dataset& d) {
  f.add(d.count), f.add(d.length);
  std::vector<std::vector<i32>> named;
  for (const ml::named_field& x : d.named) {
    f.add(x.name.data(), x.name.size());
    named.emplace_back(static_cast<std::size_t>(x.count));
  }
  const std::vector<std::span<i32>> rooms(named.begin(), named.end());
  for (i64 k = 0; k < d.count; ++k) {
    d.get(k, {.ids = {}, .features = {}, .targets = {}, .named = rooms});
    for (const std::vector<i32>& x : named) f.add(x.data(), x.size() * sizeof(i32));
  }
}

}  // namespace

std::string text_of_fingerprint(u64 fingerprint) { return fmt::format("{:016x}", fingerprint); }

u64 fingerprint_of(const ml::network& n, const ml::weights& w, const std::string& architecture) {
  wsl::support::fingerprint f;
  f.add(architecture.data(), architecture.size());
  for (std::size_t k = 0; k < w.size(); ++k) {
    const std::string& name = n.parameters()[k].name;
    f.add(name.data(), name.size()), f.add(w[k].data(), w[k].size() * sizeof(f32));
  }
  return f.value();
}

reference_file::reference_file(const std::filesystem::path& folder, const ml::dataset& data, u64 of_weights,
                               bool is_mean, precision format)
    : pairs_(static_cast<u64>(data.count)) {
  wsl::support::fingerprint f;
  add_all(f, data);
  f.add(of_weights), f.add(is_mean), f.add(format);
  key_ = text_of_fingerprint(f.value());
  name_ = (folder / fmt::format("reference_{}.safetensors", key_)).string();
}

std::optional<std::vector<f32>> reference_file::read() const {
  if (!std::filesystem::exists(name_)) return {};
  try {
    ml::safetensors_file in(name_);
    const auto fact = [&](const char* what) {
      const auto found = in.metadata().find(what);
      return found == in.metadata().end() ? std::string() : found->second;
    };
    if (fact(key_fact) != key_)
      throw ml::file_error(name_ + ": it is of another reference, or of other data");
    std::vector<f32> numbers = in.numbers(tensor, {pairs_, 2});
    if (fact(sum_fact) != text_of_fingerprint(fingerprint_of_numbers(numbers)))
      throw ml::file_error(name_ + ": it is damaged");
    return numbers;
  } catch (const ml::file_error& e) {
    std::fprintf(stderr, "%s: the log-probabilities of the reference are computed anew\n", e.what());
    return {};
  }
}

void reference_file::write(const std::vector<f32>& numbers) const {
  app::make_folder(std::filesystem::path(name_).parent_path());
  ml::write_safetensors(name_, {ml::tensor_view(tensor, {pairs_, 2}, numbers)},
                        {{key_fact, key_}, {sum_fact, text_of_fingerprint(fingerprint_of_numbers(numbers))}});
}

}  // namespace train_app
