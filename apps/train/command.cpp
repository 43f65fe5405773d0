// SPDX-License-Identifier: MIT
#include "command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "../command_line.hpp"
#include "../files.hpp"
#include "foreign_checkpoint.hpp"
#include "ranks.hpp"
#include "session.hpp"
#include "yaml_text.hpp"
#include "zoo_models.hpp"

namespace train_app {
namespace {

struct given_option {
  std::vector<field*> where;
  std::string value, name;
};

const char* type_of(const field& f) {
  struct {
    const char* operator()(std::monostate) const { return ""; }
    const char* operator()(const bool*) const { return "true|false"; }
    const char* operator()(const int*) const { return "INT"; }
    const char* operator()(const i64*) const { return "INT"; }
    const char* operator()(const f64*) const { return "NUMBER"; }
    const char* operator()(const std::string*) const { return "WORD"; }
    const char* operator()(const std::vector<i64>*) const { return "[INT, ...]"; }
    const char* operator()(const std::vector<f64>*) const { return "[NUMBER, ...]"; }
    const char* operator()(const std::vector<std::string>*) const { return "[WORD, ...]"; }
    const char* operator()(const word_list*) const { return "WORD,...|[WORD, ...]"; }
    const char* operator()(const one_or_more*) const { return "NUMBER|[NUMBER, ...]"; }
    const char* operator()(const size_or_auto*) const { return "INT|auto"; }
    const char* operator()(const group_parts*) const { return "[{patterns: [...], ...}, ...]"; }
    const char* operator()(const mixture_parts*) const { return "[{data_dir: ..., weight: ...}, ...]"; }
    const char* operator()(const numbers_by_name*) const { return "{NAME: NUMBER, ...}"; }
    const char* operator()(const rate_parts*) const { return "NUMBER|[{scheduler: ...}, ...]"; }
    const char* operator()(const normal_part*) const { return "WORD|{name: ..., std: ..., a: ..., b: ...}"; }
    const char* operator()(const initializer_part*) const { return "WORD|{name: ..., gain: ...}"; }
    const char* operator()(const schedule_part*) const { return "NUMBER|[NUMBER, ...]|{type: ...}"; }
    const char* operator()(const update_part*) const {
      return "{freq: INT, start: INT, stop: INT}|{steps: [...]}";
    }
    const char* operator()(const sparsity_parts*) const {
      return "[{sparsity: ..., param_filter: ...}, ...]";
    }
  } name;
  return std::visit(name, f.where);
}

std::string help_of(const field& f) {
  std::string help = f.help;
  if (!f.choices.empty()) {
    help += " (";
    for (std::size_t i = 0; i < f.choices.size(); ++i) help += (i ? ", " : "") + f.choices[i];
    help += ")";
  }
  return help + " [" + f.text() + "]";
}

/// One option for each field, and one for all fields of a name.
void declare(CLI::App& app, fields& f, std::vector<given_option>& given) {
  std::vector<std::string> seen;
  for (field& x : f.all()) {
    if (std::holds_alternative<std::monostate>(x.where)) continue;
    const std::vector<field*> same = f.named(x.name);
    const bool first = std::find(seen.begin(), seen.end(), x.name) == seen.end();
    seen.push_back(x.name);
    const auto option = [&](const std::string& names, std::vector<field*> where, const std::string& name) {
      app.add_option_function<std::string>(
             names, [&given, where, name](const std::string& v) { given.push_back({where, v, name}); },
             help_of(x))
          ->type_name(type_of(x))
          ->group(where.size() > 1 ? "of several sections" : x.section)
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    };
    const std::string full = "--" + x.full_name(), bare = "--" + x.name;
    if (same.size() == 1) option(bare + "," + full, {&x}, bare);
    else option(full, {&x}, full);
    if (first && same.size() > 1) option(bare, same, bare);
  }
}

/// The help text of the options that only this mode has; empty if there are none.
std::string own_options(const fields& f, const std::string& mode) {
  std::string lines;
  for (const field& x : f.all()) {
    if (x.section != mode) continue;
    std::string line = "  --" + x.name + " " + type_of(x);
    line.resize(std::max<std::size_t>(line.size() + 1, 30), ' ');
    lines += line + help_of(x) + "\n";
  }
  return lines.empty() ? "" : "of " + mode + ":\n" + lines + "\n";
}

std::string names_of(const program_words& words) {
  std::string all;
  for (const bundled& b : words.configurations) all += (all.empty() ? "" : ", ") + b.name;
  return all;
}

/// The params that a run in the folder wrote, if there is one. Throws std::invalid_argument if it is a run of
/// another program.
std::string params_of_run(const program_words& words, const std::string& mode, fields& f,
                          const std::vector<given_option>& given) {
  const auto folders = f.named("model_dir");
  if (folders.empty()) return {};
  std::string folder = *std::get<std::string*>(folders.front()->where);
  bool is_folder_given = false, is_model_given = false;
  for (const given_option& o : given) {
    if (o.where.front() == folders.front()) folder = o.value, is_folder_given = true;
    is_model_given |= o.where.front()->name == words.model_option;
  }
  if (is_model_given && !is_folder_given) return {};
  const auto file = std::filesystem::path(folder) / "params.yaml";
  if (!std::filesystem::exists(file)) return "";
  const std::string text = app::read_file(file), first = text.substr(0, text.find('\n'));
  if (first.starts_with(params_of) && first != params_of + words.name)
    throw std::invalid_argument(
        folder + " has a run of " + first.substr(params_of.size()) + ": give another --model_dir" +
        (mode == "export" && first.ends_with(" wsl-zoo")
             ? "; `wsl-zoo checkpoint convert " + folder +
                   " --src-fmt wsl --tgt-fmt hf --output-dir OUT` writes the files of this one, and with "
                   "--adapter-only its adapters"
             : ""));
  return file.string();
}

/// Throws std::invalid_argument for a checkpoint that PyTorch or the Model Zoo has written.
void require_own_checkpoint(const std::string& file, const std::string& program) {
  if (const std::string form = form_of_foreign_checkpoint(file); !form.empty())
    throw std::invalid_argument(
        "runconfig.checkpoint_path " + file + " " +
        words_of_foreign_checkpoint(form, program == "wsl-zoo" || program == "wsl-gpt", program));
}

/// The checkpoint whose params a mode takes; empty if there is none.
std::string checkpoint_with_params(const program_words& words, const std::string& mode,
                                   const std::vector<given_option>& given) {
  const auto& modes = words.modes_of_checkpoints;
  if (std::find(modes.begin(), modes.end(), mode) == modes.end()) return {};
  std::string from;
  for (const given_option& o : given)
    if (o.where.front()->name == "checkpoint_path") from = o.value;
  if (!from.empty()) require_own_checkpoint(from, words.name), require_same_program(from, words.name);
  return from;
}

/// The file of that name if it exists, or else the bundled configuration.
std::pair<std::string, std::string> configuration(const program_words& words, const std::string& asked) {
  if (asked.empty()) return {words.configurations.front().name, words.configurations.front().text};
  for (const bundled& b : words.configurations)
    if (b.name == asked) return {b.name, b.text};
  if (!std::filesystem::exists(asked))
    throw std::invalid_argument("--params: there is no file " + asked +
                                ", and no configuration of that name; there are " + names_of(words));
  if (!std::filesystem::is_regular_file(asked))
    throw std::invalid_argument("--params: " + asked + " is no file");
  return {asked, app::read_file(asked)};
}

bool is_bundled(const program_words& words, const std::string& name) {
  return std::any_of(words.configurations.begin(), words.configurations.end(),
                     [&](const bundled& b) { return b.name == name; });
}

/// The line of the table that speaks of a field; none: all modes read it.
const readers* readers_of(const field& x, const std::vector<readers>& all) {
  const readers* of_section = nullptr;
  for (const readers& r : all) {
    if (r.of == x.full_name()) return &r;
    if (r.of == x.section) of_section = &r;
  }
  return of_section;
}

/// Whether a mode reads a field.
bool is_read_by(const std::string& mode, const field& x, const std::vector<readers>& all) {
  const readers* const by = readers_of(x, all);
  return !by || std::find(by->modes.begin(), by->modes.end(), mode) != by->modes.end();
}

/// "the mode sample", "the modes train and eval"
std::string in_words(const std::vector<std::string>& modes, const program_words& words) {
  std::vector<std::string> names;
  for (const auto& [name, about] : words.modes)
    if (std::find(modes.begin(), modes.end(), name) != modes.end()) names.push_back(name);
  std::string all = names.size() > 1 ? "the modes " : "the mode ";
  for (std::size_t k = 0; k < names.size(); ++k)
    all += fmt::format("{}{}", k == 0 ? "" : k + 1 == names.size() ? " and " : ", ", names[k]);
  return all;
}

/// Throws std::logic_error for a line of the table that speaks of no field.
void require_fields_of(const std::vector<readers>& all, const fields& f) {
  for (const readers& r : all)
    if (std::none_of(f.all().begin(), f.all().end(),
                     [&](const field& x) { return r.of == x.full_name() || r.of == x.section; }))
      throw std::logic_error(fmt::format("the table of options and modes has {}, which is no option", r.of));
}

/// Throws std::invalid_argument for an option of the command line that only other modes read. One that sets
/// the fields of several sections is read if one of them is.
void require_options_of(const std::string& mode, const program_words& words,
                        const std::vector<given_option>& given) {
  for (const given_option& o : given) {
    std::vector<std::string> modes;
    bool is_read = false;
    for (const field* x : o.where)
      if (const readers* r = readers_of(*x, words.options))
        modes.insert(modes.end(), r->modes.begin(), r->modes.end());
      else is_read = true;
    if (!is_read && std::find(modes.begin(), modes.end(), mode) == modes.end())
      throw std::invalid_argument(fmt::format("{} is an option of {} and does nothing in {}: leave it out",
                                              o.name, in_words(modes, words), mode));
  }
}

/// Gives the processes the roles of --roles, and the run as many wafers as have one if nothing else says how
/// many. Throws std::invalid_argument for roles that the processes or wafers do not have.
void take_roles(const program_words& words, const std::string& mode, fields& f) {
  const std::vector<field*> list = f.named("roles");
  if (list.empty() || list.front()->text() == "null") return;
  const std::vector<wsl::ml::role> all = wsl::ml::roles_of(list.front()->text());
  const int processes = ranks::size(), wafers = wsl::ml::count_of(wsl::ml::role::wafer, all);
  field& num_csx = *f.named("num_csx").front();
  if (num_csx.given.empty() && wafers > 0) f.read_option(num_csx, std::to_string(wafers), "--roles");
  wsl::ml::require_possible(all, std::stoi(num_csx.text()));
  if (processes == 1) {
    // These only say what a run would do, and need no other process for that.
    if (mode == "validate" || mode == "compile" || mode == "config") return;
    if (!ranks::has_mpi())
      throw std::invalid_argument(
          fmt::format("--roles {} is of {} processes, and this program was built without MPI, which starts "
                      "several: build "
                      "it with MPI, or leave --roles out",
                      list.front()->text(), all.size()));
    throw std::invalid_argument(fmt::format(
        "--roles {} is of {} processes, and this one was started alone: start {} by mpirun -np {}, or leave "
        "--roles out",
        list.front()->text(), all.size(), words.name, all.size()));
  }
  if (static_cast<int>(all.size()) != processes)
    throw std::invalid_argument(
        fmt::format("--roles {} names {} processes, and mpirun has started {}: name one role for each",
                    list.front()->text(), all.size(), processes));
  const std::string line = ranks::take_roles(all);
  if (ranks::root()) std::printf("%s\n", line.c_str()), std::fflush(stdout);
}

/// Throws std::invalid_argument for a V1 file that does not say its model, if its data have the form of another
/// program's.
void require_processor_of(const program_words& words, const YAML::Node& root, const std::string& file) {
  constexpr std::array owners{std::pair("Gpt", "wsl-zoo"), std::pair("Bert", "wsl-bert"),
                              std::pair("T5", "wsl-t5"), std::pair("Transformer", "wsl-t5"),
                              std::pair("DPR", "wsl-dpr")};
  const YAML::Node input = root["train_input"];
  if (!input || !input.IsMap()) return;
  const YAML::Node processor = input["data_processor"];
  if (!processor || !processor.IsScalar()) return;
  for (const auto& [begin, program] : owners)
    if (processor.Scalar().starts_with(begin) && words.name != program &&
        !(words.name == "wsl-gpt" && std::string_view(program) == "wsl-zoo"))
      throw std::invalid_argument(fmt::format(
          "{}: train_input.data_processor {} is of a model that {} trains, not {}: {} --params {}",
          place(file, processor), processor.Scalar(), program, words.name, program, file));
}

/// Throws std::invalid_argument for a user's file of a model that another program trains.
void require_model_of(const program_words& words, const std::string& text, const std::string& file) {
  const YAML::Node root = parsed_params(text, file);
  if (!root.IsMap()) return;  // of which the reader speaks
  const std::string name = model_named_in(root);
  const zoo_model* const model = name.empty() ? zoo_model_of_path(file) : zoo_model_of(name);
  if (name.empty() && !model) return require_processor_of(words, root, file);
  if (!model || !*model->program || words.name == model->program) return;
  if (words.name == "wsl-gpt" && std::string_view(model->program) == "wsl-zoo") return;  // some of its models
  throw std::invalid_argument(fmt::format("{}: this file is of {}{}, which {} trains, not {}: {} --params {}",
                                          file, model->name, name.empty() ? ", by its folder" : "",
                                          model->program, words.name, model->program, file));
}

/// A note if a user's file says another mode than the command line.
std::string note_of_mode(const fields& f, const std::string& mode) {
  for (const field& x : f.all()) {
    if (x.full_name() != "runconfig.mode" || !f.is_of_user() || x.given.empty() || x.text() == mode) continue;
    if (mode == "fit" && x.text() == "train_and_eval") continue;
    return f.words().said(
        fmt::format("runconfig.mode {} has no effect here: the command line says {}", x.text(), mode));
  }
  return "";
}

words_of_file words_in_use;

}  // namespace

const words_of_file& words_of_params() { return words_in_use; }

void take_model_name(fields& f, const std::string& model) {
  for (field* x : f.named("model.name"))
    if (x->given.empty() && std::find(x->choices.begin(), x->choices.end(), model) != x->choices.end())
      f.read_option(*x, model, "the folder of the file");
}

void say_values_not_given(fields& f, const std::string& program, bool by_name) {
  if (!f.is_of_user() || !ranks::root()) return;
  const words_of_file as = f.words();
  for (const field& x : f.all())
    if ((x.given != default_of_zoo) == by_name && !note_of_default(x, f).empty())
      std::fprintf(stderr, "%s: %s is %s, %s%s: %s does not give it\n", program.c_str(),
                   as.in_its_names(x.full_name()).c_str(), x.text().c_str(), by_name ? "by " : "",
                   x.given.c_str(), as.file.c_str());
}

std::optional<std::string> parse(int argc, char** argv, const program_words& words, fields& f, int& status) {
  CLI::App app(words.about, words.name);
  std::string file, mode;
  std::vector<given_option> given;
  bool lists = false;
  app.add_option("-p,--params", file, "a params.yaml, or one of " + names_of(words))->type_name("FILE|NAME");
  app.add_flag("--show_params", lists, "print the configuration as it is after all options, and stop");
  declare(app, f, given);
  require_fields_of(words.options, f);
  for (const auto& [name, help] : words.modes)
    app.add_subcommand(name, help)
        ->fallthrough()
        ->allow_extras()
        ->footer(own_options(f, name) + "with any of the options of " + words.name + " --help");
  app.footer(
      "--cluster HOST:PORT|FOLDER submits the same command to a cluster, with --job_priority, --job_labels "
      "and --job_time_sec\n"
      "if they are given, and follows its log: see docs/guide/cluster.md.");
  app.require_subcommand(0, 1)->allow_extras();
  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return status = 1, std::nullopt;
  }
  if (!app::parse(app, argc, argv, "mode", status)) return {};
  if (!app.get_subcommands().empty()) mode = app.get_subcommands().front()->get_name();

