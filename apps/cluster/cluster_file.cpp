// SPDX-License-Identifier: MIT
#include "cluster_file.hpp"

#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <set>

#include "../files.hpp"
#include "../nearest.hpp"

namespace cluster {
namespace {

namespace fs = std::filesystem;

/// The mistakes of a file, each with its line.
class mistakes {
 public:
  explicit mistakes(std::string file) : file_(std::move(file)) {}
  void add(const YAML::Mark& where, const std::string& sentence) {
    all_.emplace(where.is_null() ? 1 : where.line + 1, sentence);
  }
  void add(const YAML::Node& where, const std::string& sentence) { add(where.Mark(), sentence); }
  void throw_if_any() const {
    std::string lines;
    for (const auto& [line, sentence] : all_)
      lines += (lines.empty() ? "" : "\n") + file_ + ":" + std::to_string(line) + ": " + sentence;
    if (!lines.empty()) throw cluster_file_error(lines);
  }

 private:
  std::string file_;
  std::multimap<int, std::string> all_;
};

using reader = std::function<void(const YAML::Node&)>;

/// Reads a map whose fields are known; names those that are not, and those that stand there twice.
void read_map(const YAML::Node& map, const std::string& what, mistakes& wrong,
              const std::vector<std::pair<std::string, reader>>& fields) {
  if (!map.IsMap()) return wrong.add(map, what + " should be a map of fields");
  std::set<std::string> seen;
  for (const auto& entry : map) {
    if (!entry.first.IsScalar()) {
      wrong.add(entry.first, "the name of a field of " + what + " should be a word");
      continue;
    }
    const std::string& name = entry.first.Scalar();
    if (!seen.insert(name).second) {
      wrong.add(entry.first, what + " has " + name + " twice: leave one out");
      continue;
    }
    const auto known =
        std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == name; });
    if (known != fields.end()) {
      known->second(entry.second);
      continue;
    }
    std::vector<std::string> names;
    for (const auto& f : fields) names.push_back(f.first);
    wrong.add(entry.first, name + " is no field of " + what + app::nearest_words(name, names));
  }
}

reader whole_number(int& to, int least, int most, const std::string& what, mistakes& wrong) {
  return [&to, least, most, what, &wrong](const YAML::Node& n) {
    const std::string text = n.IsScalar() ? n.Scalar() : "";
    int x = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || x < least || x > most)
      wrong.add(n, what + " is a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                       (n.IsScalar() ? ", not '" + text + "'" : ""));
    else to = x;
  };
}

std::optional<bool> truth_of(const YAML::Node& n) {
  if (n.IsScalar() && n.Scalar() == "true") return true;
  if (n.IsScalar() && n.Scalar() == "false") return false;
  return {};
}

reader truth(bool& to, const std::string& what, mistakes& wrong) {
  return [&to, what, &wrong](const YAML::Node& n) {
    if (const auto x = truth_of(n)) to = *x;
    else wrong.add(n, what + " is true or false");
  };
}

/// How many processes of a role a node may have; true is one.
reader slots(int& to, const std::string& what, mistakes& wrong) {
  return [&to, what, &wrong](const YAML::Node& n) {
    if (const auto x = truth_of(n)) to = *x ? 1 : 0;
    else whole_number(to, 0, 10000, what, wrong)(n);
  };
}

reader word(std::string& to, const std::string& what, const std::string& others, mistakes& wrong) {
  return [&to, what, others, &wrong](const YAML::Node& n) {
    const std::string text = n.IsScalar() ? n.Scalar() : "";
    const bool is_word = !text.empty() && text.size() <= 255 && text.front() != '-' &&
                         std::all_of(text.begin(), text.end(), [&](unsigned char c) {
                           return std::isalnum(c) || others.find(static_cast<char>(c)) != others.npos;
                         });
    if (is_word) to = text;
    else wrong.add(n, what + " is a word of letters, digits and " + others);
  };
}

