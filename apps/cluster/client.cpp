// SPDX-License-Identifier: MIT
#include "client.hpp"

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "../files.hpp"
#include "token.hpp"

namespace cluster {
namespace {

std::string given_or(const std::string& given, const char* variable) {
  const char* value = std::getenv(variable);
  return !given.empty() || !value ? given : value;
}

std::string first_line(const std::filesystem::path& file) {
  const std::string text = app::read_file(file);
  return text.substr(0, text.find('\n'));
}

}  // namespace

client::client(manager_address where) : where_(std::move(where)) { connect(); }

void client::look_again() {
  const std::filesystem::path file =
      std::filesystem::path(given_or(where_.cluster, "WSL_CLUSTER")) / "address";
  std::error_code none;
  if (std::filesystem::exists(file, none) && first_line(file) != address_) connect();
}

void client::connect() {
  namespace fs = std::filesystem;
  const std::string cluster = given_or(where_.cluster, "WSL_CLUSTER");
  std::string token_file = given_or(where_.token_file, "WSL_CLUSTER_TOKEN");
  const std::string certificate = given_or(where_.certificate_file, "WSL_CLUSTER_CERTIFICATE");
  if (cluster.empty())
    throw std::invalid_argument(
        "which cluster? --cluster or WSL_CLUSTER names it: HOST:PORT, or the --state folder of its "
        "wsl-clusterd on this computer");
  if (fs::is_directory(cluster)) {
    if (!fs::exists(fs::path(cluster) / "address"))
      throw std::invalid_argument(
          cluster + " is no state folder of a wsl-clusterd that runs: it has no file `address`");
    address_ = first_line(fs::path(cluster) / "address");
    if (token_file.empty()) token_file = (fs::path(cluster) / "token").string();
  } else {
    address_ = cluster;
    if (address_.find(':') == address_.npos)
      throw std::invalid_argument("there is no folder " + cluster + ", and an address has a port: HOST:PORT");
    if (token_file.empty())
      throw std::invalid_argument(
          "--token or WSL_CLUSTER_TOKEN names a copy of the manager's token, the file `token` in its "
          "--state");
  }
  token_ = read_token(token_file);
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  if (!certificate.empty()) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = app::read_file(certificate);
    credentials = grpc::SslCredentials(tls);
  } else if (is_loopback(address_)) {
    credentials = grpc::InsecureChannelCredentials();
  } else {
    throw std::invalid_argument(
        address_ +
        " is on another computer: --certificate or WSL_CLUSTER_CERTIFICATE names the certificate "
        "by which it is known, for the token is told to nobody else");
  }
  grpc::ChannelArguments how;
  how.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  how.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  how.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  // Who follows a log for days notices when the way to the manager is cut.
  how.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30000);
  how.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20000);
  how.SetMaxReceiveMessageSize(64 << 20);
  stub_ = wsl::cluster::Cluster::NewStub(grpc::CreateCustomChannel(address_, credentials, how));
}

void client::prepare(grpc::ClientContext& context) const {
  context.AddMetadata(token_key, token_before + token_);
}

void client::fail(const grpc::Status& s) const {
  if (s.error_code() == grpc::StatusCode::UNAVAILABLE)
    throw call_error(s.error_code(), "no manager answers at " + address_ + " (" + s.error_message() +
                                         "): is wsl-clusterd running there?");
  throw call_error(s.error_code(), s.error_message());
}

void client::repeat(const std::function<grpc::Status(grpc::ClientContext&)>& f) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(where_.patience_s);
  for (;;) {
    grpc::ClientContext context;
    prepare(context);
    const grpc::Status s = f(context);
    if (s.ok()) return;
    const bool may_come_back = s.error_code() == grpc::StatusCode::UNAVAILABLE;
    if (!may_come_back || std::chrono::steady_clock::now() >= end) fail(s);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace cluster
