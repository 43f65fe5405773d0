// SPDX-License-Identifier: MIT
// The fields of a params file, declared once: their sections, names, types and limits, and the variables for
// their values. Values from a YAML file (the V1 or V2 form of the Cerebras Model Zoo) and from the command
// line are checked by the same declaration, which also gives each mistake a sentence of its own:
// params.yaml:14: model.hiden_size is no field; the nearest is hidden_size
#pragma once
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>
#include <wsl/core/scalar.hpp>

namespace YAML {
class Node;
}

namespace train_app {

class mistakes;

using wsl::f64;
using wsl::i64;

/// A part of a learning-rate schedule, as written in the file.
struct rate_part {
  std::string scheduler = "Constant", mode = "triangular", anneal_strategy = "cos";
  f64 learning_rate = 0, initial_learning_rate = 0, end_learning_rate = 0, power = 1, decay_rate = 1,
      step_exponent = 1, scale = 1, gamma = 1, coefficient = 1;
  f64 base_lr = 0, max_lr = 0, eta_min = 0, pct_start = 0.3, final_div_factor = 1e4;
  i64 total_iters = 0, warmup_steps = 0, step_size = 0, step_size_up = 2000, step_size_down = 0, t_max = 0,
      t_0 = 0, t_mult = 1, total_steps = 1000;
  bool staircase = false, three_phase = false;
  std::vector<i64> milestones = {};
  std::vector<f64> learning_rates = {};
};
using rate_parts = std::vector<rate_part>;

/// A number, or a list of numbers, as written in the file; empty: not given.
struct one_or_more {
  std::vector<f64> numbers = {};
};

/// Words, as written in the file: a list of them, or one text with commas between them.
struct word_list {
  std::vector<std::string> words = {};
};

/// A number of samples, or `auto`, as written in the file; 0: not given.
struct size_or_auto {
  int size = 0;
  bool is_auto = false;

  bool is_given() const { return size > 0 || is_auto; }
};

/// The settings of a group of parameters, as written in the file. Numbers below 0 and empty lists were not
/// given.
struct group_part {
  std::vector<std::string> patterns = {};
  f64 learning_rate_factor = -1, weight_decay = -1, momentum = -1, eps = -1;
  std::vector<f64> betas = {};
};
using group_parts = std::vector<group_part>;

/// A number that was not given, where any that may be is allowed.
constexpr f64 not_given = 1e301;

/// A number that follows a schedule, as written in the file: a number, a list of them, or a map with the type
/// of the schedule. An empty type: not given.
struct schedule_part {
  std::string type = {};
  f64 value = not_given, init = not_given, slope = not_given, gamma = not_given, final = not_given,
      beta = not_given, half_period = not_given, minimum = not_given;
  std::vector<f64> values = {};

  bool is_given() const { return !type.empty(); }
};

/// The steps of updates, as written in the file. Numbers below 0 and empty lists were not given.
struct update_part {
  i64 freq = -1, start = -1, stop = -1;
  std::vector<i64> steps = {};

  bool is_given() const { return freq >= 0 || start >= 0 || stop >= 0 || !steps.empty(); }
};

/// The sparsity of a group of parameters, as written in the file.
struct sparsity_part {
  schedule_part sparsity = {};
  std::string algorithm = "static", init_method = "random";
  update_part update = {};
  schedule_part drop_fraction = {};
  word_list param_filter = {};
  int balance_in_groups = 0, balance_out_groups = 0;
  i64 seed = -1;
  std::string where = {};  ///< the file and line of a part of a list
};
using sparsity_parts = std::vector<sparsity_part>;
/// The words for them, in the order of ml::sparsity::algorithm and ml::sparsity::init_method.
const std::vector<std::string>& sparsity_algorithms();
const std::vector<std::string>& sparsity_init_methods();

/// How weights begin: a word, or a map with the word as its name, as written in the file.
struct initializer_part {
  std::string name = "glorot_uniform";
  f64 gain = 1;
};
/// A normal distribution of initial weights, or a truncated one, as written in the file.
struct normal_part {
  std::string name = {};     ///< empty: not given
  f64 mean = 0, std = 0.05;  ///< std: the standard deviation, with the usual value of the Zoo
  f64 a = 1, b = -1;         ///< the bounds of a truncated one; numbers of these signs: 2 std from 0
};
/// One of several data, as written in the file.
struct mixture_source {
  std::string data_dir = {};  ///< a path, or a list of them as `words_of_list` takes
  f64 weight = 1;
  std::string data_subset = {};
};
using mixture_parts = std::vector<mixture_source>;
/// The words of a list as one text, "[a, b]"; another text is one word, and an empty one none.
std::vector<std::string> words_of_list(const std::string& text);
using numbers_by_name = std::vector<std::pair<std::string, f64>>;

struct field {
  using target =
      std::variant<std::monostate, bool*, int*, i64*, f64*, std::string*, std::vector<i64>*,
                   std::vector<f64>*, std::vector<std::string>*, word_list*, one_or_more*, size_or_auto*,
                   rate_parts*, group_parts*, initializer_part*, normal_part*, mixture_parts*,
                   numbers_by_name*, schedule_part*, update_part*, sparsity_parts*>;

