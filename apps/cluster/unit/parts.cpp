// SPDX-License-Identifier: MIT
// The names of jobs, the commands that start them, what their files say, and the store.
#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "../curves.hpp"
#include "../launch.hpp"
#include "../process.hpp"
#include "../run_folder.hpp"
#include "../store.hpp"
#include "../submitting.hpp"
#include "../tables.hpp"
#include "../token.hpp"

using namespace cluster;
namespace fs = std::filesystem;

namespace {

class folder {
 public:
  folder() {
    char name[] = "/tmp/wsl_cluster_XXXXXX";
    path = ::mkdtemp(name);
  }
  ~folder() {
    fs::permissions(path, fs::perms::owner_all);
    fs::remove_all(path);
  }
  void put(const std::string& name, const std::string& text) const { std::ofstream(path / name) << text; }
  fs::path path;
};

job a_job() {
  job j;
  j.id = 12, j.request = "r1", j.user = "ann", j.program = "sh", j.arguments = {"train", "--max_steps", "5"};
  return j;
}

cluster_file a_cluster() {
  cluster_file c;
  c.folder = "/srv";
  c.programs = {{"sh", "/bin/sh", true}};
  c.nodes = {{"a", "localhost", {{1, 1, 2, 1}, 8000, 80}}, {"b", "b.example.org", {{0, 0, 2, 0}, 4000, 40}}};
  return c;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : " ") + w;
  return all;
}

}  // namespace

TEST_CASE("jobs have the names of csctl") {
  CHECK(name_of_job(1) == "wsjob-000000000001");
  CHECK(id_of_job("wsjob-000000000042") == 42);
  CHECK(id_of_job("wsjob-1234567890123") == 1234567890123);
  for (const char* bad :
       {"", "wsjob-", "wsjob-1", "wsjob-00000000000x", "wsjob-000000000000", "wsjob--00000000001",
        "wsjob-0000000000012", "wsjob-99999999999999999999999", "job-000000000001"})
    CHECK(!id_of_job(bad));
}

TEST_CASE("one process starts alone, several with mpirun, and under Slurm with srun") {
  cluster_file c = a_cluster();
  job j = a_job();
  j.params = "x";
  j.ranks = {{role::wafer, 0, 2500, 40}};
  const start_command alone = command_of(c, j, false);
  CHECK(joined(alone.words) ==
        "/bin/sh train --max_steps 5 --params /srv/jobs/wsjob-000000000012/params.yaml");
  CHECK(alone.environment.at("WSL_THREADS") == "2");
  CHECK(alone.memory == 40);
  CHECK(alone.folder == "/srv");

  j.params.reset();
  j.ranks = {{role::memoryx, 0, 1000, 1},
             {role::wafer, 0, 2000, 9},
             {role::wafer, 0, 2000, 9},
             {role::wafer, 1, 2000, 9}};
  c.roles = true;
  c.nodes[1].host = "localhost";
  const std::string program = "/bin/sh train --max_steps 5 --roles memoryx,wafer,wafer,wafer";
  CHECK(joined(command_of(c, j, false).words) ==
        "mpirun --oversubscribe --bind-to none --mca odls_base_sigkill_timeout 2 "
        "-np 1 -host localhost:1 -x WSL_THREADS=1 " +
            program + " : -np 2 -host localhost:2 -x WSL_THREADS=2 " + program +
            " : -np 1 -host localhost:1 -x WSL_THREADS=2 " + program);
  CHECK(command_of(c, j, false).memory == 9);
  c.launcher = launcher::slurm, c.roles = false;
  c.nodes[1].host = "b.example.org";
  j.time_limit_s = 90;
  const start_command slurm = command_of(c, j, false);
  CHECK(joined(slurm.words) ==
        "srun --job-name=" + name_in_slurm(c, 12) +
            " --dependency=singleton --ntasks=4 --cpus-per-task=2 --distribution=arbitrary --mpi=pmix "
            "--kill-on-bad-exit=1 --chdir=/srv --time=3 /bin/sh train --max_steps 5");
  CHECK(slurm.environment.at("WSL_THREADS") == "2");
  CHECK(hosts_of(c, j) == "localhost\nlocalhost\nlocalhost\nb.example.org\n");
  CHECK(name_in_slurm(c, 12).starts_with("wsjob-000000000012-"));
  cluster_file other = c;
  other.folder = "/srv2";
  CHECK(name_in_slurm(other, 12) != name_in_slurm(c, 12));
  c.launcher = launcher::mpirun;
  j.ranks = {{role::wafer, 1, 2000, 9}};
  CHECK(joined(command_of(c, j, false).words).starts_with("mpirun"));
}

