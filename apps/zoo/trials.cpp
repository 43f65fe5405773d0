// SPDX-License-Identifier: MIT
#include "trials.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <wsl/ml/run/loss_curve.hpp>

#include "../files.hpp"

namespace zoo_app {
namespace {

namespace fs = std::filesystem;
namespace ml = wsl::ml;
using wsl::i64;

/// The last line of a text that says something.
std::string last_line(const std::string& text) {
  std::string last;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    if (end > from) last = text.substr(from, end - from);
    from = end + 1;
  }
  return last;
}

volatile pid_t child_now = 0;
volatile std::sig_atomic_t stopped_by = 0;
/// A signal that stops this process stops the run, too, which writes a checkpoint before it ends.
extern "C" void stop_child(int signal) {
  stopped_by = signal;
  if (child_now > 0) ::kill(child_now, SIGTERM);
}

/// Runs a command with both of its outputs in a file. Returns its exit status, 128 plus the number of a
/// signal that ended it. It is asked to stop if this process is, or ends. Throws std::runtime_error if a
/// signal has come, when the command has ended.
int run_command(const std::vector<std::string>& words, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::fflush(stdout);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, stop_child);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0)
    throw std::runtime_error(fmt::format("cannot start {}: {}", words.front(), std::strerror(errno)));
  if (child == 0) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
    ::setpgid(0, 0);  // a terminal's signals come by this process alone
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file < 0 || ::dup2(file, 1) < 0 || ::dup2(file, 2) < 0) ::_exit(127);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);  // it has ended already
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  child_now = child;
  if (stopped_by) ::kill(child, SIGTERM);  // it has come before there was a child to stop
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw std::runtime_error(fmt::format("cannot wait for {}: {}", words.front(), std::strerror(errno)));
  child_now = 0;
  if (stopped_by)
    throw std::runtime_error(
        fmt::format("stopped by {}: the same command goes on", ::strsignal(static_cast<int>(stopped_by))));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A word of a shell.
std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The file of the params that all runs of a folder have, but for what differs.
constexpr const char* name_of_params = "all_runs.yaml";

std::string program_path() { return fs::read_symlink("/proc/self/exe").string(); }

}  // namespace

void declare_grid(train_app::fields& f, grid_options& g) {
  f.options_of("grid");
  f.add("widths", g.widths,
        "of coord_check and sweep: values of hidden_size, such as 64,128,256; heads keep their features, and "
        "filter_size its ratio; null: of coord_check 64,128,256,512, of sweep that of the model");
  f.add("check_steps", g.check_steps, "of coord_check: steps of training").at_least(1).at_most(1000);
  f.add("learning_rates", g.learning_rates,
        "of sweep: the largest learning rate of each run, such as 1e-3,2e-3,4e-3: the schedule of the params "
        "times a "
        "factor; null: that of the params");
  f.add("seeds", g.seeds,
        "of sweep: values of seed and shuffle_seed, such as 1,2,3; null: those of the params");
  f.add("sizes", g.sizes,
        "of scaling: the ladder of models, hidden_size x num_hidden_layers, such as 32x2,48x3,64x4,96x6; the "
        "last is "
        "predicted from the others");
  f.add("tokens_per_parameter", g.tokens_per_parameter,
        "of scaling: tokens that a model trains on for each parameter")
      .above(0)
      .at_most(1e6);
  f.add("how", g.how,
        "of sweep and scaling: local: the runs one after the other; slurm: write a job array for sbatch, and "
        "run "
        "nothing; table: the results of the runs that have ended")
      .one_of({"local", "slurm", "table"});
}

std::vector<f64> numbers_of(const train_app::word_list& list, const std::string& option, bool whole) {
  std::vector<f64> all;
  for (const std::string& word : list.words) {
    f64 x = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
    const bool fits = error == std::errc{} && end == word.data() + word.size() && std::isfinite(x) &&
                      (whole ? x >= 0 && x == std::floor(x) && x < 1e9 : x > 0);
    if (!fits)
      throw std::invalid_argument(fmt::format("--{} has '{}': it is a list of {}, with commas between them",
                                              option, word,
                                              whole ? "whole numbers of at least 0" : "numbers above 0"));
    all.push_back(x);
  }
  std::sort(all.begin(), all.end());
  if (const auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end())
    throw std::invalid_argument(fmt::format("--{} has {} twice: leave one of them out", option, *twice));
  return all;
}

trials::trials(std::string folder, std::string params, std::vector<trial> all)
    : folder_(std::move(folder)), params_(std::move(params)), all_(std::move(all)) {
  const auto require_same = [&](const std::string& path, const std::string& wanted, const char* what) {
    if (fs::exists(path) && app::read_file(path) != wanted)
      throw std::invalid_argument(
          fmt::format("{} has other params than this command gives {}: give the options with which the "
                      "folder was begun, or "
                      "another --model_dir",
                      path, what));
  };
  require_same(file(name_of_params), params_, "its runs");
  for (const trial& t : all_) require_same(file(t.name + ".yaml"), t.params, "the run");
}

