// SPDX-License-Identifier: MIT
#include "submitting.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <stdexcept>

#include "../files.hpp"
#include "../train/zoo_models.hpp"
#include "cluster_file.hpp"
#include "token.hpp"

namespace cluster {
namespace {

/// A params file of the V1 form need not name its model: it lies in the model's folder, which its copy on the
/// cluster does not, and wsl-zoo would take another model.
void say_model_of_folder(wsl::cluster::Submission& s) {
  const train_app::zoo_model* const model = train_app::zoo_model_of_path(s.params_name());
  if (!model || s.program() != model->program || s.program() != "wsl-zoo") return;
  const auto& arguments = s.arguments();
  if (std::any_of(arguments.begin(), arguments.end(), [](std::string_view word) {
        const std::string_view option = word.substr(0, word.find('='));
        return option == "--name" || option == "--model.name";
      }))
    return;
  try {
    if (!train_app::model_named_in(YAML::Load(s.params())).empty()) return;
  } catch (const YAML::Exception&) { return; }  // wsl-zoo says what is wrong in it, and where
  s.add_arguments("--model.name"), s.add_arguments(model->name);
}

/// Takes the params file out of the arguments, if one of this computer is named.
void take_params(wsl::cluster::Submission& s, const std::vector<std::string>& arguments) {
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string& word = arguments[k];
    std::string file;
    std::size_t words = 1;
    if ((word == "--params" || word == "-p") && k + 1 < arguments.size()) file = arguments[k + 1], words = 2;
    else if (word.starts_with("--params=")) file = word.substr(9);
    const bool is_there = !file.empty() && std::filesystem::is_regular_file(file);
    if (!is_there) {
      if (file.find('/') != file.npos || file.ends_with(".yaml") || file.ends_with(".yml"))
        throw std::invalid_argument("--params: there is no file " + file +
                                    " on this computer, from which it is sent to the cluster");
      s.add_arguments(word);
      continue;
    }
    if (s.has_params()) throw std::invalid_argument("--params is given twice: leave one out");
    s.set_has_params(true), s.set_params(app::read_file(file)), s.set_params_name(file);
    k += words - 1;
  }
  if (s.has_params()) say_model_of_folder(s);
}

}  // namespace

std::string name_of_user() {
  const passwd* p = ::getpwuid(::geteuid());
  return p ? p->pw_name : "user" + std::to_string(::geteuid());
}

int priority_of(const std::string& text) {
  if (text.empty()) return usual_priority;
  const std::string_view number = text[0] == 'p' || text[0] == 'P' ? std::string_view(text).substr(1) : text;
  int x = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), x);
  const bool is_class = number.size() != text.size();
  if (error != std::errc{} || end != number.data() + number.size() || x < 0 ||
      x > (is_class ? 3 : lowest_priority))
    throw std::invalid_argument("a priority is p0 to p3, or a number from 0, the first, to 399, not '" +
                                text + "'");
  return is_class ? 100 * x + 99 : x;
}

std::pair<std::string, std::string> label_of(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == text.npos || at == 0) throw std::invalid_argument("a label is name=value, not '" + text + "'");
  // A value has no comma, so that the parts are labels of their own, or are meant as one value.
  if (text.find(',') != text.npos) {
    std::string apart = text;
    std::replace(apart.begin(), apart.end(), ',', ' ');
    throw std::invalid_argument("a label is one name=value, without commas, not '" + text +
                                "': several stand apart, as in " + apart);
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

wsl::cluster::Submission submission_of(const submit_options& o, const std::vector<std::string>& command) {
  if (command.empty())
    throw std::invalid_argument(
        "what shall the job run? wsl-ctl submit -- wsl-gpt train --params my.yaml, for instance");
  wsl::cluster::Submission s;
  s.set_request(random_word(16)), s.set_user(name_of_user());
  s.set_program(std::filesystem::path(command.front()).filename().string());
  take_params(s, {command.begin() + 1, command.end()});
  for (const std::string& label : o.labels) {
    const auto [key, value] = label_of(label);
    if (!s.mutable_labels()->insert({key, value}).second)
      throw std::invalid_argument("the label " + key + " is given twice: a job has one value of each");
  }
  s.set_priority(priority_of(o.priority)), s.set_time_limit_s(o.time_s), s.set_num_csx(o.num_csx),
      s.set_cores(o.cores);
  if (!o.memory.empty()) {
    const auto bytes = bytes_of(o.memory);
    if (!bytes || *bytes <= 0)
      throw std::invalid_argument("--memory is a size such as 8GB, not '" + o.memory + "'");
    if (*bytes < least_memory)
      throw std::invalid_argument("--memory is a size such as 8GB, and " + o.memory +
                                  " is less than 1MB: is its unit missing?");
    s.set_memory(*bytes);
  }
  return s;
}

}  // namespace cluster