TEST_CASE("on other computers mpirun starts processes by ssh, with their environment and limits") {
  cluster_file c = a_cluster();
  c.ssh = {2222, "wsl", "/keys/one", "/keys/config"};
  job j = a_job();
  j.ranks = {{role::wafer, 0, 2000, 9}, {role::wafer, 1, 2000, 9}, {role::wafer, 1, 2000, 7}};
  CHECK(runs_elsewhere(c, j.ranks));
  CHECK(!runs_elsewhere(c, {j.ranks[0]}));
  ::setenv("WSL_RANK_SILENCE", "4", 1);
  ::setenv("WSL_CLUSTER_TOKEN", "secret", 1);
  const start_command s = command_of(c, j, false);
  ::unsetenv("WSL_RANK_SILENCE");
  ::unsetenv("WSL_CLUSTER_TOKEN");
  const std::string text = joined(s.words), become = beside_this_program("wsl-job").string() + " --become ",
                    program = " /srv /bin/sh train --max_steps 5";
  CHECK_THAT(text, Catch::Contains("--mca plm_rsh_agent ssh -o BatchMode=yes -o ConnectTimeout=10 -F "
                                   "/keys/config -i /keys/one -p 2222 -l wsl --mca plm_rsh_no_tree_spawn 1"));
  CHECK_THAT(text, Catch::Contains("-np 1 -host localhost:1 -x WSL_THREADS=2 "));
  CHECK_THAT(text, Catch::Contains("-np 1 -host b.example.org:1 -x WSL_THREADS=2 "));
  CHECK_THAT(text, Catch::Contains(" -x WSL_RANK_SILENCE "));
  CHECK_THAT(text, !Catch::Contains("WSL_CLUSTER_TOKEN"));
  CHECK_THAT(text, Catch::Contains(become + "9" + program + " : "));
  CHECK_THAT(text, Catch::EndsWith(become + "7" + program));
  CHECK(s.memory == 0);
  c.ssh = {};
  CHECK_THAT(joined(command_of(c, j, false).words),
             Catch::Contains("ssh -o BatchMode=yes -o ConnectTimeout=10 --mca"));
}

TEST_CASE("a run that goes on does not begin anew a second time") {
  const cluster_file c = a_cluster();
  job j = a_job();
  j.ranks = {{role::wafer, 0, 1000, 1}};
  j.arguments = {"train", "--autoload_last_checkpoint", "false", "--x", "1"};
  CHECK(joined(command_of(c, j, false).words) == "/bin/sh train --autoload_last_checkpoint false --x 1");
  CHECK(joined(command_of(c, j, true).words) == "/bin/sh train --x 1 --autoload_last_checkpoint true");
  j.arguments = {"train", "--autoload_last_checkpoint=false", "--x", "1"};
  CHECK(joined(command_of(c, j, true).words) == "/bin/sh train --x 1 --autoload_last_checkpoint true");
}

