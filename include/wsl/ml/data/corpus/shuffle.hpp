// SPDX-License-Identifier: MIT
// The documents of a corpus in a random order, also if it is larger than the memory: the key of a document is
// a hash of the seed and its number, and the order is that of the keys. A first pass distributes documents to
// files of ranges of keys, a second one sorts each of these. So the order is a function of the seed and of
// the order of the documents, whatever the memory.
//   shuffle_documents(corpus({"part0.jsonl", "part1.jsonl"}), "shuffled", {.seed = 7});
#pragma once
#include <algorithm>
#include <functional>

#include "../../../support/whole_folder.hpp"
#include "../permutation.hpp"
#include "document_writer.hpp"

namespace wsl::ml {

struct shuffling {
  u64 seed = 1;
  u64 memory = u64{1} << 30;  ///< about how many bytes of documents are sorted at a time
  std::function<void(const char* what, u64 total)> begins = {};  ///< a pass over so many bytes
  std::function<void(u64 bytes)> advances = {};
};
struct shuffling_report {
  i64 documents = 0;
  int ranges = 0;  ///< of keys
};

/// The number that decides where a document comes. Keys of different documents differ.
constexpr u64 shuffle_key(u64 seed, u64 number) { return scramble(scramble(seed) ^ number); }

namespace detail {

// What stands before each document in the file of a range.
struct shuffle_entry {
  u64 key, bytes;
};

// A file that is read again and then removed, so it need not reach the disk.
class scratch_file {
 public:
  explicit scratch_file(std::string name)
      : name_(std::move(name)), file_(std::fopen(name_.c_str(), "wb"), &std::fclose) {
    if (!file_) throw failed();
    std::setvbuf(file_.get(), nullptr, _IOFBF, std::size_t{1} << 16);
  }
  void write(const void* bytes, std::size_t size) {
    if (size && std::fwrite(bytes, 1, size, file_.get()) != size) throw failed();
  }
  void finish() {
    if (std::fclose(file_.release()) != 0) throw failed();
  }

 private:
  file_error failed() const {
    return file_error(fmt::format("wsl: cannot write {}: {}", name_, std::strerror(errno)));
  }

  std::string name_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

/// Writes the documents of a file of shuffle entries in the order of their keys.
template <class Advance>
void write_sorted(const std::string& name, document_writer& to, Advance advance) {
  input_file in(name);
  const mapped<char> all = in.map<char>(in.size(), "documents");
  std::vector<std::pair<u64, std::string_view>> documents;
  const std::string_view text(all.numbers.data(), all.numbers.size());
  for (std::size_t at = 0; at < text.size();) {
    shuffle_entry e;
    std::memcpy(&e, text.data() + at, sizeof e);
    at += sizeof e;
    documents.emplace_back(e.key, text.substr(at, e.bytes));
    at += e.bytes;
  }
  std::sort(documents.begin(), documents.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [key, bytes] : documents) to.write(bytes), advance(bytes.size());
}

}  // namespace detail

/// Writes the documents to the file shuffled.jsonl, or shuffled.txt, of the folder `out`, byte by byte as
/// they are. Of texts that are one document each, it makes objects with the text in the field `text_key`.
/// While it works, the documents are on the disk twice. Throws file_error for an `out` that has files and for
/// what cannot be read or written, in which case nothing is left, and std::invalid_argument if the memory is
/// less than a 512th of twice the corpus.
inline shuffling_report shuffle_documents(const corpus& in, const std::string& out, const shuffling& how) {
  constexpr u64 most_ranges = 512;  // files that are open at a time
  const u64 ranges = std::max<u64>(1, (2 * in.bytes() + how.memory - 1) / std::max<u64>(how.memory, 1));
  if (how.memory == 0 || ranges > most_ranges)
    throw std::invalid_argument(
        fmt::format("wsl: {} bytes of documents are shuffled with at least {} bytes of memory, not {}: give "
                    "more memory, or "
                    "shuffle parts of the corpus",
                    in.bytes(), (2 * in.bytes() + most_ranges - 1) / most_ranges, how.memory));
  support::whole_folder folder(out);
  const auto begin = [&](const char* what) {
    if (how.begins) how.begins(what, in.bytes());
  };
  const auto advance = [&](u64 bytes) {
    if (how.advances) how.advances(bytes);
  };
  const auto name_of = [&](u64 range) { return folder / fmt::format("range{}", range); };
  shuffling_report report{0, static_cast<int>(ranges)};
  std::vector<detail::scratch_file> files;
  for (u64 r = 0; r < ranges; ++r) files.emplace_back(name_of(r));
  begin("distributing: bytes");
  in.each([&](const document& d) {
    std::string made;
    std::string_view bytes = d.bytes;
    if (in.is_whole()) made = nlohmann::json{{in.form().text_key, in.text_of(d)}}.dump(), bytes = made;
    const u64 key = shuffle_key(how.seed, static_cast<u64>(report.documents++));
    // the ranges divide the numbers of 64 bits evenly: the upper half of key * ranges
    const u64 range = ((key >> 32) * ranges + ((key & 0xffffffffu) * ranges >> 32)) >> 32;
    const detail::shuffle_entry e{key, bytes.size()};
    files[range].write(&e, sizeof e);
    files[range].write(bytes.data(), bytes.size());
    advance(d.bytes.size());
  });
  for (detail::scratch_file& f : files) f.finish();
  begin("sorting: bytes");
  document_writer to(folder / (in.is_json() || in.is_whole() ? "shuffled.jsonl" : "shuffled.txt"),
                     in.is_whole() ? document_writer::form::lines : document_writer::form_of(in));
  for (u64 r = 0; r < ranges; ++r) {
    detail::write_sorted(name_of(r), to, advance);
    std::filesystem::remove(name_of(r));
  }
  to.finish();
  folder.finish();
  return report;
}

}  // namespace wsl::ml
