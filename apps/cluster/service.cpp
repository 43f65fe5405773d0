// SPDX-License-Identifier: MIT
#include "service.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "launch.hpp"
#include "submission.hpp"
#include "token.hpp"

namespace cluster {
namespace {

namespace pb = wsl::cluster;

constexpr int most_followers = 64;
constexpr std::size_t part_of_file = 2 << 20, part_of_log = 64 << 10;

/// So many bytes of a file from an offset; fewer at its end.
std::string part_of(const std::filesystem::path& file, i64 offset, std::size_t bytes) {
  std::ifstream in(file, std::ios::binary);
  std::string text(bytes, '\0');
  if (!in.seekg(offset) || (in.read(text.data(), static_cast<std::streamsize>(bytes)), in.bad())) return {};
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

/// The load and the free memory of this computer.
void add_load(pb::Node& n) {
  double load = -1;
  if (::getloadavg(&load, 1) == 1) n.set_load(load);
  std::ifstream in("/proc/meminfo");
  std::string name, unit;
  for (i64 kilobytes = 0; in >> name >> kilobytes; std::getline(in, unit))
    if (name == "MemAvailable:") n.set_memory_available(1024 * kilobytes);
}

}  // namespace

template <class F>
grpc::Status service::answer(const context& from, F f) {
  using grpc::StatusCode;
  const auto sent = from.client_metadata().find(token_key);
  const std::string word =
      sent == from.client_metadata().end() ? "" : std::string(sent->second.data(), sent->second.size());
  if (!same_word(word, token_before + token_))
    return {StatusCode::UNAUTHENTICATED,
            "this is not the manager's token: --token names a copy of the file `token` in its --state"};
  try {
    f();
    return grpc::Status::OK;
  } catch (const refused& e) { return {StatusCode::INVALID_ARGUMENT, e.what()}; } catch (const not_there& e) {
    return {StatusCode::NOT_FOUND, e.what()};
  } catch (const store_error& e) {
    return {StatusCode::RESOURCE_EXHAUSTED, std::string("the manager can do nothing now: ") + e.what()};
  } catch (const std::exception& e) {
    return {StatusCode::INTERNAL, std::string("the manager cannot do this now: ") + e.what()};
  }
}

i64 service::id_of(const std::string& name) const {
  const auto id = id_of_job(name);
  if (!id)
    throw refused("'" + name.substr(0, 100) + "' is no name of a job: they are like " + name_of_job(12));
  return *id;
}

pb::Job service::message_of(const job& j) const {
  pb::Job m;
  m.set_name(name_of_job(j.id)), m.set_phase(name_of(j.phase)), m.set_user(j.user),
      m.set_priority(j.priority);
  m.set_submitted(j.submitted), m.set_started(j.started), m.set_ended(j.ended), m.set_num_csx(j.asks.num_csx);
  m.set_program(j.program), m.set_model_dir(j.model_dir), m.set_time_limit_s(j.time_limit_s);
  m.set_attempt(j.attempt), m.set_exit_status(j.exit_status), m.set_restarts(j.restarts);
  m.set_checkpoint(j.checkpoint);
  for (const std::string& a : j.arguments) m.add_arguments(a);
  for (const auto& [key, value] : j.labels) (*m.mutable_labels())[key] = value;
  const auto& nodes = manager_.cluster().nodes;
  for (const placed_rank& r : j.ranks) {
    const std::string node = r.node < 0 ? "?" : nodes[static_cast<std::size_t>(r.node)].name;
    pb::Rank* rank = m.add_ranks();
    rank->set_role(name_of(r.what)), rank->set_node(node);
    const bool is_new = std::find(m.systems().begin(), m.systems().end(), node) == m.systems().end();
    if (r.what == role::wafer && is_new) m.add_systems(node);
  }
  return m;
}

grpc::Status service::Submit(context* from, const pb::Submission* s, pb::Job* to) {
  return answer(*from, [&] {
    job j;
    j.request = s->request(), j.user = s->user(), j.program = s->program();
    j.arguments.assign(s->arguments().begin(), s->arguments().end());
    if (s->has_params()) j.params = s->params(), j.params_name = s->params_name();
    j.asks = {.num_csx = s->num_csx(), .cores = s->cores(), .memory = s->memory()};
    j.priority = s->priority(), j.time_limit_s = s->time_limit_s();
    for (const auto& [key, value] : s->labels()) j.labels[key] = value;
    *to = message_of(manager_.submit(j));
  });
}

grpc::Status service::ListJobs(context* from, const pb::JobsAsked* a, pb::Jobs* to) {
  return answer(*from, [&] {
    for (const job& j : manager_.jobs(a->all())) *to->add_jobs() = message_of(j);
  });
}

grpc::Status service::ListNodes(context* from, const pb::Nothing*, pb::Nodes* to) {
  return answer(*from, [&] {
    const auto use = manager_.use_of_nodes();
    for (std::size_t k = 0; k < use.size(); ++k) {
      const node& n = manager_.cluster().nodes[k];
      pb::Node* m = to->add_nodes();
      m->set_name(n.name), m->set_host(n.host), m->set_cores(n.capacity.millicores / 1000);
      m->set_memory(n.capacity.memory), m->set_cores_used(use[k].millicores / 1000.),
          m->set_memory_used(use[k].memory);
      for (std::size_t r = 0; r < role_names.size(); ++r) {
        pb::Role* part = m->add_roles();
        part->set_name(role_names[r]), part->set_used(use[k].slots[r]), part->set_total(n.capacity.slots[r]);
      }
      for (const i64 id : use[k].jobs) m->add_jobs(name_of_job(id));
      m->set_load(-1), m->set_memory_available(-1);
      if (is_here(n.host)) add_load(*m);
    }
  });
}

grpc::Status service::Describe(context* from, const pb::JobName* a, pb::Description* to) {
  return answer(*from, [&] {
    const job j = manager_.find(id_of(a->name()));
    *to->mutable_job() = message_of(j);
    for (const event& e : manager_.events(j.id)) {
      pb::Event* m = to->add_events();
      m->set_time(e.time), m->set_text(e.text);
    }
    const auto folder = folder_of(manager_.cluster(), j.id);
    to->set_folder(folder.string());
    if (j.attempt == 0) return;
    if (const auto c = json_in(attempt_files(folder, j.attempt).command))
      for (const auto& word : c->at("words")) to->add_command(word.get<std::string>());
  });
}

grpc::Status service::Cancel(context* from, const pb::JobToCancel* a, pb::Job* to) {
  return answer(*from, [&] { *to = message_of(manager_.cancel(id_of(a->name()), a->user())); });
}

grpc::Status service::SetPriority(context* from, const pb::PriorityOfJob* a, pb::Job* to) {
  return answer(*from, [&] { *to = message_of(manager_.set_priority(id_of(a->name()), a->priority())); });
}

grpc::Status service::SetLabels(context* from, const pb::LabelsOfJob* a, pb::Job* to) {
  return answer(*from, [&] {
    *to = message_of(manager_.set_labels(id_of(a->name()), {a->set().begin(), a->set().end()},
                                         {a->remove().begin(), a->remove().end()}));
  });
}

grpc::Status service::ReadLog(context* from, const pb::LogAsked* a, grpc::ServerWriter<pb::LogPart>* to) {
  struct counted {
    std::atomic<int>& n;
    ~counted() { --n; }
  };
  const int before = followers_++;
  const counted here{followers_};
  if (before >= most_followers)
    return {grpc::StatusCode::RESOURCE_EXHAUSTED,
            "the manager shows " + std::to_string(most_followers) +
                " logs already: try again when somebody has stopped reading"};
  return answer(*from, [&] {
    i64 offset = std::max<i64>(0, a->offset());
    const i64 id = id_of(a->name());
    const auto file = folder_of(manager_.cluster(), id) / "log";
    for (;;) {
      const job j = manager_.find(id);  // before the log is read: what ended has written all of it
      for (;;) {
        std::string text = part_of(file, offset, part_of_log);
        if (text.empty()) break;
        offset += static_cast<i64>(text.size());
        pb::LogPart part;
        part.set_text(std::move(text)), part.set_offset(offset);
        if (!to->Write(part)) return;
      }
      if (!a->follow() || is_over(j.phase)) {
        pb::LogPart last;
        last.set_offset(offset), *last.mutable_job() = message_of(j);
        to->Write(last);
        return;
      }
      if (from->IsCancelled() || closed_) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  });
}

grpc::Status service::ReadRunFile(context* from, const pb::RunFileAsked* a, pb::RunFile* to) {
  return answer(*from, [&] {
    const job j = manager_.find(id_of(a->name()));
    const char* name = nullptr;
    switch (a->file()) {
      case pb::RunFileAsked::LOSS: name = "loss.csv"; break;
      case pb::RunFileAsked::PERFORMANCE: name = "performance.json"; break;
      case pb::RunFileAsked::TRACE: name = "chrome_trace.json"; break;
      case pb::RunFileAsked::LAYOUT: name = "layout.svg"; break;
      default: throw refused("there is no such file of a run");
    }
    if (j.model_dir.empty()) return;
    const auto file = manager_.cluster().folder / j.model_dir / name;
    std::error_code none;
    const auto size = std::filesystem::file_size(file, none);
    if (none) return;
    to->set_exists(true), to->set_size(static_cast<i64>(size));
    to->set_part(part_of(file, std::max<i64>(0, a->offset()), part_of_file));
  });
}

}  // namespace cluster