TEST_CASE("the mode of a trainer is the first word that belongs to no option") {
  CHECK(mode_in({"train", "--x", "1"}) == 0u);
  CHECK(mode_in({"--params", "eval", "--y=2", "train"}) == 3u);
  CHECK(!mode_in({"--params", "train"}));
  CHECK(!mode_in({}));
  const program sh{"sh", "/bin/sh", true};
  CHECK(is_training(sh, {"--seed", "1", "fit"}));
  CHECK(!is_training(sh, {"eval", "train"}));
  CHECK(!is_training({"sh", "/bin/sh", false}, {"train"}));
}

TEST_CASE("the files of a run say how far it is and who has died") {
  const folder here;
  CHECK(last_checkpoint(here.path / "none") == -1);
  for (const char* name :
       {"checkpoint_50.safetensors", "checkpoint_1000.safetensors", "checkpoint_2000.safetensors.unfinished",
        "checkpoint_x.safetensors", "checkpoint_.safetensors"})
    here.put(name, "");
  CHECK(last_checkpoint(here.path) == 1000);
  const auto mpirun = lost_rank_in(
      "a\nmpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).\n");
  REQUIRE(mpirun);
  CHECK(mpirun->rank == 1);
  CHECK(mpirun->how == "exited on signal 9 (Killed)");
  const auto srun = lost_rank_in("srun: error: node7: task 3: Killed\n");
  REQUIRE(srun);
  CHECK(srun->rank == 3);
  CHECK(lost_rank_in("srun: error: task 0 launch failed: Unspecified error\n")->how ==
        "launch failed: Unspecified error");
  CHECK(lost_rank_in("wsl: rank 2 has kept the others waiting for 60 s")->rank == 2);
  // srun tells of those whom the abort has killed, too.
  const auto fabric = lost_rank_in(
      "wsl: rank 3 (wafer) was killed, or has crashed; rank 4 (input) ends the run\n"
      "srun: error: vm: task 0: Killed\nsrun: error: vm: task 4: Exited with exit code 1\n");
  REQUIRE(fabric);
  CHECK(fabric->rank == 3);
  CHECK(fabric->how == "was killed, or has crashed");
  CHECK(lost_rank_in("wsl: rank 4 (input) has not been heard of for 8 s: it has died, or is stopped; rank 5 "
                     "(input) ends the run\n")
            ->how == "has not been heard of for 8 s");
  CHECK(!lost_rank_in("wsl-gpt: the loss of step 7 is not finite"));
  CHECK(
      lost_place_in_slurm("srun: job 7 queued and waiting for resources\nsrun: error: Unable to allocate "
                          "resources: Job/step already completing or completed\n"));
  CHECK(
      !lost_place_in_slurm("srun: error: Unable to allocate resources: Requested node configuration is not "
                           "available\n"));
  CHECK(last_line("one\ntwo\n-----\n\n") == "two");
  CHECK(last_line("wsl@b: Permission denied (publickey).\nmpirun has no more to say\n") ==
        "wsl@b: Permission denied (publickey).");
  const auto daemon = lost_host_in(
      "ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[63011,0],0] on node head\n"
      "  Remote daemon: [[63011,0],1] on node b\n");
  REQUIRE(daemon);
  CHECK(daemon->name == "b");
  const auto ssh = lost_host_in("ssh: connect to host b.example.org port 22: No route to host\r\n");
  REQUIRE(ssh);
  CHECK(ssh->name == "b.example.org");
  CHECK(ssh->how == "could not be reached by ssh: No route to host");
  CHECK(!lost_host_in("wsl-gpt: the loss of step 7 is not finite"));
  here.put("log", "0123456789");
  CHECK(end_of(here.path / "log", 4) == "6789");
  CHECK(end_of(here.path / "log", 40) == "0123456789");
}

TEST_CASE("jobs are numbered after those whose folders are there") {
  const folder here;
  store s(here.path, {"a", "b"});
  s.number_jobs_after(41);
  CHECK(s.add(a_job()).id == 42);
  s.number_jobs_after(7);
  job another = a_job();
  another.request = "another";
  CHECK(s.add(another).id == 43);
}

