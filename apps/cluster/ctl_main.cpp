// SPDX-License-Identifier: MIT
// wsl-ctl submits jobs to a cluster, shows them, and controls them, as csctl does on a Cerebras cluster. See
// docs/guide/cluster.md.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "../command_line.hpp"
#include "client.hpp"
#include "dashboard.hpp"
#include "follow.hpp"
#include "job.hpp"
#include "submitting.hpp"
#include "tables.hpp"

namespace {

namespace pb = wsl::cluster;
using cluster::client;
using cluster::json_of;
using cluster::table_of;
using cluster::text_of;
using stub = client::stub;

long long now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

pb::JobName named(const std::string& name) {
  pb::JobName asked;
  asked.set_name(name);
  return asked;
}

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

struct options {
  cluster::manager_address where;
  cluster::submit_options submit;
  bool follow = false, all = false;
  std::vector<std::string> words;
  std::string output = "table";
  int port = 8080;
};

/// The words after a command, without csctl's word `job`.
std::vector<std::string> names_of_jobs(const options& o, std::size_t least, std::size_t most,
                                       const char* form) {
  std::vector<std::string> words = o.words;
  if (!words.empty() && (words.front() == "job" || words.front() == "jobs")) words.erase(words.begin());
  if (words.size() < least || words.size() > most)
    throw std::invalid_argument(std::string("it is wsl-ctl ") + form);
  return words;
}

int submit(const options& o, const std::vector<std::string>& command) {
  const pb::Submission asked = cluster::submission_of(o.submit, command);
  client c(o.where);
  const pb::Job j = c.call(&stub::Submit, asked);
  if (!o.follow) return print(j.name() + "\n"), 0;
  std::fprintf(stderr, "wsl-ctl: %s is %s on %s\n", j.name().c_str(), j.phase().c_str(), c.address().c_str());
  return cluster::follow(c, j.name());
}

pb::Jobs list_jobs(client& c, bool also_ended) {
  pb::JobsAsked asked;
  asked.set_all(also_ended);
  return c.call(&stub::ListJobs, asked);
}

/// The jobs or nodes of these names, in their order; all if there are no names. Names that nobody has are
/// told one by one, and `status` is 1 then.
template <class Thing>
auto chosen_of(const google::protobuf::RepeatedPtrField<Thing>& all, const std::vector<std::string>& names,
               const char* what, const std::string& more, int& status) {
  if (names.empty()) return all;
  google::protobuf::RepeatedPtrField<Thing> chosen;
  for (const std::string& name : names) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Thing& x) { return x.name() == name; });
    if (found != all.end()) {
      chosen.Add()->CopyFrom(*found);
      continue;
    }
    std::vector<std::string> known;
    for (const Thing& x : all) known.push_back(x.name());
    std::fprintf(stderr, "wsl-ctl: there is no %s %s%s; %s\n", what, name.c_str(),
                 app::nearest_words(name, known).c_str(), more.c_str());
    status = 1;
  }
  return chosen;
}

int get(const options& o) {
  const std::string what = o.words.empty() ? "" : o.words.front();
  const bool jobs = what == "jobs" || what == "job", nodes = what == "nodes" || what == "node";
  if (!jobs && !nodes)
    throw std::invalid_argument("it is wsl-ctl get jobs [-a] [NAME...], or wsl-ctl get nodes [NAME...]" +
                                (what.empty() ? "" : ", not get " + what));
  const std::vector<std::string> names(o.words.begin() + 1, o.words.end());
  client c(o.where);
  int status = 0;
  std::string text;
  if (nodes) {
    pb::Nodes all = c.call(&stub::ListNodes, pb::Nothing());
    *all.mutable_nodes() = chosen_of(all.nodes(), names, "node", "`wsl-ctl get nodes` lists all", status);
    if (all.nodes_size() > 0 || status == 0) text = o.output == "json" ? json_of(all) : table_of(all);
  } else {
    pb::Jobs all = list_jobs(c, o.all || !names.empty());  // who names a job means it, ended or not
    *all.mutable_jobs() = chosen_of(all.jobs(), names, "job", "`wsl-ctl get jobs -a` lists all", status);
    if (all.jobs_size() > 0 || status == 0) text = o.output == "json" ? json_of(all) : table_of(all, now());
  }
  return print(text), status;
}

int describe(const options& o) {
  const auto name = names_of_jobs(o, 1, 1, "describe NAME").front();
  const pb::Description d = client(o.where).call(&stub::Describe, named(name));
  return print(o.output == "json" ? json_of(d) : text_of(d, now())), 0;
}

bool has_ended(const pb::Job& j) { return j.phase() != "QUEUED" && j.phase() != "RUNNING"; }

