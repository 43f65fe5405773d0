// SPDX-License-Identifier: MIT
// wsl-ctl submits jobs to a cluster, shows them, and controls them, as csctl does on a Cerebras cluster. See
// docs/guide/cluster.md.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "../command_line.hpp"
#include "client.hpp"
#include "dashboard.hpp"
#include "follow.hpp"
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

int get(const options& o) {
  const std::string what = o.words.empty() ? "" : o.words.front();
  const bool jobs = what == "jobs" || what == "job", nodes = what == "nodes" || what == "node";
  if (o.words.size() != 1 || (!jobs && !nodes))
    throw std::invalid_argument("it is wsl-ctl get jobs [-a], or wsl-ctl get nodes");
  client c(o.where);
  if (nodes) {
    const pb::Nodes all = c.call(&stub::ListNodes, pb::Nothing());
    return print(o.output == "json" ? json_of(all) : table_of(all)), 0;
  }
  pb::JobsAsked asked;
  asked.set_all(o.all);
  const pb::Jobs all = c.call(&stub::ListJobs, asked);
  return print(o.output == "json" ? json_of(all) : table_of(all, now())), 0;
}

int describe(const options& o) {
  const auto name = names_of_jobs(o, 1, 1, "describe NAME").front();
  const pb::Description d = client(o.where).call(&stub::Describe, named(name));
  return print(o.output == "json" ? json_of(d) : text_of(d, now())), 0;
}

int cancel(const options& o) {
  client c(o.where);
  int status = 0;
  for (const std::string& name : names_of_jobs(o, 1, 1000, "cancel NAME...")) try {
      const pb::Job j = c.call(&stub::Cancel, named(name));
      std::printf("%s is %s\n", name.c_str(), j.phase() == "RUNNING" ? "told to stop" : j.phase().c_str());
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

int label(const options& o) {
  const auto words = names_of_jobs(o, 2, 100, "label NAME key=value... key-...");
  pb::LabelsOfJob asked;
  asked.set_name(words[0]);
  for (std::size_t k = 1; k < words.size(); ++k) {
    if (words[k].ends_with("-") && words[k].find('=') == std::string::npos) {
      asked.add_remove(words[k].substr(0, words[k].size() - 1));
      continue;
    }
    const auto [key, value] = cluster::label_of(words[k]);
    (*asked.mutable_set())[key] = value;
  }
  client(o.where).call(&stub::SetLabels, asked);
  return std::printf("%s is labelled\n", words[0].c_str()), 0;
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
    }
    return reader->Finish();
  });
  return 0;
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
  CLI::App* g = add("get", "list the jobs or the nodes: get jobs, get nodes");
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

  const int own = static_cast<int>(end - argv);
  try {
    app.parse(own, argv);
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
