// SPDX-License-Identifier: MIT
// The scalars of a run as lines of JSON, one a step, with its configuration and its last values: the files of
// an offline run of Weights & Biases, in a folder that is named as one, for tools that read such lines.
//   ml::offline_run run("model_dir", {.project = "pages"}, "model: {...}");
//   run.scalar("train/loss", 10, 2.5), run.scalar("train/lr", 10, 1e-3);
// makes model_dir/wandb/offline-run-20260102_030405-1a2b3c4d/files/ with
//   wandb-history.jsonl  {"_step":10,"_runtime":0.8,"_timestamp":1767322800.1,"train/loss":2.5,...}
//   wandb-summary.json   the last value of each
//   config.yaml          the configuration, and wandb-metadata.json what names the run
// A line has all values of a step; it is written when those of a later one come, or the run ends.
#pragma once
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/scalar.hpp"
#include "../../support/file_error.hpp"
#include "../../support/whole_file.hpp"

namespace wsl::ml {

/// What names a run among others; empty: nothing.
struct offline_run_names {
  std::string project = {}, group = {}, name = {}, job_type = {}, id = {};
  std::vector<std::string> tags = {};
};

class offline_run {
 public:
  /// Makes a folder for a run that begins now. Throws file_error if it cannot.
  offline_run(const std::filesystem::path& folder, offline_run_names names, std::string_view configuration)
      : begin_(now()) {
    if (names.id.empty()) names.id = fmt::format("{:08x}", std::random_device()());
    const std::time_t seconds = static_cast<std::time_t>(begin_);
    folder_ = folder / "wandb" /
              fmt::format("offline-run-{:%Y%m%d_%H%M%S}-{}", fmt::gmtime(seconds), names.id) / "files";
    std::error_code why;
    std::filesystem::create_directories(folder_, why);
    if (why)
      throw support::file_error(fmt::format("wsl: cannot make {}: {}", folder_.string(), why.message()));
    nlohmann::json about{{"id", names.id}, {"startedAt", begin_}, {"pid", ::getpid()}};
    for (const auto& [key, value] : {std::pair("project", &names.project),
                                     {"group", &names.group},
                                     {"name", &names.name},
                                     {"jobType", &names.job_type}})
      if (!value->empty()) about[key] = *value;
    if (!names.tags.empty()) about["tags"] = names.tags;
    put("wandb-metadata.json", about.dump(2) + "\n");
    put("config.yaml", configuration);
    history_.reset(std::fopen((folder_ / "wandb-history.jsonl").c_str(), "w"));
    if (!history_) fail("wandb-history.jsonl");
  }
  offline_run(offline_run&&) = default;
  offline_run& operator=(offline_run&&) = default;
  /// What cannot be written any more is lost; `end` says so.
  ~offline_run() {
    try {
      end();
    } catch (...) {}
  }

  /// A value of a step. Steps do not go back.
  void scalar(std::string_view name, i64 step, f64 value) {
    if (!row_.empty() && row_["_step"] != step) end();
    if (row_.empty()) {
      const f64 at = now();
      row_ = {{"_step", step}, {"_runtime", at - begin_}, {"_timestamp", at}};
    }
    row_[std::string(name)] = number(value);
  }
  /// Writes the line of the last step. Throws file_error if it cannot.
  void end() {
    if (row_.empty() || !history_) return;
    const std::string line = std::exchange(row_, nlohmann::ordered_json()).dump() + "\n";
    if (std::fwrite(line.data(), 1, line.size(), history_.get()) != line.size() ||
        std::fflush(history_.get()) != 0)
      fail("wandb-history.jsonl");
    summary_.update(nlohmann::ordered_json::parse(line));
    put("wandb-summary.json", summary_.dump() + "\n");
  }

  /// The folder of the files.
  const std::filesystem::path& folder() const { return folder_; }

 private:
  static f64 now() {
    return std::chrono::duration<f64>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  /// JSON has no numbers that are not finite; Weights & Biases writes words for them.
  static nlohmann::ordered_json number(f64 x) {
    if (std::isnan(x)) return "NaN";
    if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
    return x;
  }
  void put(const char* name, std::string_view text) const {
    support::whole_file file((folder_ / name).string());
    file.write(text.data(), text.size());
    file.finish();
  }
  [[noreturn]] void fail(const char* name) const {
    throw support::file_error(
        fmt::format("wsl: cannot write {}: {}", (folder_ / name).string(), std::strerror(errno)));
  }
  struct closes {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };

  f64 begin_;
  std::filesystem::path folder_;
  std::unique_ptr<std::FILE, closes> history_;
  nlohmann::ordered_json row_, summary_ = nlohmann::ordered_json::object();
};

}  // namespace wsl::ml
