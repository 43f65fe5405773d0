// SPDX-License-Identifier: MIT
// The manager's service over gRPC. Each call brings the token; each error is one sentence.
#pragma once
#include <atomic>
#include <string>

#include "cluster.grpc.pb.h"
#include "manager.hpp"

namespace cluster {

class service final : public wsl::cluster::Cluster::Service {
 public:
  service(manager& m, std::string token) : manager_(m), token_(std::move(token)) {}

  /// Ends calls that wait, such as those that follow a log.
  void close() { closed_ = true; }

  using context = grpc::ServerContext;
  using status = grpc::Status;
  status Submit(context*, const wsl::cluster::Submission*, wsl::cluster::Job*) override;
  status ListJobs(context*, const wsl::cluster::JobsAsked*, wsl::cluster::Jobs*) override;
  status ListNodes(context*, const wsl::cluster::Nothing*, wsl::cluster::Nodes*) override;
  status Describe(context*, const wsl::cluster::JobName*, wsl::cluster::Description*) override;
  status Cancel(context*, const wsl::cluster::JobToCancel*, wsl::cluster::Job*) override;
  status SetPriority(context*, const wsl::cluster::PriorityOfJob*, wsl::cluster::Job*) override;
  status SetLabels(context*, const wsl::cluster::LabelsOfJob*, wsl::cluster::Job*) override;
  status ReadLog(context*, const wsl::cluster::LogAsked*,
                 grpc::ServerWriter<wsl::cluster::LogPart>*) override;
  status ReadRunFile(context*, const wsl::cluster::RunFileAsked*, wsl::cluster::RunFile*) override;

 private:
  template <class F>
  status answer(const context& from, F f);
  wsl::cluster::Job message_of(const job& j) const;
  i64 id_of(const std::string& name) const;

  manager& manager_;
  std::string token_;
  std::atomic<bool> closed_ = false;
  std::atomic<int> followers_ = 0;
};

}  // namespace cluster