void read_program(const YAML::Node& n, const fs::path& beside, cluster_file& to, mistakes& wrong) {
  program p;
  std::string path;
  const auto read_path = [&](const YAML::Node& text) {
    if (text.IsScalar() && !text.Scalar().empty()) path = text.Scalar();
    else wrong.add(text, "the path of a program is a text");
  };
  if (n.IsScalar()) read_path(n);
  else
    read_map(n, "a program", wrong,
             {{"path", read_path}, {"trainer", truth(p.trainer, "trainer of a program", wrong)}});
  if (path.empty()) {
    if (n.IsMap() && !n["path"]) wrong.add(n, "this program has no path");
    return;
  }
  p.path = (beside / path).lexically_normal();
  p.name = p.path.filename().string();
  if (!fs::is_regular_file(p.path)) wrong.add(n, "there is no program " + p.path.string());
  else if (::access(p.path.c_str(), X_OK) != 0)
    wrong.add(n, p.path.string() + " is a file that cannot be executed: chmod +x makes a program of it");
  else if (to.program_named(p.name))
    wrong.add(n, "another program is called " + p.name + " already: jobs ask for programs by this name");
  else to.programs.push_back(p);
}

void read_node(const YAML::Node& n, cluster_file& to, mistakes& wrong) {
  node x;
  int cores = 0;
  std::string memory;
  auto& slot = x.capacity.slots;
  const auto read_memory = [&](const YAML::Node& text) {
    memory = text.IsScalar() ? text.Scalar() : "?";
    const auto bytes = bytes_of(memory);
    if (!bytes || *bytes <= 0) wrong.add(text, "memory is a size such as 64GB, not '" + memory + "'");
    else if (*bytes < least_memory)
      wrong.add(text,
                "memory is a size such as 64GB, and " + memory + " is less than 1MB: is its unit missing?");
    else x.capacity.memory = *bytes;
  };
  read_map(n, "a node", wrong,
           {{"name", word(x.name, "the name of a node", "-_.", wrong)},
            {"host", word(x.host, "the host of a node", "-_.:", wrong)},
            {"cores", whole_number(cores, 1, 100000, "cores", wrong)},
            {"memory", read_memory},
            {"memoryx", slots(slot[0], "memoryx", wrong)},
            {"swarmx", slots(slot[1], "swarmx", wrong)},
            {"wafers", slots(slot[2], "wafers", wrong)},
            {"inputs", slots(slot[3], "inputs", wrong)}});
  if (!n.IsMap()) return;
  for (const char* needed : {"name", "cores", "memory"})
    if (!n[needed]) wrong.add(n, std::string("this node has no ") + needed);
  if (!x.name.empty() && to.node_named(x.name) >= 0)
    wrong.add(n, "there are two nodes with the name " + x.name);
  x.capacity.millicores = 1000 * cores;
  to.nodes.push_back(x);
}

/// A file that ssh reads. Open MPI takes the command apart at spaces, and alternatives at colons.
reader file_of_ssh(fs::path& to, const fs::path& beside, const std::string& what, mistakes& wrong) {
  return [&to, beside, what, &wrong](const YAML::Node& n) {
    const std::string text = n.IsScalar() ? n.Scalar() : "";
    const fs::path path = (beside / text).lexically_normal();
    const std::string whole = path.string();
    if (text.empty()) return wrong.add(n, what + " is the path of a file");
    if (std::any_of(whole.begin(), whole.end(), [](unsigned char c) {
          return std::isspace(c) || std::iscntrl(c) || c == ':' || c == '"' || c == '\'';
        }))
      return wrong.add(n,
                       what + " is a path without spaces, colons and quotes, at which mpirun would cut it");
    if (!fs::is_regular_file(path) || ::access(path.c_str(), R_OK) != 0)
      return wrong.add(n, "there is no file " + whole + " that can be read: " + what + " names one");
    to = path;
  };
}

void read_ssh(const YAML::Node& n, const fs::path& beside, ssh_access& to, mistakes& wrong) {
  read_map(n, "ssh", wrong,
           {{"port", whole_number(to.port, 1, 65535, "the port of ssh", wrong)},
            {"user", word(to.user, "the user of ssh", "-_.", wrong)},
            {"key", file_of_ssh(to.key, beside, "the key of ssh", wrong)},
            {"config", file_of_ssh(to.config, beside, "the config of ssh", wrong)}});
}

