// SPDX-License-Identifier: MIT
#include "yaml_text.hpp"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <sstream>

namespace train_app {

invalid_params::invalid_params(std::vector<std::string> sentences)
    : std::invalid_argument([&] {
        std::string all;
        for (const std::string& sentence : sentences) all += (all.empty() ? "" : "\n") + sentence;
        return all;
      }()),
      sentences_(std::move(sentences)) {}

std::vector<std::string> sentences_of(const std::invalid_argument& e) {
  const auto* several = dynamic_cast<const invalid_params*>(&e);
  return several ? several->sentences() : std::vector<std::string>{e.what()};
}

[[noreturn]] void refuse(const std::string& where, const std::string& sentence) {
  throw std::invalid_argument(where + ": " + sentence);
}

std::string place(const std::string& file, const YAML::Node& node) {
  return file + ":" + std::to_string(node.Mark().line + 1);
}

std::string shown(const YAML::Node& n) {
  if (n.IsScalar()) return "'" + n.Scalar().substr(0, 60) + "'";
  if (n.IsNull()) return "nothing";
  return (n.size() ? "a " : "an empty ") + std::string(n.IsMap() ? "map" : "list");
}

std::optional<bool> truth_of(const YAML::Node& node) {
  if (!node.IsScalar()) return {};
  const std::string& word = node.Scalar();
  for (const bool is_true : {true, false})
    for (const char* small : is_true ? std::array{"true", "yes", "on"} : std::array{"false", "no", "off"}) {
      std::string begun = small, large = small;
      begun[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(begun[0])));
      for (char& c : large) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      if (word == small || word == begun || word == large) return is_true;
    }
  return {};
}

namespace {

std::string line_of(const std::string& text, int number) {
  std::size_t begin = 0;
  for (int k = 0; k < number && begin != text.npos; ++k) {
    begin = text.find('\n', begin);
    if (begin != text.npos) ++begin;
  }
  return begin == text.npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

/// Where a document has its first value.
class first_value final : public YAML::EventHandler {
 public:
  const YAML::Mark& mark() const { return mark_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& at, YAML::anchor_t) override { note(at); }
  void OnAlias(const YAML::Mark& at, YAML::anchor_t) override { note(at); }
  void OnScalar(const YAML::Mark& at, const std::string&, YAML::anchor_t, const std::string&) override {
    note(at);
  }
  void OnSequenceStart(const YAML::Mark& at, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    note(at);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& at, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    note(at);
  }
  void OnMapEnd() override {}

 private:
  void note(const YAML::Mark& at) {
    if (mark_.is_null()) mark_ = at;
  }

  YAML::Mark mark_ = YAML::Mark::null_mark();
};

/// The line at which something follows the first document, from 0; -1 where nothing does.
int line_of_second_document(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  first_value first, second;
  if (!parser.HandleNextDocument(first) || !parser.HandleNextDocument(second)) return -1;
  // A null is the end of the file after a last "---", or the place where yaml-cpp can read no further.
  const bool is_blank = line_of(text, second.mark().line).find_first_not_of(" \r") == std::string::npos;
  return is_blank ? -1 : second.mark().line;
}

}  // namespace

YAML::Node parsed(const std::string& text, const std::string& where) {
  constexpr std::size_t most = 1 << 20;
  if (text.size() > most)
    refuse(where, "has " + std::to_string(text.size()) + " bytes; a params file has at most " +
                      std::to_string(most));
  YAML::Node root;
  int second = -1;
  try {
    // Not LoadAll: yaml-cpp 0.7 finds documents without end in "{a: 1} , b".
    root = YAML::Load(text);
    second = line_of_second_document(text);
  } catch (const YAML::Exception& e) {
    const std::string line = e.mark.line >= 0 ? line_of(text, e.mark.line) : "";
    const bool has_tab = line.find('\t') != line.npos;
    refuse(e.mark.line >= 0 ? where + ":" + std::to_string(e.mark.line + 1) : where,
           has_tab ? std::string("this is no YAML: there is a tab in the line, and YAML indents with blanks")
                   : "this is no YAML: " + e.msg);
  }
  if (second >= 0)
    refuse(where + ":" + std::to_string(second + 1),
           "a second YAML document begins here; a params file is one: leave out the other");
  return root;
}

named_nodes pairs_of(const YAML::Node& map, const std::string& file, const std::string& what,
                     mistakes& found) {
  if (!map.IsMap()) refuse(place(file, map), what + " is a map of fields, not " + shown(map));
  named_nodes all;
  std::map<std::string, int> lines;
  std::vector<YAML::Node> merged, waiting;  // a stack: the last one waiting is merged next
  const auto merges = [&](const YAML::Node& from) {
    if (!from.IsSequence()) return waiting.push_back(from);
    for (std::size_t i = from.size(); i-- > 0;) waiting.push_back(from[i]);
  };
  for (const auto& pair : map) {
    if (!pair.first.IsScalar()) refuse(place(file, pair.first), what + ": the name of a field is a word");
    const std::string& key = pair.first.Scalar();
    const int line = pair.first.Mark().line + 1;
    if (const auto [before, fresh] = lines.emplace(key, line); !fresh) {
      found.add(place(file, pair.first) + ": " + (what.empty() ? key : what + "." + key) +
                " stands there twice, before in line " + std::to_string(before->second));
      continue;
    }
    if (key == "<<") merges(pair.second);
    else all.emplace_back(key, pair.second);
  }
  while (!waiting.empty()) {
    const YAML::Node from = waiting.back();
    waiting.pop_back();
    if (!from.IsMap()) refuse(place(file, from), what + ": << merges a map, not " + shown(from));
    // An anchor may be merged into what it merges itself.
    if (std::any_of(merged.begin(), merged.end(), [&](const YAML::Node& m) { return m.is(from); })) continue;
    merged.push_back(from);
    if (constexpr std::size_t most = 100; merged.size() + waiting.size() > most)
      refuse(place(file, map), what + ": << merges more than " + std::to_string(most) + " maps");
    for (const auto& weaker : from) {
      if (!weaker.first.IsScalar())
        refuse(place(file, weaker.first), what + ": the name of a field is a word");
      if (weaker.first.Scalar() == "<<") merges(weaker.second);
      else if (lines.emplace(weaker.first.Scalar(), 0).second)
        all.emplace_back(weaker.first.Scalar(), weaker.second);
    }
  }
  return all;
}

named_nodes pairs_of(const YAML::Node& map, const std::string& file, const std::string& what) {
  mistakes found;
  named_nodes all = pairs_of(map, file, what, found);
  if (!found.all().empty()) throw std::invalid_argument(found.all().front());
  return all;
}

namespace {

/// Writes nodes as text, with anchors and merged maps written out. Scalars keep their spelling.
class yaml_writer {
 public:
  explicit yaml_writer(std::string file) : file_(std::move(file)) {}

