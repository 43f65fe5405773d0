// SPDX-License-Identifier: MIT
// The way from wsl-ctl to a manager.
#pragma once
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "cluster.grpc.pb.h"

namespace cluster {

/// Where the manager is: an address, HOST:PORT, or its state folder, which has the address and the token.
/// What is empty is taken from WSL_CLUSTER, WSL_CLUSTER_TOKEN and WSL_CLUSTER_CERTIFICATE.
struct manager_address {
  std::string cluster, token_file, certificate_file;
  int patience_s = 10;  ///< how long it is waited for a manager that does not answer
  /// A manager that is silent for so long during a call does not answer either.
  bool answers_at_once = false;
};

/// What the manager has answered, or that it does not answer.
class call_error : public std::runtime_error {
 public:
  call_error(grpc::StatusCode c, const std::string& what) : std::runtime_error(what), code(c) {}
  grpc::StatusCode code;
};

class client {
 public:
  /// Throws std::invalid_argument or std::runtime_error if the address or the token cannot be used.
  explicit client(manager_address where);

  using stub = wsl::cluster::Cluster::Stub;
  /// Calls the manager, and again while it does not answer: all calls may be repeated. Throws call_error.
  template <class Answer, class Asked>
  Answer call(grpc::Status (stub::*f)(grpc::ClientContext*, const Asked&, Answer*), const Asked& asked) {
    Answer answer;
    repeat([&](grpc::ClientContext& context) { return ((*stub_).*f)(&context, asked, &answer); });
    return answer;
  }
  /// Calls f(context) until it answers. f may also leave its result elsewhere. What takes long has no
  /// deadline.
  void repeat(const std::function<grpc::Status(grpc::ClientContext&)>& f, bool takes_long = false);

  /// Connects anew if the state folder names another address by now, as that of a manager which was started
  /// again.
  void look_again();

  stub& direct() { return *stub_; }
  void prepare(grpc::ClientContext& context) const;
  int patience_s() const { return where_.patience_s; }
  const std::string& address() const { return address_; }
  [[noreturn]] void fail(const grpc::Status& s) const;

 private:
  void connect();

  manager_address where_;
  std::string address_, token_;
  bool by_certificate_ = false;
  std::unique_ptr<stub> stub_;
};

}  // namespace cluster