/// What no single field is wrong about.
void check_whole(const YAML::Node& root, const cluster_file& c, mistakes& wrong) {
  const auto offers = [&](role r) {
    return std::any_of(c.nodes.begin(), c.nodes.end(),
                       [&](const node& n) { return n.capacity.slots[static_cast<std::size_t>(r)] > 0; });
  };
  if (!root["folder"]) wrong.add(root, "folder is missing: the folder of data and runs, which all nodes see");
  if (!root["programs"]) wrong.add(root, "programs is missing: the paths of the programs that jobs may run");
  if (root["ssh"] && c.launcher != launcher::mpirun)
    wrong.add(root["ssh"],
              "ssh is how mpirun reaches other computers, and the launcher is slurm: leave it out");
  if (!root["nodes"]) wrong.add(root, "nodes is missing: the computers of the cluster");
  else if (!c.nodes.empty() && !offers(role::wafer))
    wrong.add(root["nodes"], "no node has wafers: give one `wafers: 1`");
  else if (!c.nodes.empty() && c.roles && !offers(role::memoryx))
    wrong.add(root["nodes"], "with `roles: true` a node has `memoryx: true`, and none has");
}

}  // namespace

const program* cluster_file::program_named(const std::string& name) const {
  const auto found =
      std::find_if(programs.begin(), programs.end(), [&](const program& p) { return p.name == name; });
  return found == programs.end() ? nullptr : &*found;
}

std::vector<capacity> cluster_file::capacities() const {
  std::vector<capacity> all;
  for (const node& n : nodes) all.push_back(n.capacity);
  return all;
}

int cluster_file::node_named(const std::string& name) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const node& n) { return n.name == name; });
  return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
}

std::optional<i64> bytes_of(std::string text) {
  std::erase(text, ' ');
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return {};
  const std::string unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const std::vector<std::pair<const char*, double>> units = {
      {"", 1},      {"B", 1},        {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
      {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  for (const auto& [name, size] : units)
    if (unit == name && number * size <= 1e18) return static_cast<i64>(number * size);
  return {};
}

bool is_here(const std::string& host) {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  const std::string whole = name;
  return host == "localhost" || host == "127.0.0.1" || host == "::1" || host == whole ||
         host == whole.substr(0, whole.find('.'));
}

cluster_file read_cluster(const std::string& text, const fs::path& file) {
  mistakes wrong(file.string());
  cluster_file c;
  const fs::path beside = fs::absolute(file).parent_path();
  YAML::Node root;
  try {
    root = YAML::Load(text);
    std::string folder, launched;
    const auto each_of = [&](auto read, const char* what) {
      return [&wrong, read, what](const YAML::Node& n) {
        if (!n.IsSequence() || n.size() == 0)
          return wrong.add(n, std::string(what) + " should be a list of at least one");
        for (const YAML::Node& x : n) read(x);
      };
    };
    const auto read_folder = [&](const YAML::Node& n) {
      folder = n.IsScalar() ? n.Scalar() : "";
      c.folder = (beside / folder).lexically_normal();
      if (folder.empty()) wrong.add(n, "folder is a path");
      else if (!fs::is_directory(c.folder))
        wrong.add(n, "there is no folder " + c.folder.string() + ": make it first");
    };
    const auto read_launcher = [&](const YAML::Node& n) {
      launched = n.IsScalar() ? n.Scalar() : "";
      if (launched == "slurm") c.launcher = launcher::slurm;
      else if (launched != "mpirun") wrong.add(n, "launcher is mpirun or slurm, not '" + launched + "'");
    };
    if (!root.IsMap()) wrong.add(root, "a cluster file is a map with folder, programs and nodes");
    else {
      read_map(
          root, "a cluster file", wrong,
          {{"folder", read_folder},
           {"programs", each_of([&](const YAML::Node& n) { read_program(n, beside, c, wrong); }, "programs")},
           {"launcher", read_launcher},
           {"ssh", [&](const YAML::Node& n) { read_ssh(n, beside, c.ssh, wrong); }},
           {"roles", truth(c.roles, "roles", wrong)},
           {"restarts", whole_number(c.restarts, 0, 1000, "restarts", wrong)},
           {"grace_s", whole_number(c.grace_s, 0, 86400, "grace_s", wrong)},
           {"nodes", each_of([&](const YAML::Node& n) { read_node(n, c, wrong); }, "nodes")}});
      check_whole(root, c, wrong);
    }
  } catch (const YAML::Exception& e) { wrong.add(e.mark, "this is no YAML: " + e.msg); }
  wrong.throw_if_any();
  return c;
}

cluster_file read_cluster(const fs::path& file) {
  if (!fs::is_regular_file(file))
    throw cluster_file_error("there is no file " + file.string() + ": --cluster names a cluster file");
  return read_cluster(app::read_file(file), file);
}

}  // namespace cluster