int cancel(const options& o) {
  client c(o.where);
  int status = 0;
  for (const std::string& name : names_of_jobs(o, 1, 1000, "cancel NAME...")) try {
      pb::Job j = c.call(&stub::Describe, named(name)).job();
      bool had_ended = has_ended(j);
      if (!had_ended) {
        pb::JobToCancel asked;
        asked.set_name(name), asked.set_user(cluster::name_of_user());
        j = c.call(&stub::Cancel, asked);
        had_ended = has_ended(j) && j.phase() != "CANCELLED";  // in between
      }
      if (had_ended)
        throw std::runtime_error(name + " had ended before, " + j.phase() + " on " +
                                 cluster::text_of_date(j.ended()) + ": there is nothing to cancel");
      std::printf("%s is %s\n", name.c_str(), has_ended(j) ? j.phase().c_str() : "told to stop");
    } catch (const std::exception& e) {  // the others are cancelled all the same
      std::fprintf(stderr, "wsl-ctl: %s\n", e.what()), status = 1;
    }
  return status;
}

int set_priority(const options& o) {
  const auto words = names_of_jobs(o, 2, 2, "set-priority NAME p0|p1|p2|p3|NUMBER");
  pb::PriorityOfJob asked;
  asked.set_name(words[0]), asked.set_priority(cluster::priority_of(words[1]));
  const pb::Job j = client(o.where).call(&stub::SetPriority, asked);
  return std::printf("%s has the priority %d\n", words[0].c_str(), j.priority()), 0;
}

/// Throws std::invalid_argument for a label that is named twice, of which one would be lost.
pb::LabelsOfJob labels_of(const std::vector<std::string>& words) {
  pb::LabelsOfJob asked;
  asked.set_name(words[0]);
  std::set<std::string> seen;
  for (std::size_t k = 1; k < words.size(); ++k) {
    const bool removes = words[k].ends_with("-") && words[k].find('=') == std::string::npos;
    const auto [key, value] = removes ? std::pair(words[k].substr(0, words[k].size() - 1), std::string())
                                      : cluster::label_of(words[k]);
    if (key.empty()) throw std::invalid_argument("- removes a label by its name, as in try-");
    if (!seen.insert(key).second)
      throw std::invalid_argument("the label " + key + " is given twice: a job has one value of each");
    if (removes) asked.add_remove(key);
    else (*asked.mutable_set())[key] = value;
  }
  return asked;
}

int label(const options& o) {
  const auto words = names_of_jobs(o, 2, 100, "label NAME key=value... key-...");
  const pb::LabelsOfJob asked = labels_of(words);
  client c(o.where);
  const pb::Job before = c.call(&stub::Describe, named(words[0])).job();
  const pb::Job after = c.call(&stub::SetLabels, asked);
  const std::string labels = cluster::labels_of(after);
  std::printf("%s has %s%s\n", words[0].c_str(), labels.empty() ? "no labels" : "the labels ",
              labels.c_str());
  int status = 0;
  for (const std::string& key : asked.remove()) {
    if (before.labels().contains(key)) continue;
    std::vector<std::string> known;
    for (const auto& [name, value] : before.labels()) known.push_back(name);
    std::sort(known.begin(), known.end());  // a map of protobuf has no order
    std::fprintf(stderr, "wsl-ctl: %s had no label %s to remove%s\n", words[0].c_str(), key.c_str(),
                 app::nearest_words(key, known).c_str());
    status = 1;
  }
  return status;
}

int logs(const options& o) {
  const auto name = names_of_jobs(o, 1, 1, "logs [-f] NAME").front();
  client c(o.where);
  if (o.follow) return cluster::follow(c, name);
  pb::LogAsked asked;
  asked.set_name(name);
  c.repeat([&](grpc::ClientContext& context) {
    const auto reader = c.direct().ReadLog(&context, asked);
    for (pb::LogPart part; reader->Read(&part);) {
      asked.set_offset(part.offset());
      std::fwrite(part.text().data(), 1, part.text().size(), stdout);
      if (part.has_job() && part.offset() == 0)
        std::fprintf(stderr, "wsl-ctl: %s is %s, and has printed nothing\n", name.c_str(),
                     part.job().phase().c_str());
    }
    return reader->Finish();
  });
  return 0;
}

/// Newer versions of csctl say `csctl job list` and `csctl job cancel NAME`: the words in the order of the older
/// ones, `get jobs` and `cancel NAME`.
std::vector<std::string> in_older_order(std::vector<std::string> words) {
  std::size_t k = 0;
  while (k < words.size() && words[k].starts_with("--"))
    k += std::size_t{1} + (words[k].find('=') == words[k].npos);
  if (k >= words.size() || (words[k] != "job" && words[k] != "jobs")) return words;
  const auto job = words.begin() + static_cast<std::ptrdiff_t>(k);
  if (k + 1 < words.size() && (job[1] == "list" || job[1] == "get")) job[0] = "get", job[1] = "jobs";
  else words.erase(job);
  return words;
}