  std::string section, name, help;
  /// the variable for the value; none: a field that is accepted and has no effect here
  target where;
  std::function<void()> reset = [] {};  ///< restores the default value
  std::vector<std::string> old_names = {};
  std::vector<std::string> choices = {};  ///< the allowed words; empty: any
  f64 least = -1e300, most = 1e300;
  bool above_least = false;
  bool may_be_null = false;  ///< a word that is usually none, which the option null stands for
  /// a word that may be a list of some, kept as one text (`words_of_list`), or a list that may be one word
  bool may_be_list = false;
  bool is_kept = true;    ///< it is stored in the params of a run, from which the run can be resumed
  std::string kind = {};  ///< the kind of values of a field without effect, from `no_effect`
  std::string why = {};   ///< the reason why a field has no effect, or why other values are refused
  /// the source of the value: a file and line, or an option; empty: the default
  std::string given = {};
  std::string null_at = {};  ///< the file and line that name it without a value; empty: none do

  field& at_least(f64 n) { return least = n, *this; }
  field& above(f64 n) { return least = n, above_least = true, *this; }
  field& at_most(f64 n) { return most = n, *this; }
  field& one_of(std::vector<std::string> words) { return choices = std::move(words), *this; }
  field& of_one_command() { return is_kept = false, *this; }
  field& once_called(std::string old) { return old_names.push_back(std::move(old)), *this; }

  std::string full_name() const { return section.empty() ? name : section + "." + name; }
  /// The value as YAML.
  std::string text() const;
};

/// What a params file calls its fields, and where it gives them: with it the sentences of a run, which know
/// neither, name both.
struct words_of_file {
  std::string file = {};         ///< empty: none has been read
  bool is_trainer_form = false;  ///< it has the V2 form
  std::map<std::string, std::string> places =
      {};  ///< by full names: a file and line, or an option; may be empty
  std::map<std::string, std::string> names = {};  ///< by full names: those of the V2 form
  /// by what the file gives as a path: the place and the name of the field
  std::map<std::string, std::pair<std::string, std::string>> paths = {};
  std::string optimizer = {};  ///< the type of the optimizer, as a V2 file has it

  /// A sentence that begins with the full name of a field, behind the place that gave it; if the field is
  /// missing, behind the file's name. Names of the V1 form become those of the file.
  std::string said(const std::string& sentence) const;
  /// The same without a place.
  std::string in_its_names(const std::string& sentence) const;
  /// A sentence about a file or a folder that is not there, or not as it must be, with the place that names
  /// it.
  std::string said_of_file(const std::string& sentence) const;
};

class fields {
 public:
  /// The fields that follow belong to this section.
  void section(std::string name) { sections_.push_back(now_ = std::move(name)); }
  /// A map of that name inside of a section is read as fields of the section `as`, behind the others, with
  /// which it must agree unless it `overrides` them.
  void nested(std::string section, std::string name, std::string as, bool overrides = false) {
    nested_.push_back({std::move(section), std::move(name), std::move(as), overrides});
  }
  /// A section of a file may also be a list, or a single value: then it is that of these fields.
  void short_forms(std::string section, std::string of_list, std::string of_value) {
    short_forms_.push_back({std::move(section), std::move(of_list), std::move(of_value)});
  }
  /// The fields that follow are options of the command line, no part of a file.
  void options_of(std::string mode) { now_ = std::move(mode); }
  template <class T>
  field& add(std::string name, T& target, std::string help) {
    field& f = all_.emplace_back(field{.section = now_,
                                       .name = std::move(name),
                                       .help = std::move(help),
                                       .where = &target,
                                       .reset = [&target, first = target] { target = first; }});
    if constexpr (std::is_same_v<T, std::string>) f.may_be_null = target.empty();
    if constexpr (std::is_same_v<T, word_list>) f.may_be_null = target.words.empty();
    return f;
  }
  /// Fields that occur in files and change no result here, whatever their value; a note says so, with the
  /// reason, when one is given. `kind` is "true or false", "a number", "a word", "a list" or "anything", and
  /// other values are refused.
  void no_effect(const std::string& kind, std::initializer_list<const char*> names, const std::string& why);
  /// The same for a field of which only these words are known, in small or capital letters.
  void no_effect_of_words(const char* name, std::vector<std::string> words, const std::string& why);
  /// A field of which only these values are accepted, because the program behaves so in any case; another
  /// value would change the result, and is refused, with the reason if one is given.
  void honours(const char* name, std::vector<std::string> values, const std::string& why = {});
  /// A section of files that changes no result here; a note says so.
  void no_effect_of_section(std::string name, std::string why) {
    ignored_sections_.emplace_back(std::move(name), std::move(why));
  }
  /// Adds a function that comments on the values when all are known; an empty text is no comment.
  void remark(std::function<std::string()> f) { remarks_.push_back(std::move(f)); }

