// SPDX-License-Identifier: MIT
#include "store.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace cluster {
namespace {

using nlohmann::json;

constexpr int schema_version = 1;
constexpr const char* schema = R"(
CREATE TABLE jobs(
  id INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL UNIQUE, user TEXT NOT NULL, program TEXT NOT NULL,
  arguments TEXT NOT NULL, params TEXT, model_dir TEXT NOT NULL, asks TEXT NOT NULL, priority INTEGER NOT NULL,
  time_limit_s INTEGER NOT NULL, labels TEXT NOT NULL, phase TEXT NOT NULL, submitted INTEGER NOT NULL,
  started INTEGER NOT NULL, ended INTEGER NOT NULL, turn INTEGER NOT NULL, attempt INTEGER NOT NULL, ranks TEXT NOT NULL,
  stop_asked INTEGER NOT NULL, exit_status INTEGER NOT NULL, restarts INTEGER NOT NULL, checkpoint INTEGER NOT NULL);
CREATE INDEX jobs_of_phase ON jobs(phase);
CREATE TABLE events(job INTEGER NOT NULL REFERENCES jobs(id), time INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX events_of_job ON events(job);
)";
constexpr const char* columns =
    "request, user, program, arguments, params, model_dir, asks, priority, time_limit_s, labels, phase, "
    "submitted, started, ended, turn, attempt, ranks, stop_asked, exit_status, restarts, checkpoint";

}  // namespace

/// A prepared statement: values are bound from the first to the last, and read in the same way.
class store::statement {
 public:
  statement(const store& of, const std::string& sql) : of_(of) {
    if (sqlite3_prepare_v2(of.db_, sql.c_str(), -1, &s_, nullptr) != SQLITE_OK) of.fail();
  }
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  ~statement() { sqlite3_finalize(s_); }

  void bind(i64 x) { check(sqlite3_bind_int64(s_, ++bound_, x)); }
  void bind(const std::string& x) {
    check(sqlite3_bind_text(s_, ++bound_, x.data(), static_cast<int>(x.size()), SQLITE_TRANSIENT));
  }
  void bind_nothing() { check(sqlite3_bind_null(s_, ++bound_)); }

  /// Whether there is a row.
  bool step() {
    const int result = sqlite3_step(s_);
    read_ = 0;
    if (result != SQLITE_ROW && result != SQLITE_DONE) of_.fail();
    return result == SQLITE_ROW;
  }
  i64 number() { return sqlite3_column_int64(s_, read_++); }
  int small_number() { return static_cast<int>(number()); }
  std::string text() {
    const int k = read_++;
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(s_, k));
    return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(s_, k))) : std::string();
  }
  std::optional<std::string> text_or_nothing() {
    if (sqlite3_column_type(s_, read_) == SQLITE_NULL) return ++read_, std::nullopt;
    return text();
  }

 private:
  void check(int result) const {
    if (result != SQLITE_OK) of_.fail();
  }
  const store& of_;
  sqlite3_stmt* s_ = nullptr;
  int bound_ = 0, read_ = 0;
};

store::store(const std::filesystem::path& folder, std::vector<std::string> names)
    : file_((folder / "jobs.sqlite").string()), names_(std::move(names)) {
  try {
    if (sqlite3_open_v2(file_.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        nullptr) != SQLITE_OK)
      fail();
    sqlite3_busy_timeout(db_, 10000);
    execute("PRAGMA journal_mode=WAL");
    execute("PRAGMA synchronous=FULL");
    execute("PRAGMA foreign_keys=ON");
    i64 version = 0;
    if (statement s(*this, "PRAGMA user_version"); s.step()) version = s.number();
    if (version > schema_version)
      throw store_error(file_ + " is of a newer wsl-clusterd (version " + std::to_string(version) +
                        " of its tables, not " + std::to_string(schema_version) +
                        "): start that one, or take another --state");
    if (version == 0)
      transaction([&] {
        execute(schema);
        execute(("PRAGMA user_version=" + std::to_string(schema_version)).c_str());
      });
    // A state that can only be read shows itself now, and not at the first job.
    execute("BEGIN IMMEDIATE");
    execute("ROLLBACK");
  } catch (...) {
    sqlite3_close(db_);
    throw;
  }
}

store::~store() { sqlite3_close(db_); }

void store::fail() const {
  const int code = db_ ? sqlite3_errcode(db_) : SQLITE_NOMEM;
  const bool is_damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  throw store_error(
      "cannot use " + file_ + ": " + (db_ ? sqlite3_errmsg(db_) : "there is not enough memory") +
      (is_damaged ? "; bring it back from a copy, or take another --state, which knows nothing of its jobs"
                  : ""));
}

