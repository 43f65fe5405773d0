// SPDX-License-Identifier: MIT
// wsl-zoo trains, verifies, converts and samples from every decoder that the library knows, in the files of
// Hugging Face and by the field names of the Cerebras Model Zoo. See docs/guide/zoo.md.
#include <cstdio>

#include <language.hpp>

#include "../run.hpp"
#include "configurations.hpp"
#include "verify.hpp"

namespace zoo_app {
namespace {

using namespace train_app;

struct options : gpt_app::language_params {
  std::string hf;
};

int run_verify(const options& o) {
  if (o.hf.empty())
    throw std::invalid_argument("verify needs --hf, a folder with a model and its golden.safetensors");
  check_strategy(o.common.run);
  return verify(o.hf, o.common.run) ? 0 : 1;
}

int run(int argc, char** argv) {
  options o;
  fields f;
  declare_inputs(f, o);
  declare(f, o.model), declare_precision(f, o.common.precision);
  declare_optimizer(f, o.common.optimizer);
  declare_run(f, o.common.run);
  declare_checkpoint_options(f, o.common);
  f.options_of("model_of");
  f.add("hf", o.hf, "a folder with config.json and model.safetensors, or its parts and their index");
  int status = 0;
  const auto mode =
      parse(argc, argv,
            {.name = "wsl-zoo",
             .about = "Trains, verifies, converts and samples from decoders of Hugging Face, on a simulated "
                      "wafer.\nwsl-zoo verify --hf FOLDER; wsl-zoo fit --params llama --model_dir run",
             .modes = {{"verify", "compare a model of Hugging Face with its golden state"}},
             .configurations = configurations()},
            f, status);
  if (!mode) return status;
  gpt_app::complete(f, o);
  if (*mode == "verify" && ranks::size() > 1)
    throw std::invalid_argument(*mode + " is the work of one process: start it without mpirun");
  return run_verify(o);
}

}  // namespace
}  // namespace zoo_app

int main(int argc, char** argv) {
  app::says = &train_app::ranks::first_to_say;
  return app::run("wsl-zoo", [&] { return zoo_app::run(argc, argv); });
}
