// SPDX-License-Identifier: MIT
// A message that mentions all of several texts: `CHECK_THROWS_WITH(f(), mentions("PE(2, 0)", "runs"))`.
#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <vector>

class mentions : public Catch::MatcherBase<std::string> {
 public:
  template <class... Text>
  explicit mentions(const Text&... texts) : texts_{std::string(texts)...} {}

  bool match(const std::string& message) const override {
    for (const std::string& text : texts_)
      if (message.find(text) == std::string::npos) return false;
    return true;
  }
  std::string describe() const override {
    std::string all = "mentions";
    for (const std::string& text : texts_) all += " \"" + text + "\"";
    return all;
  }

 private:
  std::vector<std::string> texts_;
};
