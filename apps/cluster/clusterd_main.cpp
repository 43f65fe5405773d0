// SPDX-License-Identifier: MIT
// wsl-clusterd manages a cluster: it takes jobs from wsl-ctl, and runs them on the nodes of a cluster file.
// See docs/guide/cluster.md.
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <wsl/support/text.hpp>

#include "../command_line.hpp"
#include "../files.hpp"
#include "certificate.hpp"
#include "service.hpp"
#include "token.hpp"

namespace {

struct options {
  std::string cluster, state, listen = "127.0.0.1:7373", certificate, key;
};

/// Throws std::invalid_argument for what is no host and port.
void require_address(const std::string& listen) {
  const std::string port = listen.substr(listen.rfind(':') + 1);
  int number = -1;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (listen.find(':') == listen.npos || error != std::errc{} || end != port.data() + port.size() ||
      number < 0 || number > 65535)
    throw std::invalid_argument(
        "--listen is HOST:PORT with a port from 0 to 65535, such as 127.0.0.1:7373, not " + listen);
}

/// Throws std::runtime_error with the reason if no program can listen there.
void require_free(const std::string& listen) {
  std::string host = listen.substr(0, listen.rfind(':'));
  if (host.starts_with("[") && host.ends_with("]")) host = host.substr(1, host.size() - 2);
  addrinfo how{}, *found = nullptr;
  how.ai_socktype = SOCK_STREAM, how.ai_flags = AI_PASSIVE;
  if (const int error =
          ::getaddrinfo(host.c_str(), listen.substr(listen.rfind(':') + 1).c_str(), &how, &found))
    throw std::runtime_error("cannot listen on " + listen + ": " + ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  const int s = ::socket(found->ai_family, found->ai_socktype, found->ai_protocol), yes = 1;
  ::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool is_free = s >= 0 && ::bind(s, found->ai_addr, found->ai_addrlen) == 0 && ::listen(s, 1) == 0;
  const int why = errno;
  if (s >= 0) ::close(s);
  if (!is_free)
    throw std::runtime_error("cannot listen on " + listen + ": " + std::strerror(why) +
                             (why == EADDRINUSE ? "; give --listen with another port" : ""));
}

std::shared_ptr<grpc::ServerCredentials> credentials_of(const options& o) {
  require_address(o.listen);
  if (o.certificate.empty() != o.key.empty())
    throw std::invalid_argument("--certificate and --key belong together: give both or none");
  if (!o.certificate.empty()) {
    cluster::check_own_certificate(o.certificate, o.key);
    grpc::SslServerCredentialsOptions tls;
    tls.pem_key_cert_pairs.push_back({app::read_file(o.key), app::read_file(o.certificate)});
    return grpc::SslServerCredentials(tls);
  }
  if (!cluster::is_loopback(o.listen))
    throw std::invalid_argument(
        "--listen " + o.listen +
        " can be reached from other computers: give --certificate and --key, so that the token and the "
        "jobs are not to be read on the way, or listen on 127.0.0.1");
  return grpc::InsecureServerCredentials();
}

int run(int argc, char** argv) {
  CLI::App app("Manages the jobs of a cluster of wafers. wsl-ctl submits jobs and shows them.",
               "wsl-clusterd");
  options o;
  app.add_option("--cluster", o.cluster, "the cluster file")->type_name("FILE")->required();
  app.add_option("--state", o.state, "a folder for the manager's own files: jobs.sqlite, token, address")
      ->type_name("FOLDER")
      ->required();
  app.add_option("--listen", o.listen, "where it listens; port 0 takes one that is free [" + o.listen + "]")
      ->type_name("HOST:PORT");
  app.add_option("--certificate", o.certificate, "of TLS, needed beyond this computer (PEM)")
      ->type_name("FILE");
  app.add_option("--key", o.key, "the key of the certificate (PEM)")->type_name("FILE");
  app.allow_extras();
  int status = 0;
  if (!app::parse(app, argc, argv, "command", status)) return status;

  // The threads of the server leave these signals to this one.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int s : {SIGTERM, SIGINT}) sigaddset(&signals, s);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);

  // What can be wrong is said here in a sentence; the library would write lines of its own before it.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  const auto credentials = credentials_of(o);
  require_free(o.listen);
  cluster::manager manager(cluster::read_cluster(std::filesystem::path(o.cluster)), o.state);
  cluster::service service(manager, cluster::token_of(std::filesystem::path(o.state) / "token"));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(o.listen, credentials, &port);
  builder.RegisterService(&service);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two managers do not share a port
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10000);
  builder.SetMaxReceiveMessageSize(2 << 20);
  grpc::ResourceQuota quota;
  quota.SetMaxThreads(200);
  builder.SetResourceQuota(quota);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server || port == 0) throw std::runtime_error("cannot listen on " + o.listen);
  manager.begin_work();
  const std::string address = o.listen.substr(0, o.listen.rfind(':') + 1) + std::to_string(port);
  app::write_file(std::filesystem::path(o.state) / "address", address + "\n");
  std::printf("wsl-clusterd: %s; listening on %s; the token is in %s\n",
              wsl::support::counted(manager.cluster().nodes.size(), "node").c_str(), address.c_str(),
              (std::filesystem::path(o.state) / "token").c_str());
  std::fflush(stdout);
  int which = 0;
  sigwait(&signals, &which);
  service.close();
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
  std::printf("wsl-clusterd: stopped; jobs that run go on, and are found again by the next wsl-clusterd\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return app::run("wsl-clusterd", [&] { return run(argc, argv); });
}