  std::string text(const YAML::Node& root) {
    write(root, 0);
    return std::string(out_.c_str()) + "\n";
  }

 private:
  void write(const YAML::Node& n, int depth) {
    // An anchor may be part of what it names, and anchors of anchors grow without end.
    if (constexpr int deepest = 64; depth > deepest)
      throw std::invalid_argument(file_ + ": maps lie in each other more than " + std::to_string(deepest) +
                                  " deep");
    if (constexpr int most = 1'000'000; ++count_ > most)
      throw std::invalid_argument(file_ + ": written out it has more than " + std::to_string(most) +
                                  " values");
    if (n.IsMap()) {
      out_ << YAML::BeginMap;
      for (const auto& [name, value] : pairs_of(n, file_, "")) {
        out_ << YAML::Key << name << YAML::Value;
        write(value, depth + 1);
      }
      out_ << YAML::EndMap;
    } else if (n.IsSequence()) {
      bool is_short = true;
      for (std::size_t k = 0; k < n.size(); ++k) is_short &= n[k].IsScalar();
      if (is_short) out_ << YAML::Flow;
      out_ << YAML::BeginSeq;
      for (std::size_t k = 0; k < n.size(); ++k) write(n[k], depth + 1);
      out_ << YAML::EndSeq;
    } else if (n.IsScalar()) {
      // A word in quotes stays one where it would be something else without them.
      if (n.Tag() == "!") out_ << YAML::DoubleQuoted;
      out_ << n.Scalar();
    } else out_ << YAML::Null;
  }

  std::string file_;
  YAML::Emitter out_;
  int count_ = 0;
};

}  // namespace

std::string written_out(const YAML::Node& root, const std::string& file) {
  return yaml_writer(file).text(root);
}

YAML::Node at_line_of(const YAML::Node& there, const std::string& yaml) {
  // yaml-cpp gives nodes their lines only while it reads.
  return YAML::Load(std::string(static_cast<std::size_t>(std::max(0, there.Mark().line)), '\n') + yaml);
}

}  // namespace train_app
