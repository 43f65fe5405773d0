// SPDX-License-Identifier: MIT
#include "client.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "../files.hpp"
#include "certificate.hpp"
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

/// Whether nobody has answered, and somebody may later.
bool is_silence(const grpc::Status& s) {
  return s.error_code() == grpc::StatusCode::UNAVAILABLE ||
         s.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
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
    if (::access(cluster.c_str(), X_OK) != 0)
      throw std::invalid_argument(
          cluster +
          " is a folder of another user's, closed to you: give --cluster HOST:PORT, the address in its "
          "file `address`, and --token with a copy of its file `token`");
    if (!fs::exists(fs::path(cluster) / "address"))
      throw std::invalid_argument(
          cluster + " is no state folder of a wsl-clusterd that runs: it has no file `address`");
    address_ = first_line(fs::path(cluster) / "address");
    if (token_file.empty()) token_file = (fs::path(cluster) / "token").string();
  } else {
    address_ = cluster;
    if (address_.find(':') == address_.npos)
      throw std::invalid_argument("there is no folder " + cluster + ", and an address has a port: HOST:PORT");
    const std::string port = address_.substr(address_.rfind(':') + 1);
    int number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc{} || end != port.data() + port.size() || number < 1 || number > 65535)
      throw std::invalid_argument("an address is HOST:PORT with a port from 1 to 65535, not " + address_);
    if (token_file.empty())
      throw std::invalid_argument(
          "--token or WSL_CLUSTER_TOKEN names a copy of the manager's token, the file `token` in its "
          "--state");
  }
  token_ = read_token(token_file);
  by_certificate_ = !certificate.empty();
  if (const std::string host = address_.substr(0, address_.rfind(':')); host == "0.0.0.0" || host == "[::]")
    throw std::invalid_argument(address_ + " stands for all addresses of this computer: give --cluster NAME" +
                                address_.substr(address_.rfind(':')) +
                                " with a name of the manager's certificate, --certificate and --token");
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  if (!certificate.empty()) {
    check_certificate_of(certificate, address_);
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
  // So long an attempt to connect may take, which is a matter of the way there and of the manager's load.
  how.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000 * std::clamp(where_.patience_s, 1, 60));
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
  if (is_silence(s))
    throw call_error(
        grpc::StatusCode::UNAVAILABLE,
        "no manager answers at " + address_ + " (" + s.error_message() + "): is wsl-clusterd running there" +
            (by_certificate_ ? ", with the certificate that --certificate names?" : ", and without TLS?"));
  throw call_error(s.error_code(), s.error_message());
}

void client::repeat(const std::function<grpc::Status(grpc::ClientContext&)>& f, bool takes_long) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(where_.patience_s);
  for (;;) {
    grpc::ClientContext context;
    prepare(context);
    if (where_.answers_at_once && !takes_long)
      context.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::seconds(std::max(1, where_.patience_s)));
    const grpc::Status s = f(context);
    if (s.ok()) return;
    if (!is_silence(s) || std::chrono::steady_clock::now() >= end) fail(s);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace cluster