  if (const std::string of_run = params_of_run(words, mode, f, given); file.empty()) {
    file = of_run;
    if (!file.empty() && ranks::root())
      std::fprintf(stderr, "%s: with %s\n", words.name.c_str(), file.c_str());
  }
  const std::string checkpoint = file.empty() ? checkpoint_with_params(words, mode, given) : "";
  const auto [name, text] =
      checkpoint.empty() ? configuration(words, file) : std::pair(checkpoint, fact_of(checkpoint, "params"));
  const bool is_of_user = checkpoint.empty() && !is_bundled(words, name) && !text.starts_with(params_of);
  if (is_of_user) require_model_of(words, text, name);
  f.read(text, name);
  if (const zoo_model* const model = zoo_model_of_path(name); model) {
    take_model_name(f, model->name);
    const std::vector<field*> is_called = f.named("model.name");
    if (ranks::root() && !is_called.empty() && is_called.front()->given == "the folder of the file")
      std::fprintf(stderr, "%s: %s is %s, by the folder of %s\n", words.name.c_str(),
                   f.words().in_its_names("model.name").c_str(), model->name, name.c_str());
  }
  // An option that names one section overrides an option that sets all of them.
  for (const bool several : {true, false})
    for (const given_option& o : given)
      if ((o.where.size() > 1) == several)
        for (field* x : o.where) f.read_option(*x, o.value, o.name);
  if (is_of_user) {
    take_defaults_of_zoo(f);
    if (!lists) say_values_not_given(f, words.name, false);
  }
  if (lists) {
    say_own_defaults(f);
    std::fputs(f.text().c_str(), stdout);
    return {};
  }
  f.check();
  for (const std::string& note : f.notes())
    if (ranks::root()) std::fprintf(stderr, "%s: %s\n", words.name.c_str(), note.c_str());
  words_in_use = f.words();
  require_own_checkpoint(*std::get<std::string*>(f.named("runconfig.checkpoint_path").front()->where),
                         words.name);
  if (const std::string note = mode.empty() ? "" : note_of_mode(f, mode); !note.empty() && ranks::root())
    std::fprintf(stderr, "%s: %s\n", words.name.c_str(), note.c_str());
  if (mode.empty() && !f.named("mode").empty() && f.named("mode").front()->text() != "null")
    mode = f.named("mode").front()->text();
  if (mode.empty())
    throw std::invalid_argument("what is there to do? " + words.name + " " + words.modes.front().first +
                                ", for instance; see --help");
  require_options_of(mode, words, given);
  if (const field& rate = *f.named("optimizer.learning_rate").front(); is_read_by(mode, rate, words.options))
    require_rate(f);
  take_roles(words, mode, f);
  const bool has_model = std::any_of(given.begin(), given.end(), [&](const given_option& o) {
    return o.where.front()->name == words.model_option;
  });
  const bool begins = mode == "train" || mode == "train_and_eval" || mode == "validate" || mode == "compile";
  if (has_model && begins && checkpoint.empty() && file.empty() && ranks::root())
    std::fprintf(stderr, "%s: with the settings of %s, but for the model of --%s; --params names others\n",
                 words.name.c_str(), name.c_str(), words.model_option.c_str());
  return mode;
}

}  // namespace train_app
