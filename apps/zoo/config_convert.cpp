// SPDX-License-Identifier: MIT
#include <trainer_form.hpp>

#include "../command_line.hpp"
#include "../files.hpp"
#include "config_files.hpp"

namespace zoo_app {

using namespace train_app;

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
  app::write_file(to, written_out(made, from));
  for (const std::string& sentence : left_out)
    std::fprintf(stderr, "wsl-zoo: %s: left out\n", sentence.c_str());
  std::printf("%s has the %s form\n", to.c_str(), was_v2 ? "V1" : "V2");
  return 0;
}

}  // namespace zoo_app
