// SPDX-License-Identifier: MIT
// Writes documents in the form in which a corpus has them: lines of objects, texts with empty lines between
// them, or a text alone.
#pragma once
#include "../../../support/whole_file.hpp"
#include "documents.hpp"

namespace wsl::ml {

class document_writer {
 public:
  enum class form { lines, sections };
  static form form_of(const corpus& like) { return like.is_json() ? form::lines : form::sections; }

  /// A file, which exists completely after `finish`. Folders on the way to it are made. Throws file_error, as
  /// its functions do, if it cannot be written.
  document_writer(const std::string& name, form how) : file_(made_room(name)), form_(how) {}

  /// The bytes of a document: for a corpus of objects one line without its end.
  void write(std::string_view bytes) {
    if (form_ == form::sections && count_++ > 0) put("\n");
    put(bytes);
    if (!bytes.ends_with('\n')) put("\n");
  }
  void finish() { file_.finish(); }
  /// The bytes that are written.
  u64 bytes() const { return bytes_; }

 private:
  static std::string made_room(const std::string& name) {
    const std::filesystem::path folder = std::filesystem::path(name).parent_path();
    std::error_code why;
    if (!folder.empty()) std::filesystem::create_directories(folder, why);
    if (why)
      throw file_error(fmt::format("wsl: cannot make the folder {}: {}", folder.string(), why.message()));
    return name;
  }
  void put(std::string_view bytes) { file_.write(bytes.data(), bytes.size()), bytes_ += bytes.size(); }

  support::whole_file file_;
  form form_;
  u64 count_ = 0, bytes_ = 0;
};

}  // namespace wsl::ml