TEST_CASE("the store keeps every field of a job, and a request once") {
  const folder here;
  job j = a_job();
  j.params = "a: 'b'\n\xc3\xa4", j.model_dir = "run", j.asks = {3, 2, 7}, j.priority = 199,
  j.time_limit_s = 60;
  j.labels = {{"k", "v"}, {"l", ""}};
  j.submitted = 5;
  {
    store s(here.path, {"a", "b"});
    const job added = s.add(j);
    CHECK(added.id == 1);
    CHECK(s.add(j).id == 1);
    j = added;
    j.phase = phase::running, j.started = 6, j.turn = 9, j.attempt = 2, j.stop_asked = 8, j.exit_status = 137;
    j.restarts = 1, j.checkpoint = 50, j.ranks = {{role::memoryx, 1, 10, 20}, {role::wafer, 0, 30, 40}};
    s.update(j);
    s.add_event(1, {7, "it's here"});
    CHECK_THROWS_AS(s.add_event(2, {7, "of no job"}), store_error);
    CHECK_THROWS_AS(s.transaction([&] {
      s.add_event(1, {8, "gone"});
      throw std::runtime_error("no");
    }),
                    std::runtime_error);
  }
  // The cluster file has lost the node a meanwhile.
  store s(here.path, {"b"});
  const auto found = s.find(1);
  REQUIRE(found);
  CHECK(found->params == j.params);
  CHECK(found->arguments == j.arguments);
  CHECK(found->labels == j.labels);
  CHECK(found->asks.num_csx == 3);
  CHECK(found->asks.memory == 7);
  CHECK(found->ranks == std::vector<placed_rank>{{role::memoryx, 0, 10, 20}, {role::wafer, -1, 30, 40}});
  CHECK(std::tuple(found->user, found->program, found->model_dir, found->priority, found->time_limit_s,
                   found->phase, found->submitted, found->started, found->turn, found->attempt,
                   found->stop_asked, found->exit_status, found->restarts, found->checkpoint) ==
        std::tuple("ann", "sh", "run", 199, 60, phase::running, 5, 6, 9, 2, 8, 137, 1, 50));
  CHECK(s.last_turns() == std::map<std::string, i64>{{"ann", 9}});
  REQUIRE(s.events_of(1).size() == 1);
  CHECK(s.events_of(1)[0].text == "it's here");
  CHECK(s.in_phase(phase::queued).empty());
  CHECK(s.in_phase(phase::running).size() == 1);
  CHECK(!s.find(2));
}

