// SPDX-License-Identifier: MIT
#include "../cluster_file.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace cluster;

namespace {

const std::string whole =
    "folder: /tmp\nprograms: [/bin/sh, {path: /bin/true, trainer: false}]\nlauncher: slurm\nroles: "
    "true\nrestarts: 5\n"
    "grace_s: 7\nnodes:\n  - {name: a, host: a.example.org, cores: 16, memory: 64GB, wafers: 2, memoryx: "
    "true}\n"
    "  - name: b\n    cores: 4\n    memory: 2 GiB\n    inputs: 3\n";

std::string mistakes_of(const std::string& text) {
  try {
    read_cluster(text, "c.yaml");
  } catch (const cluster_file_error& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("a cluster file says which nodes there are and what they may be") {
  const cluster_file c = read_cluster(whole, "c.yaml");
  CHECK(c.folder == "/tmp");
  CHECK(c.launcher == launcher::slurm);
  CHECK(c.roles);
  CHECK(c.restarts == 5);
  CHECK(c.grace_s == 7);
  REQUIRE(c.nodes.size() == 2);
  CHECK(c.nodes[0].host == "a.example.org");
  CHECK(c.nodes[0].capacity.slots == std::array<int, 4>{1, 0, 2, 0});
  CHECK(c.nodes[0].capacity.millicores == 16000);
  CHECK(c.nodes[0].capacity.memory == 64'000'000'000);
  CHECK(c.nodes[1].host == "localhost");
  CHECK(c.nodes[1].capacity.slots == std::array<int, 4>{0, 0, 0, 3});
  CHECK(c.nodes[1].capacity.memory == i64{2} << 30);
  REQUIRE(c.program_named("true"));
  CHECK(!c.program_named("true")->trainer);
  CHECK(c.program_named("sh")->trainer);
}

TEST_CASE("all mistakes of a cluster file are named at once, with their lines") {
  CHECK(
      mistakes_of("folder: /nowhere\nprogram: [/bin/sh]\nroles: perhaps\nnodes:\n"
                  "  - {name: a, cores: 0, memory: much, waffers: 1}\n  - {name: a b, memory: 1GB}\n"
                  "  - {name: c, cores: 2, cores: 3, memory: 1GB}\n  - {name: c, cores: 1, memory: 1GB}\n") ==
      "c.yaml:1: there is no folder /nowhere: make it first\n"
      "c.yaml:1: programs is missing: the paths of the programs that jobs may run\n"
      "c.yaml:2: program is no field of a cluster file; the nearest is programs\n"
      "c.yaml:3: roles is true or false\n"
      "c.yaml:5: cores is a whole number from 1 to 100000, not '0'\n"
      "c.yaml:5: memory is a size such as 64GB, not 'much'\n"
      "c.yaml:5: waffers is no field of a node; the nearest is wafers\n"
      "c.yaml:5: no node has wafers: give one `wafers: 1`\n"
      "c.yaml:6: the name of a node is a word of letters, digits and -_.\n"
      "c.yaml:6: this node has no cores\n"
      "c.yaml:7: a node has cores twice: leave one out\n"
      "c.yaml:8: there are two nodes with the name c");
  CHECK(mistakes_of("[1, 2]") == "c.yaml:1: a cluster file is a map with folder, programs and nodes");
  CHECK(mistakes_of("a: [1").starts_with("c.yaml:1: this is no YAML: "));
  CHECK(mistakes_of("").find("a cluster file is a map") != std::string::npos);
  CHECK(mistakes_of("folder: /tmp\nprograms: [/etc/passwd, /bin/sh, /usr/../bin/sh]\nroles: true\nnodes: "
                    "[{name: a, cores: 1, memory: 1MB, wafers: 1}]") ==
        "c.yaml:2: /etc/passwd is a file that cannot be executed: chmod +x makes a program of it\n"
        "c.yaml:2: another program is called sh already: jobs ask for programs by this name\n"
        "c.yaml:4: with `roles: true` a node has `memoryx: true`, and none has");
  // A host that mpirun or a shell of another computer would take for something else.
  CHECK(mistakes_of("folder: /tmp\nprograms: [/bin/sh]\nnodes: [{name: a, host: '-x;ls', cores: 1, memory: "
                    "1GB, wafers: 1}]") ==
        "c.yaml:3: the host of a node is a word of letters, digits and -_.:");
}

TEST_CASE("a cluster file says how ssh reaches other computers") {
  const std::string nodes =
      "folder: /tmp\nprograms: [/bin/sh]\nnodes: [{name: a, cores: 1, memory: 1MB, wafers: 1}]\n";
  const cluster_file c = read_cluster(
      nodes + "ssh: {port: 2222, user: wsl, key: ../bin/sh, config: /bin/true}\n", "/etc/c.yaml");
  CHECK(c.ssh.port == 2222);
  CHECK(c.ssh.user == "wsl");
  CHECK(c.ssh.key == "/bin/sh");
  CHECK(c.ssh.config == "/bin/true");
  CHECK(read_cluster(nodes, "c.yaml").ssh.port == 0);
  CHECK(mistakes_of(nodes + "ssh:\n  port: 0\n  user: -oProxyCommand=x\n  key: /no/key\n  config: /a b\n"
                            "  kei: x\n") ==
        "c.yaml:5: the port of ssh is a whole number from 1 to 65535, not '0'\n"
        "c.yaml:6: the user of ssh is a word of letters, digits and -_.\n"
        "c.yaml:7: there is no file /no/key that can be read: the key of ssh names one\n"
        "c.yaml:8: the config of ssh is a path without spaces, colons and quotes, at which mpirun would cut "
        "it\n"
        "c.yaml:9: kei is no field of ssh; the nearest is key");
  CHECK(mistakes_of(nodes + "ssh: yes\n") == "c.yaml:4: ssh should be a map of fields");
  CHECK(mistakes_of(nodes + "launcher: slurm\nssh: {port: 22}\n") ==
        "c.yaml:5: ssh is how mpirun reaches other computers, and the launcher is slurm: leave it out");
}

TEST_CASE("a broken cluster file is refused by a sentence, whatever is broken") {
  std::mt19937 random(1);
  const std::string letters = "{}[]:,-#&*!|>'\"%@` \n\t0a\xff";
  int refused = 0;
  for (int k = 0; k < 3000; ++k) {
    std::string text = whole;
    for (int changes = static_cast<int>(random() % 4) + 1; changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      const char letter = letters[random() % letters.size()];
      switch (random() % 3) {
        case 0: text[at] = letter; break;
        case 1: text.insert(at, 1, letter); break;
        default: text.erase(at, random() % 20);
      }
    }
    INFO(text);
    const std::string said = mistakes_of(text);  // any other exception fails the test
    refused += !said.empty();
    for (std::size_t line = 0; line < said.size();) {
      REQUIRE(said.compare(line, 7, "c.yaml:") == 0);
      const std::size_t end = said.find('\n', line);
      line = end == said.npos ? said.size() : end + 1;
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("sizes have units") {
  CHECK(bytes_of("64GB") == 64'000'000'000);
  CHECK(bytes_of("1.5 MB") == 1'500'000);
  CHECK(bytes_of("2KiB") == 2048);
  CHECK(bytes_of("7") == 7);
  for (const char* bad : {"", "GB", "-1GB", "1XB", "1e30TB", "nan", "inf", "1GB1"}) CHECK(!bytes_of(bad));
}