  /// Adds a function that sets fields which a params file of the Model Zoo does not give and whose default
  /// there is another: see take_defaults_of_zoo.
  void in_the_zoo(std::function<void(fields&)> f) { of_zoo_.push_back(std::move(f)); }
  const std::vector<std::function<void(fields&)>>& in_the_zoo() const { return of_zoo_; }

  /// Adds a function that throws std::invalid_argument for options that contradict each other; it is called
  /// when all values are known.
  void refuses(std::function<void()> f) { refusals_.push_back(std::move(f)); }
  /// Calls those functions. Throws invalid_params with all that they say.
  void check() const;

  /// Reads a file's text, in the V1 or in the V2 form of the Model Zoo. Throws invalid_params with all
  /// mistakes, each with the file's name and the line.
  void read(const std::string& text, const std::string& file);
  /// Reads one section of a file's text, and of the others nothing. Throws the same.
  void read_part(const std::string& text, const std::string& file, const std::string& section);
  /// Reads the value after `option` on the command line; null removes the value that a file gave, and
  /// is no word where the help shows [null].
  void read_option(field& f, const std::string& value, const std::string& option);
  /// Reads the fields of one section from a map.
  void read_section(const YAML::Node& map, const std::string& section, const std::string& file);

  std::vector<field>& all() { return all_; }
  const std::vector<field>& all() const { return all_; }
  /// The fields of that name, in one section or several; for "section.name" exactly that field.
  std::vector<field*> named(std::string_view name);
  /// Whether there is a field of that name to which something gave its value.
  bool is_given(std::string_view name) {
    const std::vector<field*> all = named(name);
    return !all.empty() && !all.front()->given.empty();
  }
  /// Whether the command line gave the only field of that name.
  bool is_asked(std::string_view name) { return named(name).front()->given.starts_with("--"); }
  /// All values, as a file.
  std::string text() const;
  /// The values that a run stores so that it can be resumed.
  std::string kept_text() const;
  /// Notes for the user about the fields that were read.
  std::vector<std::string> notes() const;
  /// Those of them about settings that have no effect here.
  const std::vector<std::string>& ignored() const { return notes_; }
  /// "file:3: a, b have <what>" of those of the fields of these full names that something has given; empty:
  /// none has.
  std::string note_of_given(std::initializer_list<const char*> names, const std::string& what) const;
  /// The names and places of the fields in the file that was read last.
  words_of_file words() const;
  /// Whether the params are those of a user's file, not a configuration of the program or those of a run; set
  /// by take_defaults_of_zoo.
  bool is_of_user() const { return is_of_user_; }
  void set_of_user() { is_of_user_ = true; }
  /// Whether the file that was read last names a field of that section, with a value or without.
  bool file_names_section(std::string_view section) const;
  /// The place of a field in the file that was read last, or the file's name; empty: there is none.
  std::string place_in_file(std::string_view full_name) const;

 private:
  std::string text_of(bool (*wanted)(const field&)) const;

  struct nested_map {
    std::string section, name, as;
    bool overrides = false;
  };
  struct short_form {
    std::string section, of_list, of_value;
  };
  void read_value_of_section(const YAML::Node& content, const std::string& section, const std::string& file);
  void read_maps_of(const YAML::Node& map, const std::string& section, const std::string& file,
                    bool overrides, int depth);
  void read_named(const std::string& name, const YAML::Node& value, const std::string& section,
                  const std::string& file, bool overrides);
  void read_sections(const YAML::Node& root, const std::string& file, mistakes& found);

  std::string now_, file_, optimizer_in_file_;
  bool is_of_user_ = false, is_trainer_form_ = false;
  std::map<std::string, std::string> names_in_file_;
  std::vector<std::string> sections_, notes_;
  std::vector<nested_map> nested_;
  std::vector<short_form> short_forms_;
  std::vector<std::pair<std::string, std::string>> ignored_sections_;
  std::vector<std::function<std::string()>> remarks_;
  std::vector<std::function<void()>> refusals_;
  std::vector<std::function<void(fields&)>> of_zoo_;
  std::vector<field> all_;
};

}  // namespace train_app