TEST_CASE("a state of a newer manager, or that is none, is refused by name") {
  const folder here;
  { store s(here.path, {}); }
  sqlite3* db = nullptr;
  sqlite3_open((here.path / "jobs.sqlite").c_str(), &db);
  sqlite3_exec(db, "PRAGMA user_version=99", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  CHECK_THROWS_WITH(store(here.path, {}), Catch::Contains("is of a newer wsl-clusterd (version 99"));
  const folder other;
  other.put("jobs.sqlite", std::string(5000, 'x'));
  CHECK_THROWS_WITH(store(other.path, {}), Catch::Contains("jobs.sqlite: file is not a database"));
  CHECK_THROWS_AS(store(other.path / "none", {}), store_error);
}

TEST_CASE("programs run to their end, or until their time is over") {
  const finished f = run_to_end({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, 10);
  CHECK(f.status == 3);
  CHECK(f.output == "out\n");
  CHECK(f.said.size() == 8);
  const finished late = run_to_end({"/bin/sh", "-c", "sleep 60 & sleep 60"}, 1);
  CHECK(!late.in_time);
  CHECK(late.status == 137);
  CHECK_THROWS_AS(run_to_end({"/bin/none"}, 1), std::runtime_error);
  const process_identity me = identity_of(::getpid());
  CHECK(is_alive(me));
  CHECK(!is_alive({me.pid, me.start + 1, me.boot}));
  CHECK(!is_alive({me.pid, me.start, "another boot"}));
}

TEST_CASE("of many that begin the same start of a job one does, and writes down how it ends") {
  const folder here;
  start_command c;
  c.words = {"/bin/sh", "-c", "echo begun; echo $WORD; ulimit -d; pwd; exit 7"};
  c.environment = {{"WORD", "a 'word'"}};
  c.folder = here.path.string(), c.log = (here.path / "log").string(), c.memory = 512 << 20;
  here.put("attempt_1.json", nlohmann::json(c).dump());
  std::vector<pid_t> all;
  for (int k = 0; k < 20; ++k)
    all.push_back(start({beside_this_program("wsl-job").string(), here.path.string(), "1"}));
  for (int k = 0; k < 1000 && !all.empty(); ++k) {
    std::erase_if(all, [](pid_t p) { return has_ended(p); });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  REQUIRE(all.empty());
  CHECK(end_of(here.path / "log", 1000) == "begun\na 'word'\n524288\n" + here.path.string() + "\n");
  const auto e = ended_in({here.path, 1});
  REQUIRE(e);
  CHECK(e->status == 7);
  CHECK(started_in({here.path, 1}));
  for (const auto& entry : fs::directory_iterator(here.path))
    CHECK(entry.path().filename().string().find("started_1.") == std::string::npos);
}

TEST_CASE("an mpirun that hangs after its processes have died is killed, and the start has ended") {
  const folder here;
  fs::create_symlink("/bin/sleep", here.path / "mpirun");
  start_command c;
  // what becomes mpirun never waits for the shell's child
  c.words = {"/bin/sh", "-c", "sleep 0.1 & exec ./mpirun 600"};
  c.folder = here.path.string(), c.log = (here.path / "log").string();
  here.put("attempt_1.json", nlohmann::json(c).dump());
  const pid_t watcher = start({beside_this_program("wsl-job").string(), here.path.string(), "1"});
  bool ended = false;
  for (int k = 0; k < 3000 && !ended; ++k) {
    ended = has_ended(watcher);
    if (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  REQUIRE(ended);
  CHECK_THAT(end_of(here.path / "log", 1000), Catch::Contains("all processes of mpirun have died"));
  const auto e = ended_in({here.path, 1});
  REQUIRE(e);
  CHECK(e->status == 137);
}

TEST_CASE("a token is a secret of its file") {
  const folder here;
  const std::string word = token_of(here.path / "token");
  CHECK(word.size() == 64);
  CHECK(token_of(here.path / "token") == word);
  CHECK(fs::status(here.path / "token").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  fs::permissions(here.path / "token", fs::perms::group_read, fs::perm_options::add);
  CHECK_THROWS_WITH(token_of(here.path / "token"), Catch::Contains("can be read by others: chmod 600"));
  CHECK(same_word("abc", "abc"));
  CHECK(!same_word("abc", "abd"));
  CHECK(!same_word("abc", "ab"));
  CHECK(!same_word("", "a"));
  CHECK(is_loopback("127.0.0.1:80"));
  CHECK(is_loopback("localhost:80"));
  CHECK(!is_loopback("0.0.0.0:80"));
  CHECK(!is_loopback("127.example.org:80"));
}

TEST_CASE("a command becomes a submission with the text of its params") {
  const folder here;
  here.put("my.yaml", "model: {}\n");
  const auto s =
      submission_of({.labels = {"a=b=c"}, .priority = "p1", .memory = "2GB", .time_s = 5, .num_csx = 2},
                    {"/usr/bin/wsl-gpt", "train", "--params", (here.path / "my.yaml").string(), "--x", "1"});
  CHECK(s.program() == "wsl-gpt");
  CHECK(s.params() == "model: {}\n");
  CHECK(joined({s.arguments().begin(), s.arguments().end()}) == "train --x 1");
  CHECK(s.priority() == 199);
  CHECK(s.labels().at("a") == "b=c");
  CHECK(s.memory() == 2'000'000'000);
  CHECK(!submission_of({}, {"wsl-gpt", "train", "--params", "char_cpu"}).has_params());
  CHECK_THROWS_WITH(submission_of({}, {"wsl-gpt", "train", "--params=no/such.yaml"}),
                    Catch::Contains("there is no file no/such.yaml on this computer"));
  CHECK_THROWS_AS(submission_of({}, {}), std::invalid_argument);
  // The Zoo's older files do not name their model, whose folder stays behind.
  fs::create_directories(here.path / "llama/configs");
  const auto arguments_of = [&](const char* text, std::vector<std::string> command) {
    here.put("llama/configs/params.yaml", text);
    command.insert(command.end(), {"--params", (here.path / "llama/configs/params.yaml").string()});
    const auto sent = submission_of({}, command);
    return joined({sent.arguments().begin(), sent.arguments().end()});
  };
  CHECK(arguments_of("model: {hidden_size: 8}\n", {"wsl-zoo", "fit"}) == "fit --model.name llama");
  CHECK(arguments_of("model: {name: gpt2}\n", {"wsl-zoo", "fit"}) == "fit");
  CHECK(arguments_of("model: {}\n", {"wsl-zoo", "fit", "--name=gpt2"}) == "fit --name=gpt2");
  CHECK(arguments_of("model: {}\n", {"wsl-bert", "train"}) == "train");
  CHECK(arguments_of("model: {\n", {"wsl-zoo", "fit"}) == "fit");
  CHECK_THROWS_WITH(label_of("a=1,b=2"), Catch::Contains("several stand apart, as in a=1 b=2"));
  for (const char* bad : {"p4", "400", "-1", "p", "high", "p1x", "p-1"})
    CHECK_THROWS_AS(priority_of(bad), std::invalid_argument);
  CHECK(priority_of("p3") == 399);
  CHECK(priority_of("0") == 0);
}

TEST_CASE("curves come from loss.csv and the log") {
  run_curves c;
  read_losses(
      "step,kind,loss,learning_rate,mean_loss\n50,train,0.5,0.1,1\n50,eval,0.75,,\n100,train,nan,0.1,1\n150,"
      "tr",
      c);
  REQUIRE(c.train.size() == 1);
  CHECK(c.train[0].step == 50);
  CHECK(c.train[0].value == 0.5);
  REQUIRE(c.eval.size() == 1);
  CHECK(c.eval[0].value == 0.75);
  read_rates(
      "| Train Device=fabric, Step=50, Loss=0.1, Rate=75017.02 samples/sec, GlobalRate=1 samples/sec\n| Eval "
      "Device=fabric, Step=1, Rate=2\nRate=3",
      c);
  REQUIRE(c.rate.size() == 1);
  CHECK(c.rate[0].value == 75017.02);
  std::vector<curve_point> many(1000);
  for (std::size_t k = 0; k < many.size(); ++k) many[k].step = static_cast<double>(k);
  const auto some = thinned(many, 10);
  REQUIRE(some.size() == 10);
  CHECK(some.front().step == 0);
  CHECK(some.back().step == 999);
  CHECK(profile_in("x\n| MODULE NAME | TIME |\n+---+\n| a | 1 |\n+---+\n| Train Device=fabric\nend") ==
        "| MODULE NAME | TIME |\n+---+\n| a | 1 |\n+---+\n");
  CHECK(profile_in("nothing").empty());
}

TEST_CASE("times and sizes are short") {
  CHECK(text_of_time(20'000) == "20s");
  CHECK(text_of_time(185'000) == "3m5s");
  CHECK(text_of_time(18 * 3'600'000) == "18h");
  CHECK(text_of_time(52 * 3'600'000) == "2d4h");
  CHECK(text_of_bytes(64'000'000'000) == "64GB");
}
