// SPDX-License-Identifier: MIT
// What the manager knows of its jobs, in a file of SQLite: each change is a transaction, so that a manager
// that is killed at any moment finds the jobs again as they were.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "job.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace cluster {

/// A state that cannot be read or written, with SQLite's reason, such as a full disk.
class store_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One thread at a time uses it. All functions throw store_error.
class store {
 public:
  /// Opens the file `jobs.sqlite` of a folder, or makes it. `names` are those of the nodes: a process of a
  /// job on a node that is not among them has the number -1.
  store(const std::filesystem::path& folder, std::vector<std::string> names);
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  ~store();

  /// Does all of f, or nothing of it if it throws.
  void transaction(const std::function<void()>& f);

  /// Adds a job and gives it its number. A job with the same request is returned as it is.
  job add(const job& j);
  void update(const job& j);
  /// Jobs that are added get larger numbers than this one.
  void number_jobs_after(i64 id);
  std::optional<job> find(i64 id);
  std::optional<job> find_request(const std::string& request);
  std::vector<job> all();
  std::vector<job> in_phase(phase p);
  /// The number of the last start of each user.
  std::map<std::string, i64> last_turns();

  void add_event(i64 job, const event& e);
  std::vector<event> events_of(i64 job);

 private:
  class statement;
  void execute(const char* sql);
  [[noreturn]] void fail() const;
  std::vector<job> select(const std::string& where, const std::function<void(statement&)>& bind);
  void bind_columns(statement& s, const job& j);

  std::string file_;
  std::vector<std::string> names_;
  sqlite3* db_ = nullptr;
};

}  // namespace cluster
