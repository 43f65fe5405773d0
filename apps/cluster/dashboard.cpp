// SPDX-License-Identifier: MIT
#include "dashboard.hpp"

#include <httplib.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "curves.hpp"
#include "dashboard_files.hpp"
#include "tables.hpp"

namespace cluster {
namespace {

namespace pb = wsl::cluster;
using nlohmann::json;

constexpr long long most_of_log = 4 << 20;

/// All of a file of a run, or its first 64 MiB; none if it is not there.
std::optional<std::string> file_of(client& c, const std::string& job, pb::RunFileAsked::File which) {
  pb::RunFileAsked asked;
  asked.set_name(job), asked.set_file(which);
  std::string text;
  for (;;) {
    const pb::RunFile part = c.call(&client::stub::ReadRunFile, asked);
    if (!part.exists()) return {};
    text += part.part();
    if (part.part().empty() || static_cast<long long>(text.size()) >= part.size() || text.size() >= 64u << 20)
      return text;
    asked.set_offset(static_cast<long long>(text.size()));
  }
}

/// The end of a job's log.
std::string log_of(client& c, const std::string& job) {
  pb::LogAsked asked;
  asked.set_name(job);
  std::string text;
  c.repeat(
      [&](grpc::ClientContext& context) {
        text.clear();
        const auto reader = c.direct().ReadLog(&context, asked);
        for (pb::LogPart part; reader->Read(&part);) {
          text += part.text();
          if (text.size() > 2 * most_of_log) text.erase(0, text.size() - most_of_log);
        }
        return reader->Finish();
      },
      true);
  return text;
}

json points(const std::vector<curve_point>& all) {
  json list = json::array();
  for (const curve_point& p : thinned(all, 600)) list.push_back({p.step, p.value});
  return list;
}

/// Bytes of a program, of which some may be no UTF-8.
std::string text_of(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string state_of(client& c) {
  pb::JobsAsked asked;
  asked.set_all(true);
  return text_of({{"address", c.address()},
                  {"jobs", json::parse(json_of(c.call(&client::stub::ListJobs, asked)))["jobs"]},
                  {"nodes", json::parse(json_of(c.call(&client::stub::ListNodes, pb::Nothing())))["nodes"]}});
}

std::string details_of(client& c, const std::string& name) {
  pb::JobName asked;
  asked.set_name(name);
  json j = json::parse(json_of(c.call(&client::stub::Describe, asked)));
  const std::string log = log_of(c, name);
  run_curves curves;
  if (const auto csv = file_of(c, name, pb::RunFileAsked::LOSS)) read_losses(*csv, curves);
  read_rates(log, curves);
  j["train"] = points(curves.train), j["eval"] = points(curves.eval), j["rate"] = points(curves.rate);
  j["profile"] = profile_in(log);
  j["log"] = log.size() > 6000 ? log.substr(log.size() - 6000) : log;
  const auto performance = file_of(c, name, pb::RunFileAsked::PERFORMANCE);
  j["performance"] = performance ? json::parse(*performance, nullptr, false) : json();
  if (j["performance"].is_discarded()) j["performance"] = json();
  j["has_trace"] = file_of(c, name, pb::RunFileAsked::TRACE).has_value();
  j["has_layout"] = file_of(c, name, pb::RunFileAsked::LAYOUT).has_value();
  return text_of(j);
}

/// Whether a browser asks for this computer by a name of its own: pages of others cannot.
bool asks_for_this_computer(const httplib::Request& r) {
  std::string host = r.get_header_value("Host");
  host = host.substr(0, host.rfind(':'));
  return host == "localhost" || host == "127.0.0.1";
}

void serve(httplib::Server& server, client& c) {
  server.set_pre_routing_handler([](const httplib::Request& r, httplib::Response& to) {
    to.set_header("Content-Security-Policy",
                  "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'");
    to.set_header("X-Content-Type-Options", "nosniff");
    to.set_header("Cache-Control", "no-store");
    if (asks_for_this_computer(r)) return httplib::Server::HandlerResponse::Unhandled;
    to.status = 403;
    to.set_content("The dashboard answers to localhost and 127.0.0.1 alone.\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });
  server.set_error_handler([](const httplib::Request& r, httplib::Response& to) {
    if (to.status == 404 && to.body.empty())
      to.set_content("There is no " + r.path + " here, or not yet: the dashboard begins at /\n",
                     "text/plain");
  });
  for (const dashboard_file& file : dashboard_files)
    server.Get(file.path, [&file](const httplib::Request&, httplib::Response& to) {
      to.set_content(file.text, file.type);
    });
  const auto answer = [&server](const char* path, const char* type, auto f) {
    server.Get(path, [=](const httplib::Request& r, httplib::Response& to) {
      try {
        const std::optional<std::string> text = f(r);
        if (text) to.set_content(*text, type);
        else to.status = 404;
      } catch (const call_error& e) {
        to.status = e.code == grpc::StatusCode::UNAVAILABLE ? 503 : 404;
        to.set_content(text_of({{"error", e.what()}}), "application/json");
      } catch (const std::exception& e) {
        to.status = 500;
        to.set_content(text_of({{"error", e.what()}}), "application/json");
      }
    });
  };
  using asked = const httplib::Request&;
  using text = std::optional<std::string>;
  answer("/state.json", "application/json", [&c](asked) -> text { return state_of(c); });
  answer(R"(/jobs/(wsjob-\d+)\.json)", "application/json",
         [&c](asked r) -> text { return details_of(c, r.matches[1]); });
  answer(R"(/jobs/(wsjob-\d+)/chrome_trace\.json)", "application/json",
         [&c](asked r) { return file_of(c, r.matches[1], pb::RunFileAsked::TRACE); });
  answer(R"(/jobs/(wsjob-\d+)/loss\.csv)", "text/csv",
         [&c](asked r) { return file_of(c, r.matches[1], pb::RunFileAsked::LOSS); });
  answer(R"(/jobs/(wsjob-\d+)/layout\.svg)", "image/svg+xml",
         [&c](asked r) { return file_of(c, r.matches[1], pb::RunFileAsked::LAYOUT); });
}

}  // namespace

int show_dashboard(const manager_address& where, int port) {
  manager_address of = where;
  // The page says that nobody answers, and asks again.
  of.patience_s = std::min(of.patience_s, 2), of.answers_at_once = true;
  client c(of);
  c.call(&client::stub::ListNodes, pb::Nothing());
  httplib::Server server;
  serve(server, c);
  server.set_socket_options([](auto) {});  // no other program shares the port
  const int bound = port == 0                                ? server.bind_to_any_port("127.0.0.1")
                    : server.bind_to_port("127.0.0.1", port) ? port
                                                             : -1;
  if (bound < 0)
    throw std::runtime_error("cannot listen on port " + std::to_string(port) +
                             ": is it in use? --port names another");
  std::printf("wsl-ctl: the dashboard is at http://127.0.0.1:%d/ until this command is interrupted\n", bound);
  std::fflush(stdout);
  std::jthread waits([&server] {
    sigset_t all;
    sigemptyset(&all);
    for (const int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&all, s);
    int which = 0;
    sigwait(&all, &which);
    server.stop();
  });
  server.listen_after_bind();
  ::kill(::getpid(), SIGTERM);  // if it has ended by itself, the thread waits no more
  return 0;
}

}  // namespace cluster
