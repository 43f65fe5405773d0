// SPDX-License-Identifier: MIT
#include "follow.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "submitting.hpp"

namespace cluster {
namespace {

namespace pb = wsl::cluster;

sigset_t interrupts() {
  sigset_t all;
  sigemptyset(&all);
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&all, s);
  return all;
}

/// Waits for an interrupt, and ends the call at hand then.
class interruptible {
 public:
  interruptible() : thread_([this](std::stop_token stop) { wait(stop); }) {}

  bool was_interrupted() const { return signal_ != 0; }
  int signal() const { return signal_; }
  /// The call that ends with the interrupt.
  void set(grpc::ClientContext* c) {
    const std::lock_guard lock(mutex_);
    context_ = c;
    if (c && signal_ != 0) c->TryCancel();
  }

 private:
  void wait(std::stop_token stop) {
    const sigset_t all = interrupts();
    const timespec a_while{0, 100'000'000};
    while (!stop.stop_requested()) {
      const int s = sigtimedwait(&all, nullptr, &a_while);
      if (s <= 0) continue;
      const std::lock_guard lock(mutex_);
      signal_ = s;
      if (context_) context_->TryCancel();
      return;
    }
  }
  std::mutex mutex_;
  grpc::ClientContext* context_ = nullptr;
  std::atomic<int> signal_ = 0;
  std::jthread thread_;
};

bool user_wants_to_cancel(const std::string& job) {
  if (!::isatty(0) || !::isatty(2)) return false;
  // A second interrupt is an answer as well: no.
  const sigset_t all = interrupts();
  pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
  std::fprintf(stderr, "\n%s goes on without you. Cancel it? [y/N] ", job.c_str());
  const int answer = std::getchar();
  return answer == 'y' || answer == 'Y';
}

int status_of(const pb::Job& j) {
  if (j.phase() == "SUCCEEDED") return 0;
  return j.exit_status() != 0 ? j.exit_status() : 1;
}

}  // namespace

void block_interrupts() {
  const sigset_t all = interrupts();
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

int follow(client& c, const std::string& job) {
  interruptible here;
  pb::LogAsked asked;
  asked.set_name(job), asked.set_follow(true);
  std::optional<pb::Job> last;
  auto heard = std::chrono::steady_clock::now();
  bool said = false;
  while (!last && !here.was_interrupted()) {
    grpc::ClientContext context;
    c.prepare(context);
    here.set(&context);
    const auto reader = c.direct().ReadLog(&context, asked);
    for (pb::LogPart part; reader->Read(&part);) {
      heard = std::chrono::steady_clock::now(), said = false;
      asked.set_offset(part.offset());
      std::fwrite(part.text().data(), 1, part.text().size(), stdout);
      std::fflush(stdout);
      if (part.has_job()) last = part.job();
    }
    const grpc::Status s = reader->Finish();
    here.set(nullptr);
    if (last || here.was_interrupted()) break;
    const bool may_come_back = s.ok() || s.error_code() == grpc::StatusCode::UNAVAILABLE;
    // The job does not need the manager, so this waits longer than a command would.
    if (!may_come_back ||
        std::chrono::steady_clock::now() > heard + std::chrono::seconds(30 * c.patience_s()))
      c.fail(s);
    if (!said && std::chrono::steady_clock::now() > heard + std::chrono::seconds(c.patience_s())) {
      said = true;
      std::fprintf(
          stderr,
          "wsl-ctl: no manager answers at %s; the job goes on without it, and the log when it is back\n",
          c.address().c_str());
    }
    c.look_again();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  if (!last) {
    if (user_wants_to_cancel(job)) {
      pb::JobToCancel name;
      name.set_name(job), name.set_user(name_of_user());
      c.call(&client::stub::Cancel, name);
      std::fprintf(stderr, "wsl-ctl: %s is cancelled\n", job.c_str());
    } else {
      std::fprintf(
          stderr, "wsl-ctl: %s goes on: `wsl-ctl logs -f %s` follows it again, `wsl-ctl cancel %s` ends it\n",
          job.c_str(), job.c_str(), job.c_str());
    }
    return 128 + here.signal();
  }
  if (last->phase() != "SUCCEEDED")
    std::fprintf(stderr, "wsl-ctl: %s is %s; `wsl-ctl describe %s` says why\n", job.c_str(),
                 last->phase().c_str(), job.c_str());
  return status_of(*last);
}

}  // namespace cluster