void store::execute(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void store::transaction(const std::function<void()>& f) {
  if (sqlite3_get_autocommit(db_) == 0) return f();  // part of the one that is open
  execute("BEGIN IMMEDIATE");
  try {
    f();
    execute("COMMIT");
  } catch (...) {
    if (sqlite3_get_autocommit(db_) == 0) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

void store::bind_columns(statement& s, const job& j) {
  json ranks = json::array();
  for (const placed_rank& r : j.ranks) {
    const auto n = static_cast<std::size_t>(r.node);
    ranks.push_back(
        {name_of(r.what), r.node >= 0 && n < names_.size() ? names_[n] : "", r.millicores, r.memory});
  }
  s.bind(j.request), s.bind(j.user), s.bind(j.program), s.bind(json(j.arguments).dump());
  if (j.params) s.bind(*j.params);
  else s.bind_nothing();
  s.bind(j.model_dir), s.bind(json({j.asks.num_csx, j.asks.cores, j.asks.memory, j.asks.alone}).dump()),
      s.bind(i64{j.priority});
  s.bind(j.time_limit_s), s.bind(json(j.labels).dump()), s.bind(std::string(name_of(j.phase))),
      s.bind(j.submitted);
  s.bind(j.started), s.bind(j.ended), s.bind(j.turn), s.bind(i64{j.attempt}), s.bind(ranks.dump());
  s.bind(j.stop_asked), s.bind(i64{j.exit_status}), s.bind(i64{j.restarts}), s.bind(j.checkpoint);
}

std::vector<job> store::select(const std::string& where, const std::function<void(statement&)>& bind) {
  statement s(*this, "SELECT id, " + std::string(columns) + " FROM jobs " + where + " ORDER BY id");
  bind(s);
  std::vector<job> all;
  while (s.step()) try {
      job j;
      j.id = s.number(), j.request = s.text(), j.user = s.text(), j.program = s.text();
      j.arguments = json::parse(s.text()).get<std::vector<std::string>>();
      j.params = s.text_or_nothing(), j.model_dir = s.text();
      const json asks = json::parse(s.text());
      j.asks = {asks.at(0).get<int>(), asks.at(1).get<int>(), asks.at(2).get<i64>(),
                asks.size() > 3 && asks.at(3).get<bool>()};
      j.priority = s.small_number(), j.time_limit_s = s.number();
      j.labels = json::parse(s.text()).get<std::map<std::string, std::string>>();
      const std::string phase = s.text();
      const auto named = std::find(phase_names.begin(), phase_names.end(), phase);
      if (named == phase_names.end()) throw store_error(file_ + ": " + phase + " is no phase of a job");
      j.phase = static_cast<cluster::phase>(named - phase_names.begin());
      j.submitted = s.number(), j.started = s.number(), j.ended = s.number(), j.turn = s.number();
      j.attempt = s.small_number();
      for (const json& r : json::parse(s.text())) {
        const auto what = std::find(role_names.begin(), role_names.end(), r.at(0).get<std::string>());
        const auto on = std::find(names_.begin(), names_.end(), r.at(1).get<std::string>());
        j.ranks.push_back({static_cast<role>(what - role_names.begin()),
                           on == names_.end() ? -1 : static_cast<int>(on - names_.begin()),
                           r.at(2).get<int>(), r.at(3).get<i64>()});
      }
      j.stop_asked = s.number(), j.exit_status = s.small_number(), j.restarts = s.small_number();
      j.checkpoint = s.number();
      all.push_back(std::move(j));
    } catch (const json::exception& e) {
      throw store_error(file_ + ": a row of the table jobs is damaged: " + e.what());
    }
  return all;
}

job store::add(const job& j) {
  job added = j;
  transaction([&] {
    if (const auto there = find_request(j.request)) {
      added = *there;
      return;
    }
    std::string marks;
    for (const char* c = columns; *c; ++c)
      if (*c == ',') marks += "?,";
    statement s(*this, "INSERT INTO jobs(" + std::string(columns) + ") VALUES(" + marks + "?)");
    bind_columns(s, j);
    s.step();
    added.id = sqlite3_last_insert_rowid(db_);
  });
  return added;
}

void store::number_jobs_after(i64 id) {
  transaction([&] {
    // SQLite's own table of the numbers that AUTOINCREMENT has given
    statement later(*this, "UPDATE sqlite_sequence SET seq=max(seq,?) WHERE name='jobs'");
    later.bind(id), later.step();
    statement first(*this,
                    "INSERT INTO sqlite_sequence(name,seq) SELECT 'jobs',? WHERE NOT EXISTS "
                    "(SELECT 1 FROM sqlite_sequence WHERE name='jobs')");
    first.bind(id), first.step();
  });
}

void store::update(const job& j) {
  std::string set;
  for (const char* c = columns; *c; ++c) set += *c == ',' ? std::string("=?,") : std::string(1, *c);
  statement s(*this, "UPDATE jobs SET " + set + "=? WHERE id=?");
  bind_columns(s, j);
  s.bind(j.id);
  s.step();
}

std::optional<job> store::find(i64 id) {
  auto found = select("WHERE id=?", [&](statement& s) { s.bind(id); });
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::optional<job> store::find_request(const std::string& request) {
  auto found = select("WHERE request=?", [&](statement& s) { s.bind(request); });
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::vector<job> store::all() {
  return select("", [](statement&) {});
}

std::vector<job> store::in_phase(phase p) {
  return select("WHERE phase=?", [&](statement& s) { s.bind(std::string(name_of(p))); });
}

std::map<std::string, i64> store::last_turns() {
  statement s(*this, "SELECT user, MAX(turn) FROM jobs GROUP BY user");
  std::map<std::string, i64> all;
  while (s.step()) {
    std::string user = s.text();
    all.emplace(std::move(user), s.number());
  }
  return all;
}

void store::add_event(i64 job, const event& e) {
  statement s(*this, "INSERT INTO events(job, time, text) VALUES(?,?,?)");
  s.bind(job), s.bind(e.time), s.bind(e.text);
  s.step();
}

std::vector<event> store::events_of(i64 job) {
  statement s(*this, "SELECT time, text FROM events WHERE job=? ORDER BY rowid");
  s.bind(job);
  std::vector<event> all;
  while (s.step()) {
    const i64 time = s.number();
    all.push_back({time, s.text()});
  }
  return all;
}

}  // namespace cluster
