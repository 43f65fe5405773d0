// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <trainer_form.hpp>

#include "../command_line.hpp"
#include "../files.hpp"
#include "config_files.hpp"

namespace zoo_app {
namespace {

using namespace train_app;

/// Writes nodes as text, with anchors and merged maps written out. Scalars keep their spelling.
class writer {
 public:
  explicit writer(std::string file) : file_(std::move(file)) {}

  std::string text(const YAML::Node& root) {
    write(root, 0);
    return std::string(out_.c_str()) + "\n";
  }

 private:
  void write(const YAML::Node& n, int depth) {
    // An anchor may be part of what it names, and anchors of anchors grow without end.
    if (constexpr int deepest = 64; depth > deepest)
      throw std::invalid_argument(
          fmt::format("{}: maps lie in each other more than {} deep", file_, deepest));
    if (constexpr int most = 1'000'000; ++count_ > most)
      throw std::invalid_argument(fmt::format("{}: written out it has more than {} values", file_, most));
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

int run_config_convert(int argc, char** argv) {
  CLI::App app(
      "Writes a params file of the V1 form in the V2 form, or one of the V2 form in the V1 form. Comments "
      "are "
      "not kept.",
      "wsl-zoo config convert");
  std::string from, to;
  app.add_option("-i,--input", from, "the file")->required();
  app.add_option("-o,--output", to, "the file to write")->required();
  int status = 0;
  if (!app::parse(app, argc, argv, "option", status)) return status;
  if (!std::filesystem::is_regular_file(from)) throw std::invalid_argument("-i: there is no file " + from);
  app::require_free(to, "-o");
  const YAML::Node root = parsed(app::read_file(from), from);
  if (!root.IsMap()) refuse(from, "a params file is a map of sections, not " + shown(root));
  mistakes found;
  std::vector<std::string> left_out;
  const bool was_v2 = is_trainer_form(root);
  const YAML::Node made =
      was_v2 ? sections_of_trainer(root, from, found, left_out) : trainer_of_sections(root, from, found);
  found.report();
  app::write_file(to, writer(from).text(made));
  for (const std::string& sentence : left_out)
    std::fprintf(stderr, "wsl-zoo: %s: left out\n", sentence.c_str());
  std::printf("%s has the %s form\n", to.c_str(), was_v2 ? "V1" : "V2");
  return 0;
}

}  // namespace zoo_app
