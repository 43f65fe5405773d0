// SPDX-License-Identifier: MIT
// What makes the examples of HDF5 files: of running text and pairs for decoders, of text with hidden words
// for encoders, and of text with spans left out for encoder-decoders. Examples come one after the other, and
// a maker goes on behind any of them.
#pragma once
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include <wsl/core/scalar.hpp>

#include "commands.hpp"

namespace data_app {

using wsl::i32, wsl::i64;

class example_maker {
 public:
  /// A dataset of the files: (examples, features, length) numbers.
  struct form {
    std::string name;
    i64 features = 1, length = 1;
  };

  virtual ~example_maker() = default;
  virtual std::vector<form> forms() const = 0;
  /// What is made into examples: how many there are, how many have been so far, and its name, "documents".
  virtual i64 count() const = 0;
  virtual i64 done() const = 0;
  virtual const char* what() const = 0;
  /// The next examples, `most` of them or, at the end, fewer: the numbers of each dataset. Returns how many.
  virtual i64 take(i64 most, std::vector<std::vector<i32>>& to) = 0;
  /// What another maker needs to go on behind the examples that have been taken.
  virtual nlohmann::json state() const = 0;
  /// Goes on from there; false: it is the state of no such maker. Throws nlohmann::json::exception as well.
  virtual bool resume(const nlohmann::json& state) = 0;
  /// What data_params.json says of them.
  virtual nlohmann::ordered_json params() const = 0;
  /// The sentence about what was left out; empty: nothing.
  virtual std::string left_out() const { return ""; }
  /// Writes the vocabulary beside the examples.
  virtual void write_vocabulary(const std::string& folder) const = 0;
};

std::unique_ptr<example_maker> language_examples(const example_conversion& how);
std::unique_ptr<example_maker> masked_examples(const example_conversion& how);
std::unique_ptr<example_maker> corrupted_examples(const example_conversion& how);

/// Calls f(k) for each k below n on all cores, and throws what the first of them throws: those before it have
/// been begun, and are awaited.
template <class F>
void on_all_cores(i64 n, F f) {
  std::atomic<i64> next = 0;
  std::exception_ptr failed;
  i64 first = n;  // of those that failed
  std::mutex mutex;
  const auto work = [&] {
    for (i64 k; (k = next++) < n;) try {
        f(k);
      } catch (...) {
        const std::lock_guard lock(mutex);
        next = n;
        if (k < first) first = k, failed = std::current_exception();
      }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned t = 1; t < std::thread::hardware_concurrency(); ++t) others.emplace_back(work);
    work();
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace data_app
