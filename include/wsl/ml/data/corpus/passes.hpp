// SPDX-License-Identifier: MIT
// A pass over a corpus: the work on each document is done by all threads, and the results come in the order
// of the documents, so that what is made of them does not depend on the threads. A few megabytes of documents
// are in work at a time, or a document, if it is larger.
#pragma once
#include <functional>
#include <optional>

#include "documents.hpp"
#include "team.hpp"

namespace wsl::ml {

struct pass_settings {
  /// leaves out documents that are not UTF-8 or have no text, and counts them; otherwise they are refused
  bool skip_invalid = false;
  int threads = 0;                         ///< 0: one for each processor
  std::function<void(u64)> on_bytes = {};  ///< is called with the numbers of bytes of documents that are done
};

/// Calls `work(d)` for each document on any thread, then `take(d, result)` in order; the result is a
/// std::optional that is empty if the document is invalid and left out. Returns the number of documents.
/// Throws what `work` throws of the first document that is refused, and what `take` throws.
template <class Work, class Take>
i64 pass_over(const corpus& in, const pass_settings& how, Work work, Take take) {
  constexpr std::size_t most_bytes = std::size_t{8} << 20, most_documents = 8192;
  using result = std::optional<std::invoke_result_t<Work, const document&>>;
  const team all(how.threads);
  std::vector<document> batch;
  std::vector<result> results;
  std::size_t bytes = 0;
  i64 count = 0;
  const auto flush = [&] {
    results.assign(batch.size(), {});
    constexpr std::size_t piece = 16;  // documents that a thread takes at a time
    all.each((batch.size() + piece - 1) / piece, [&](std::size_t p) {
      for (std::size_t i = p * piece; i < std::min(batch.size(), (p + 1) * piece); ++i) {
        try {
          results[i] = work(batch[i]);
        } catch (const file_error&) {
          if (!how.skip_invalid) throw;
        }
      }
    });
    for (std::size_t i = 0; i < batch.size(); ++i) take(batch[i], std::move(results[i]));
    count += static_cast<i64>(batch.size());
    if (how.on_bytes) how.on_bytes(bytes);
    batch.clear(), bytes = 0;
  };
  in.each([&](const document& d) {
    batch.push_back(d), bytes += d.bytes.size();
    if (bytes >= most_bytes || batch.size() == most_documents) flush();
  });
  if (!batch.empty()) flush();
  return count;
}

}  // namespace wsl::ml
