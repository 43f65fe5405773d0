// SPDX-License-Identifier: MIT
// A file that is there complete or not at all: it is written under another name first and then renamed.
#pragma once
#include <cstdio>
#include <stdexcept>
#include <string>

namespace wsl {

/// Writes the text; throws std::runtime_error with the file's name if it cannot.
inline void write_whole_file(const std::string& name, const std::string& text) {
  const std::string unfinished = name + ".unfinished";
  std::FILE* file = std::fopen(unfinished.c_str(), "wb");
  if (!file) throw std::runtime_error("wsl: cannot write " + unfinished);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(unfinished.c_str(), name.c_str()) == 0) return;
  std::remove(unfinished.c_str());
  throw std::runtime_error("wsl: cannot write " + name);
}

}  // namespace wsl
