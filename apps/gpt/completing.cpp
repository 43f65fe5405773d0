// SPDX-License-Identifier: MIT
#include "completing.hpp"

#include <fmt/format.h>
#include <unicode/regex.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <wsl/ml/run/metrics/rouge.hpp>
#include <wsl/ml/write/writer.hpp>
#include <wsl/support/progress.hpp>

namespace gpt_app {
namespace {

namespace ml = wsl::ml;
using wsl::f64;
using wsl::i32;
using wsl::i64;

/// A regular expression that a whole text fits or does not; without one every text does.
class whole_pattern {
 public:
  explicit whole_pattern(const std::string& text) {
    if (text.empty()) return;
    UErrorCode status = U_ZERO_ERROR;
    UParseError where;
    compiled_.reset(
        icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(text), UREGEX_DOTALL, where, status));
    if (U_FAILURE(status))
      throw std::invalid_argument(
          fmt::format("--answer_pattern: '{}' is no regular expression from its character {} on: {}", text,
                      std::max(where.offset, 1), u_errorName(status)));
  }
  explicit operator bool() const { return compiled_ != nullptr; }
  bool fits(const std::string& text) const {
    UErrorCode status = U_ZERO_ERROR;
    const icu::UnicodeString units = icu::UnicodeString::fromUTF8(text);
    const std::unique_ptr<icu::RegexMatcher> m(compiled_->matcher(units, status));
    if (U_SUCCESS(status)) m->setTimeLimit(10'000, status);  // of steps in thousands, some seconds
    const bool fits = U_SUCCESS(status) && m->matches(status);
    if (U_FAILURE(status))
      throw std::invalid_argument(fmt::format(
          "--answer_pattern takes too long for a completion of {} bytes ({}): take one without nested "
          "repetitions",
          text.size(), u_errorName(status)));
    return fits;
  }

 private:
  std::unique_ptr<icu::RegexPattern> compiled_;
};

void say_left_out(const prompts& asked) {
  const auto all = static_cast<long long>(std::ssize(asked.all) + asked.left_out);
  if (asked.left_out)
    std::printf(
        "%lld of %lld records are left out, which are too long for sequences of %d tokens: "
        "a larger max_sequence_length takes them\n",
        static_cast<long long>(asked.left_out), all, asked.length);
  if (asked.cut)
    std::printf("the prompts of %lld records are too long and are cut\n", static_cast<long long>(asked.cut));
}

void complete_all(stored_model& m, const prompts& asked, const completing_params& p, ml::precision format,
                  int threads, train_app::file_of_predictions& to) {
  const whole_pattern pattern(p.pattern);
  // The weights of a computation in float16 or cbfloat16 are those of f32, rounded.
  if (format != ml::precision::bfloat16) format = ml::precision::f32;
  ml::writer by(m.config, std::move(m.weights),
                {.columns = p.columns, .precision = format, .threads = threads});
  ml::text_settings how{.max_tokens = p.max_new_tokens ? p.max_new_tokens : static_cast<int>(asked.longest),
                        .temperature = p.temperature,
                        .stop_tokens = {asked.end},
                        .known_tokens = std::min(asked.words.size(), m.config.vocabulary)};
  say_left_out(asked);
  const std::size_t count =
      p.limit ? std::min(asked.all.size(), static_cast<std::size_t>(p.limit)) : asked.all.size();
  wsl::support::progress bar("completions", count);
  std::string lines;
  f64 one = 0, two = 0, longest_common = 0;
  i64 known = 0, equal = 0, fitting = 0, tokens_written = 0, tokens_right = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const asked_prompt& x = asked.all[k];
    how.seed = ml::seed_of(static_cast<wsl::u64>(p.seed), k);
    std::vector<i32> written = by.write(x.tokens, how).front().tokens;
    if (!written.empty() && written.back() == asked.end) written.pop_back();
    tokens_written += std::ssize(written);
    std::string said = asked.words.decode(written);
    if (said.starts_with(asked.before)) said.erase(0, asked.before.size());
    nlohmann::ordered_json line = x.line;
    line["prediction"] = said;
    if (x.right) {
      const ml::rouge_scores scores = ml::rouge(said, *x.right);
      one += scores.rouge1.f1, two += scores.rouge2.f1, longest_common += scores.rouge_l.f1;
      ++known, equal += said == *x.right, tokens_right += x.right_tokens;
      line["completion"] = *x.right;
    }
    if (pattern) fitting += pattern.fits(said);
    lines += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    bar.tick();
  }
  const f64 n = static_cast<f64>(known);
  if (known)
    std::printf("ROUGE-1 %.4f, ROUGE-2 %.4f, ROUGE-L %.4f (mean F1) of %lld completions\n", one / n, two / n,
                longest_common / n, static_cast<long long>(known));
  const std::string fit = pattern ? fmt::format("{} of {} fit the pattern", fitting, count) : std::string();
  const std::string same = known ? fmt::format("{} of {} are equal to what is right", equal, known) : "";
  if (!fit.empty() || !same.empty())
    std::printf("%s%s%s\n", same.c_str(), same.empty() || fit.empty() ? "" : ", ", fit.c_str());
  if (count)
    std::printf("The completions have a mean length of %.2f tokens%s\n",
                static_cast<f64>(tokens_written) / static_cast<f64>(count),
                known
                    ? fmt::format(", those that are right {:.2f}", static_cast<f64>(tokens_right) / n).c_str()
                    : "");
  to.write(lines);
}

}  // namespace

void declare_completing(train_app::fields& f, completing_params& p) {
  f.options_of("predict");
  f.add("max_new_tokens", p.max_new_tokens,
        "of a completion; null: those of the longest that is right, and of preferences "
        "max_position_embeddings")
      .at_least(1);
  f.add("limit", p.limit, "only the first prompts; null: all").at_least(1);
  f.add("predict_temperature", p.temperature, "0 takes the best token; above, tokens are drawn").at_least(0);
  f.add("predict_seed", p.seed, "of what is drawn").at_least(0);
  f.add("predict_columns", p.columns, "PEs that share out the model; texts of equal numbers are equal")
      .at_least(1)
      .at_most(64);
  f.add("predictions", p.file, "the file to write (.jsonl); null: predictions.jsonl in model_dir");
  f.add("answer_pattern", p.pattern,
        "a regular expression: how many completions fit it, from their first character to their last, is "
        "printed");
}

void check(const completing_params& p) { whole_pattern{p.pattern}; }

void write_completions(stored_model m, const prompts& asked, const completing_params& p, ml::precision format,
                       int threads, train_app::file_of_predictions& to) {
  try {
    complete_all(m, asked, p, format, threads, to);
  } catch (const ml::not_finite& e) { throw ml::file_error(m.name + ": " + std::string(e.what()).substr(5)); }
}

}  // namespace gpt_app
