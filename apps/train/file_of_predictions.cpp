// SPDX-License-Identifier: MIT
#include "file_of_predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "../files.hpp"

namespace train_app {
namespace {

namespace fs = std::filesystem;
using marks = std::vector<std::string>;  // of one file, the newest last

std::string mark_of(const wsl::support::fingerprint& f) { return fmt::format("{:016x}", f.value()); }
std::string mark_of_file(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  wsl::support::fingerprint f;
  std::vector<char> some(1 << 20);
  while (in.read(some.data(), static_cast<std::streamsize>(some.size())) || in.gcount() > 0)
    f.add(some.data(), static_cast<std::size_t>(in.gcount()));
  if (!in.eof()) throw std::runtime_error(fmt::format("cannot read {}", name));
  return mark_of(f);
}

std::string list_beside(const std::string& name) {
  return (fs::path(name).parent_path() / ".predictions").string();
}
/// The fingerprints in a list, by the names of files; none if there is no list.
nlohmann::json listed(const std::string& list, const std::string& option) {
  if (!fs::exists(list)) return nlohmann::json::object();
  nlohmann::json all = nlohmann::json::parse(app::read_file(list), nullptr, false);
  if (!all.is_object())
    throw std::invalid_argument(fmt::format(
        "{} should be the list of what predict has written, and is something else: move it, or name "
        "another place with --{}",
        list, option));
  return all;
}
marks marks_of(const nlohmann::json& all, const std::string& name) {
  const auto at = all.find(fs::path(name).filename().string());
  marks found;
  if (at != all.end() && at->is_array())
    for (const nlohmann::json& x : *at)
      if (x.is_string()) found.push_back(x.get<std::string>());
  return found;
}

/// The field that names a file which is read, or a folder of texts that has it; empty if none does.
std::string reader_of(const fields& all, const std::string& name, const std::string& option) {
  const fs::path folder = fs::absolute(name).parent_path();
  for (const field& x : all.all()) {
    const bool is_of_texts = x.name.ends_with("data_dir") || x.name == "passages";
    const auto names = [&](const std::string& path) {
      std::error_code none;
      return !path.empty() &&
             (fs::equivalent(path, name, none) || (is_of_texts && fs::equivalent(path, folder, none)));
    };
    bool is_read = false;
    if (const auto* one = std::get_if<std::string*>(&x.where)) is_read = x.name != option && names(**one);
    if (const auto* many = std::get_if<std::vector<std::string>*>(&x.where))
      is_read = std::any_of((*many)->begin(), (*many)->end(), names);
    if (is_read) return x.full_name();
  }
  return "";
}

}  // namespace

file_of_predictions::file_of_predictions(const fields& f, std::string name, std::string option)
    : name_(std::move(name)), option_(std::move(option)) {
  if (fs::is_regular_file(name_))
    if (const std::string reader = reader_of(f, name_, option_); !reader.empty())
      throw std::invalid_argument(
          fmt::format("{} is among what {} names, and predictions are not written over what is read: name "
                      "another place with --{}",
                      name_, reader, option_));
  require_own();
  file_.emplace(name_);
}

void file_of_predictions::require_own() const {
  const nlohmann::json all = listed(list_beside(name_), option_);
  if (!fs::exists(name_)) return;
  if (!fs::is_regular_file(name_))
    throw std::invalid_argument(
        fmt::format("{} is there and no regular file: name another place with --{}", name_, option_));
  const marks own = marks_of(all, name_);
  if (std::find(own.begin(), own.end(), mark_of_file(name_)) == own.end())
    throw std::invalid_argument(
        fmt::format("{} is there already, and it is not as a predict has written it: name another place with "
                    "--{}, or remove the file",
                    name_, option_));
}

void file_of_predictions::add(std::string_view bytes) {
  file_->write(bytes.data(), bytes.size());
  written_.add(bytes.data(), bytes.size());
}

void file_of_predictions::finish() {
  require_own();
  // The list has the old file and the new one, so that either is known whenever this is interrupted.
  const std::string list = list_beside(name_);
  nlohmann::json all = listed(list, option_);
  marks known{mark_of(written_)};
  if (fs::is_regular_file(name_)) known.insert(known.begin(), mark_of_file(name_));
  all[fs::path(name_).filename().string()] = known;
  // A name that is no UTF-8 is not found again, so its file is not written over.
  app::write_file(list, all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  file_->finish();
  std::printf("%s\n", name_.c_str());
}

}  // namespace train_app