int run(int argc, char** argv) {
  cluster::block_interrupts();
  ::setenv("GRPC_VERBOSITY", "NONE", 0);  // what it says of a failure is part of our sentence
  // What stands behind -- is the job's.
  char** const end =
      std::find_if(argv, argv + argc, [](const char* a) { return std::string_view(a) == "--"; });
  const std::vector<std::string> command(end == argv + argc ? end : end + 1, argv + argc);

  CLI::App app(
      "Submits jobs to a cluster that wsl-clusterd manages, shows and controls them.\n"
      "wsl-ctl submit --num_csx 2 -- wsl-gpt train --params my.yaml; wsl-ctl get jobs -a",
      "wsl-ctl");
  options o;
  app.add_option("--cluster", o.where.cluster, "the manager's address, or its state folder [WSL_CLUSTER]")
      ->type_name("HOST:PORT|FOLDER");
  app.add_option("--token", o.where.token_file, "a copy of the manager's token [WSL_CLUSTER_TOKEN]")
      ->type_name("FILE");
  app.add_option("--certificate", o.where.certificate_file,
                 "by which a manager on another computer is known [WSL_CLUSTER_CERTIFICATE]")
      ->type_name("FILE");
  app.add_option("--patience", o.where.patience_s,
                 "how many seconds it waits for a manager that does not answer [10]")
      ->check(app::whole_at_least(0))
      ->type_name("SECONDS");
  const auto add = [&](const char* name, const char* about) {
    CLI::App* c = app.add_subcommand(name, about);
    c->fallthrough()->allow_extras();
    return c;
  };
  CLI::App* s = add("submit", "put a job into the queue: submit [options] -- <program> <its arguments>");
  s->add_option("--job_labels", o.submit.labels, "labels of the job, name=value")
      ->type_name("NAME=VALUE")
      ->take_all();
  s->add_option("--job_priority", o.submit.priority, "p0 to p3, or a number from 0, the first, to 399 [p2]")
      ->type_name("PRIORITY");
  s->add_option("--job_time_sec", o.submit.time_s, "after so many seconds it is stopped")
      ->check(app::whole_at_least(1))
      ->type_name("SECONDS");
  s->add_option("--num_csx", o.submit.num_csx, "wafers [as the params say, or 1]")
      ->check(app::whole_at_least(1))
      ->type_name("INT");
  s->add_option("--cores", o.submit.cores, "cores of each wafer [the node's share]")
      ->check(app::whole_at_least(1))
      ->type_name("INT");
  s->add_option("--memory", o.submit.memory, "memory of each wafer, such as 8GB [the node's share]")
      ->type_name("SIZE");
  s->add_flag("-f,--follow", o.follow, "print the log until the job ends, and end with its status");
  CLI::App* g = add("get", "list the jobs or the nodes: get jobs [NAME...], get nodes [NAME...]");
  g->add_flag("-a,--all", o.all, "jobs that have ended, too");
  CLI::App* d = add("describe", "show a job and what has happened to it: describe NAME");
  for (CLI::App* c : {g, d})
    c->add_option("-o,--output", o.output, "table or json [table]")
        ->check(CLI::IsMember({"table", "json"}))
        ->type_name("FORM");
  add("cancel", "end jobs: cancel NAME...");
  add("set-priority", "move a job in the queue: set-priority NAME p0|p1|p2|p3|NUMBER");
  add("label", "label a job: label NAME key=value... key-...");
  CLI::App* l = add("logs", "print what a job has printed: logs [-f] NAME");
  l->add_flag("-f,--follow", o.follow, "until it ends, and end with its status");
  CLI::App* b = add("dashboard", "show the cluster on a page for browsers on this computer");
  b->add_option("--port", o.port, "of the page; 0 takes one that is free [8080]")
      ->check(CLI::Range(0, 65535))
      ->type_name("PORT");
  app.require_subcommand(0, 1)->allow_extras();
  app.set_version_flag("--version", "wsl-ctl " + app::version(), "print the version, and stop");

  std::vector<std::string> own = in_older_order({argv + std::min(1, argc), end});
  std::reverse(own.begin(), own.end());  // so CLI11 takes them
  try {
    app.parse(own);
    app::refuse_twice(app);
  } catch (const CLI::Success& e) { return app.exit(e); } catch (const std::exception& e) {
    throw std::invalid_argument(std::string(e.what()) + "; see --help");
  }
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    if (const auto extra = app.remaining(true); !extra.empty())
      app::refuse_word(app, extra.front(), "command");
    std::fputs(app.help().c_str(), stderr);
    return 1;
  }
  app::refuse_twice(*chosen.front());
  o.words = app.remaining(true);
  for (const std::string& w : o.words)
    if (w.starts_with("-") && w.find_first_not_of("0123456789", 1) != w.npos)  // -1 is a wrong priority
      app::refuse_word(app, w, "command");
  const std::string name = chosen.front()->get_name();
  if (name != "submit" && !command.empty()) throw std::invalid_argument("-- is for submit, not for " + name);
  if (name == "submit" && !o.words.empty())
    throw std::invalid_argument("the job's command stands behind --: wsl-ctl submit [options] -- " +
                                o.words.front() + " ...");
  if (name == "submit") return submit(o, command);
  if (name == "get") return get(o);
  if (name == "describe") return describe(o);
  if (name == "cancel") return cancel(o);
  if (name == "set-priority") return set_priority(o);
  if (name == "label") return label(o);
  if (name == "logs") return logs(o);
  return cluster::show_dashboard(o.where, o.port);
}

}  // namespace

int main(int argc, char** argv) {
  return app::run("wsl-ctl", [&] { return run(argc, argv); });
}