std::optional<f64> trials::loss(std::size_t k) const {
  const trial& t = all_[k];
  if (fs::exists(file(t.name + ".diverged"))) return diverged;
  const std::string path = file(t.name) + "/loss.csv";
  if (!fs::exists(path)) return {};
  const ml::loss_curve curve = ml::loss_curve::from_csv(app::read_file(path));
  std::optional<f64> last;
  for (const auto& p : curve.points())
    if (p.evaluated && p.step >= t.steps) last = p.loss;
  return last;
}

void trials::run_here(std::size_t k) const {
  const std::string &name = all_[k].name, log = file(name + ".log");
  const int status =
      run_command({program_path(), "fit", "--params", file(name + ".yaml"), "--model_dir", file(name)}, log);
  if (status == 0 && loss(k)) return;
  const std::string said = last_line(app::read_file(log));
  if (status == 1 && (said.find(" is NaN") != said.npos || said.find(" is infinite") != said.npos ||
                      said.find(" is not finite") != said.npos))
    return app::write_file(file(name + ".diverged"), said + "\n");
  throw std::runtime_error(fmt::format(
      "the run {} ended with status {}: {}: see {}; the same command goes on", name, status, said, log));
}

void trials::write_job_array(const std::string& command) const {
  std::string names;
  for (const trial& t : all_) names += t.name + "\n";
  app::write_file(file("trials.txt"), names);
  const std::string folder = fs::absolute(folder_).lexically_normal().string();
  app::write_file(
      file("trials.sbatch"),
      fmt::format(
          "#!/usr/bin/env bash\n"
          "#SBATCH --job-name=wsl-trials --array=0-{}\n"
          "#SBATCH --ntasks=1 --cpus-per-task=2 --time=24:00:00\n"
          "#SBATCH --output=%x-%A_%a.out --open-mode=append\n"
          "#SBATCH --requeue --signal=B:USR1@120\n"
          "# The runs of {}, a task each. Two minutes before its time is over a run writes a checkpoint, and "
          "its task "
          "goes\n# into the queue again. When all have ended, `{} --how table` prints their results.\n"
          "set -euo pipefail\n"
          "folder={}\n"
          "name=$(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" \"$folder/trials.txt\")\n"
          "{} fit --params \"$folder/$name.yaml\" --model_dir \"$folder/$name\" >>\"$folder/$name.log\" 2>&1 "
          "&\n"
          "run=$!\n"
          "again=\n"
          "stop() {{\n"
          "  again=yes\n"
          "  kill -TERM $run\n"
          "}}\n"
          "trap stop USR1\n"
          "status=0\n"
          "wait $run || status=$?\n"
          "if [[ $again ]]; then\n"
          "  wait $run || true  # the first wait ended with the signal\n"
          "  exec scontrol requeue \"${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID\"\n"
          "fi\n"
          "# A loss that is not finite is a result, too.\n"
          "if [[ $status == 1 ]] && tail -n 1 \"$folder/$name.log\" | grep -Eq ' is (NaN|infinite|not "
          "finite)'; then\n"
          "  tail -n 1 \"$folder/$name.log\" >\"$folder/$name.unfinished\"\n"
          "  mv \"$folder/$name.unfinished\" \"$folder/$name.diverged\"\n"
          "  status=0\n"
          "fi\n"
          "exit $status\n",
          all_.size() - 1, folder, command, quoted(folder), quoted(program_path())));
  std::printf("%zu runs: sbatch %s; when all have ended, %s --how table prints their results\n", all_.size(),
              file("trials.sbatch").c_str(), command.c_str());
}

bool trials::run(const std::string& how, const std::string& command) {
  const auto ended = [&] {
    std::size_t n = 0;
    for (std::size_t k = 0; k < all_.size(); ++k) n += loss(k).has_value();
    return n;
  };
  if (how != "table") {
    app::make_folder(folder_);
    app::write_file(file(name_of_params), params_);
    for (const trial& t : all_) app::write_file(file(t.name + ".yaml"), t.params);
  }
  if (how == "slurm") return write_job_array(command), false;
  if (how == "local")
    for (std::size_t k = 0; k < all_.size(); ++k) {
      if (!loss(k)) run_here(k);
      std::printf("%zu of %zu: %s: %s\n", k + 1, all_.size(), all_[k].name.c_str(),
                  *loss(k) == diverged ? "diverged" : fmt::format("held-out loss {:.5f}", *loss(k)).c_str());
      std::fflush(stdout);
    }
  const std::size_t n = ended();
  if (n < all_.size())
    std::printf("%zu of %zu runs have ended; the same command with --how local, or sbatch, goes on\n", n,
                all_.size());
  return n == all_.size();
}

void require_grid_of_runs(train_app::fields& f, const options& o, const std::string& mode) {
  for (const train_app::field& x : f.all())
    if (!x.is_kept && !x.given.empty() && x.section != "grid")
      throw std::invalid_argument(fmt::format(
          "{}: {} begins its runs anew, and this option is of a command that trains one: leave it out",
          x.given, mode));
  if (!o.common.run.checkpoint_path.empty())
    throw std::invalid_argument(
        fmt::format("runconfig.checkpoint_path: {} begins its runs with random weights: leave it out", mode));
  if (o.lora.are_given() || !o.train.chosen_key.empty())
    throw std::invalid_argument(
        fmt::format("{} trains language models from their beginning: leave adapters (lora) and preferences "
                    "(chosen_key) out",
                    mode));
  if (train_app::ranks::size() > 1)
    throw std::invalid_argument(mode + " is the work of one process: start it without mpirun");
}

void require_any_width(const options& o, const std::string& mode) {
  constexpr const char* instead =
      "give mup_base_hidden_size and mup_base_filter_size in its place, from which each width has its own";
  if (!o.common.optimizer.adjust_learning_rate.empty())
    throw std::invalid_argument(fmt::format(
        "optimizer.adjust_learning_rate has factors of one width, and {} trains several: {}", mode, instead));
  if (o.model.logits_scale != 1)
    throw std::invalid_argument(fmt::format(
        "model.output_logits_scale is a factor of one width, and {} trains several: {}", mode, instead));
}

f64 peak_rate(const train_app::optimizer_params& p, i64 steps) {
  const ml::rate::schedule rate = p.rate();
  f64 peak = 0;
  for (i64 t = 0; t < steps; ++t) peak = std::max(peak, rate(t));
  if (!(peak > 0))
    throw std::invalid_argument("optimizer.learning_rate is 0 in all steps of the run: give a larger one");
  return peak;
}

void scale_rates(train_app::rate_parts& all, f64 by) {
  for (train_app::rate_part& p : all) {
    for (f64* x : {&p.learning_rate, &p.initial_learning_rate, &p.end_learning_rate, &p.base_lr, &p.max_lr,
                   &p.eta_min})
      *x *= by;
    for (f64& x : p.learning_rates) x *= by;
  }
}

void stretch(train_app::rate_parts& all, i64 steps, i64 to) {
  for (train_app::rate_part& p : all) {
    if (p.scheduler == "Constant" && p.total_iters == 0) continue;
    if (p.total_iters == 0)
      throw std::invalid_argument(
          fmt::format("optimizer.learning_rate: the scheduler {} is not stretched to runs of other lengths: "
                      "take those with "
                      "total_iters, such as Linear and CosineDecay",
                      p.scheduler));
    p.total_iters = std::max<i64>(
        1, std::llround(static_cast<f64>(p.total_iters) * static_cast<f64>(to) / static_cast<f64>(steps)));
  }
}

gpt_app::model_params at_width(const gpt_app::model_params& m, int width) {
  const int was = m.hidden_size;
  const auto scaled = [&](const char* field, int value) {
    if (i64{value} * width % was || i64{value} * width / was < 1)
      throw std::invalid_argument(
          fmt::format("a width of {} is {} / {} of that of the model, and model.{} {} times that is no whole "
                      "number: take multiples "
                      "of {}",
                      width, width, was, field, value, m.head_dim ? m.head_dim : was / std::max(1, m.heads)));
    return static_cast<int>(i64{value} * width / was);
  };
  gpt_app::model_params at = m;
  if (was < 1 || m.heads < 1) throw std::invalid_argument("model.hidden_size and num_heads are needed");
  at.hidden_size = width, at.heads = scaled("num_heads", m.heads);
  if (m.kv_groups > 1) at.kv_groups = scaled("num_kv_groups", m.kv_groups);
  at.filter_size = scaled("filter_size", m.filter_size ? m.filter_size : 4 * was);
  return at;
}

gpt_app::model_params with_mup_from(const gpt_app::model_params& m, int base_width) {
  gpt_app::model_params of = m;
  if (m.mup.is_given()) return of;
  of.mup.base_hidden_size = base_width;
  of.mup.base_filter_size =
      static_cast<f64>(m.filter_size ? m.filter_size : 4 * m.hidden_size) * base_width / m.hidden_size;
  of.scale_by_d = m.attention_scale == 0;
  return of;
}

gpt_app::model_params without_mup(const gpt_app::model_params& m) {
  gpt_app::model_params of = m;
  if (!m.mup.is_given()) return of;
  // Of a model that is its own base the factors of the widths are 1, and all others are those of the base.
  of.mup.base_hidden_size = m.hidden_size;
  of.mup.base_filter_size = m.filter_size ? m.filter_size : 4 * m.hidden_size;
  return of;
}

}  // namespace zoo_app
