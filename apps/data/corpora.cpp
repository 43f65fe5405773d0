// SPDX-License-Identifier: MIT
#include "corpora.hpp"

#include <fmt/format.h>

#include <chrono>
#include <wsl/ml/data/corpus/deduplicate.hpp>
#include <wsl/ml/data/corpus/normalize.hpp>
#include <wsl/ml/data/corpus/shuffle.hpp>
#include <wsl/ml/data/corpus/statistics.hpp>
#include <wsl/support/progress.hpp>

#include "../command_line.hpp"
#include "../memory.hpp"

namespace data_app {
namespace {
using namespace wsl;
using namespace wsl::ml;

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

/// The values of all options.
struct corpus_options {
  std::vector<std::string> in;
  std::string out, form = "nfc", tokenizer;
  corpus_form documents;
  deduplication dedup;
  shuffling shuffle;
  normalizing normal;
  pass_settings pass;
  std::optional<u64> memory;
  bool verbose = false, by_bands = false;
};

/// Shows the parts of a long piece of work on stderr, and measures them.
class display {
 public:
  void begin(const std::string& what, u64 total) {
    end();
    what_ = what.substr(0, what.find(':')), since_ = std::chrono::steady_clock::now();
    shown_.emplace(what, total);
  }
  void advance(u64 steps) { shown_->tick(steps); }
  void end() {
    if (!shown_) return;
    const std::chrono::duration<f64> took = std::chrono::steady_clock::now() - since_;
    times_ += fmt::format("{}{} {:.2f} s", times_.empty() ? "" : ", ", what_, took.count());
    seconds_ += took.count();
    shown_.reset();
  }
  const std::string& times() const { return times_; }
  f64 seconds() const { return seconds_; }

 private:
  std::optional<support::progress> shown_;
  std::string what_, times_;
  std::chrono::steady_clock::time_point since_;
  f64 seconds_ = 0;
};

f64 rate(u64 bytes, f64 seconds) { return static_cast<f64>(bytes) / 1e6 / std::max(seconds, 1e-9); }

/// The MB/s at which one thread reads the files and hashes their bytes: the least that such work takes.
f64 floor_rate(const corpus& in) {
  const auto since = std::chrono::steady_clock::now();
  support::fingerprint hash;
  in.each([&](const document& d) { hash.add(d.bytes.data(), d.bytes.size()); });
  const std::chrono::duration<f64> took = std::chrono::steady_clock::now() - since;
  // the hash is said so that it is computed
  std::fprintf(stderr, "hash of all documents: %016llx\n", static_cast<unsigned long long>(hash.value()));
  return rate(in.bytes(), took.count());
}

std::string part(i64 n, i64 of) {
  return fmt::format("{} ({:.2f} %)", n, 100. * static_cast<f64>(n) / static_cast<f64>(std::max<i64>(of, 1)));
}
std::string left_out(i64 invalid) {
  return invalid ? fmt::format("  {} invalid documents are left out\n", invalid) : "";
}

void deduplicate_files(corpus_options& o) {
  const corpus in(o.in, o.documents);
  display shown;
  o.dedup.skip_invalid = o.pass.skip_invalid, o.dedup.threads = o.pass.threads;
  o.dedup.compared = !o.by_bands;
  o.dedup.memory = o.memory.value_or(static_cast<u64>(app::memory_there() / 2));
  o.dedup.begins = [&](const char* what, u64 total) { shown.begin(what, total); };
  o.dedup.advances = [&](u64 steps) { shown.advance(steps); };
  const deduplication_report r = deduplicate(in, o.out, o.dedup);
  shown.end();
  print(fmt::format("{}: {} of {} documents are kept\n  {} near duplicates in {} sets, {} are shorter than "
                    "{} characters\n",
                    o.out, r.kept(), r.documents, part(r.duplicates, r.documents), r.sets,
                    part(r.too_short, r.documents), o.dedup.least_length) +
        left_out(r.invalid) +
        fmt::format("  {} of {} are kept; removed.jsonl lists the rest\n",
                    app::size_text(static_cast<f64>(r.kept_bytes)),
                    app::size_text(static_cast<f64>(r.bytes))));
  if (!o.verbose) return;
  const f64 least = floor_rate(in);
  print(fmt::format(
      "  {} bands of {} rows; signatures take {}, {} of it on the disk\n  {}\n  {:.1f} MB/s by {} "
      "threads; one thread reads and hashes {:.1f} MB/s\n",
      r.shape.bands, r.shape.rows, app::size_text(static_cast<f64>(r.signature_bytes)),
      app::size_text(static_cast<f64>(r.signature_bytes_on_disk)), shown.times(),
      rate(in.bytes(), shown.seconds()), team(o.pass.threads).threads(), least));
}

void shuffle_files(corpus_options& o) {
  const corpus in(o.in, o.documents);
  display shown;
  if (o.memory) o.shuffle.memory = *o.memory;
  o.shuffle.begins = [&](const char* what, u64 total) { shown.begin(what, total); };
  o.shuffle.advances = [&](u64 bytes) { shown.advance(bytes); };
  const shuffling_report r = shuffle_documents(in, o.out, o.shuffle);
  shown.end();
  print(fmt::format("{}: {} documents, sorted in {}\n", o.out, r.documents,
                    r.ranges == 1 ? "one part" : fmt::format("{} parts", r.ranges)));
}

/// The settings of a pass that is shown.
pass_settings shown_pass(const corpus_options& o, const corpus& in, display& shown, const char* what) {
  pass_settings pass = o.pass;
  shown.begin(what, in.bytes());
  pass.on_bytes = [&shown](u64 bytes) { shown.advance(bytes); };
  return pass;
}

void normalize_files(corpus_options& o) {
  const corpus in(o.in, o.documents);
  display shown;
  const std::map<std::string, unicode::form> forms{
      {"nfc", unicode::form::nfc}, {"nfd", unicode::form::nfd}, {"nfkc", unicode::form::nfkc}};
  o.normal.fixes.form = forms.at(o.form);
  o.normal.pass = shown_pass(o, in, shown, "repairing: bytes");
  const normalization_report r = normalize(in, o.out, o.normal);
  shown.end();
  print(fmt::format("{}: {} of {} documents are changed\n", o.out, r.changed, r.documents) +
        left_out(r.invalid));
  const std::pair<const char*, i64> counts[] = {
      {"characters of mojibake decoded", r.counts.mojibake},
      {"controls replaced by characters of Windows-1252", r.counts.c1},
      {"control characters removed", r.counts.controls},
      {"ends of lines made \\n", r.counts.line_ends},
      {"surrogates joined or replaced", r.counts.surrogates},
      {"quotes made straight", r.counts.quotes},
      {"entities replaced", r.counts.entities},
      {"texts brought to the normal form", r.counts.normalized}};
  for (const auto& [what, n] : counts)
    if (n) print(fmt::format("  {:>9} {}\n", n, what));
}

void print_spread(const char* what, const length_spread& s) {
  print(fmt::format("  {:<10} {:>14} {:>10.1f}", what, s.sum, s.mean()));
  for (const f64 p : {0., 0.05, 0.25, 0.5, 0.75, 0.95, 1.}) print(fmt::format(" {:>9}", s.percentile(p)));
  print("\n");
}

void print_statistics(const corpus_options& o) {
  const corpus in(o.in, o.documents);
  std::optional<tokenizer> by;
  if (!o.tokenizer.empty()) by.emplace(tokenizer::from_file(o.tokenizer));
  display shown;
  const pass_settings pass = shown_pass(o, in, shown, "counting: bytes");
  const corpus_statistics s = statistics_of(in, pass, by ? &*by : nullptr);
  shown.end();
  const i64 valid = s.documents - s.invalid;
  print(fmt::format("{} documents in {} files, {}\n", valid, in.files().size(),
                    app::size_text(static_cast<f64>(s.file_bytes))) +
        left_out(s.invalid) +
        fmt::format("  {} bytes of text; {} documents, {} bytes, are exactly as one before\n", s.bytes,
                    part(s.exact_duplicates, valid), s.duplicate_bytes) +
        fmt::format("  {:<10} {:>14} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "", "in all",
                    "mean", "least", "5 %", "25 %", "median", "75 %", "95 %", "most"));
  print_spread("characters", s.characters), print_spread("words", s.words);
  if (s.tokens) print_spread("tokens", *s.tokens);
  const auto last =
      std::find_if(s.words_histogram.rbegin(), s.words_histogram.rend(), [](i64 n) { return n > 0; });
  const i64 most = *std::max_element(s.words_histogram.begin(), s.words_histogram.end());
  print("  documents by their words\n");
  for (std::size_t k = 0; k < static_cast<std::size_t>(s.words_histogram.rend() - last); ++k) {
    const u64 from = k ? u64{1} << (k - 1) : 0, to = k ? (u64{1} << k) - 1 : 0;
    constexpr i64 width = 40;
    const i64 n = s.words_histogram[k];
    print(fmt::format(
        "  {:>9} to {:>9} {:>10} {}\n", from, to, n,
        std::string(static_cast<std::size_t>((n * width + most - 1) / std::max<i64>(most, 1)), '#')));
  }
}

}  // namespace

void declare_corpora(CLI::App& to, std::function<void()>& chosen) {
  const auto o = std::make_shared<corpus_options>();
  const auto command = [&](const char* name, const char* help, void (*f)(corpus_options&)) {
    CLI::App* c = to.add_subcommand(name, help);
    c->allow_extras()->callback([o, f, &chosen] { chosen = [o, f] { f(*o); }; });
    c->add_option("in", o->in, "files of objects in JSON (.jsonl) or of texts (.txt), or folders of them")
        ->required();
    c->add_option("--text_key", o->documents.text_key, "the field of an object that has the text")
        ->capture_default_str();
    c->add_flag("--sections", o->documents.sections,
                "empty lines divide a .txt into documents; otherwise it is one");
    return c;
  };
  const auto add_out = [&](CLI::App* c, const char* help) {
    c->add_option("--out", o->out, help)->required();
  };
  const auto add_pass = [&](CLI::App* c) {
    c->add_flag(
        "--skip_invalid", o->pass.skip_invalid,
        "leave out and count what is not UTF-8, no object, or without a text; otherwise it is refused");
    c->add_option("--threads", o->pass.threads, "0: one for each processor")
        ->check(CLI::Range(0, 4096))
        ->capture_default_str();
  };
  const auto add_memory = [&](CLI::App* c, const char* help) {
    c->add_option("--memory", o->memory, help)->transform(CLI::AsSizeValue(true));
  };

  CLI::App* d =
      command("deduplicate", "remove near duplicates, by MinHash as SlimPajama does", deduplicate_files);
  add_out(d, "the folder for the documents that are kept, and removed.jsonl");
  d->add_option("--threshold", o->dedup.threshold, "documents of this Jaccard similarity are near duplicates")
      ->capture_default_str();
  d->add_option("--width", o->dedup.width, "characters of a shingle")->capture_default_str();
  d->add_option("--permutations", o->dedup.permutations, "numbers of a signature")->capture_default_str();
  CLI::Option* bands = d->add_option("--bands", o->dedup.shape.bands,
                                     "bands of a signature; chosen for the threshold otherwise");
  CLI::Option* rows = d->add_option("--rows", o->dedup.shape.rows, "numbers of a band");
  bands->needs(rows), rows->needs(bands);
  d->add_flag(
      "--by_bands", o->by_bands,
      "documents with an equal band are duplicates without a comparison, as in SlimPajama (9 bands of 13)");
  d->add_option("--min_length", o->dedup.least_length,
                "remove texts with fewer characters, punctuation not counted; SlimPajama has 200")
      ->check(app::at_least(0))
      ->capture_default_str();
  d->add_option("--seed", o->dedup.seed, "of the permutations")->capture_default_str();
  add_memory(d, "for signatures and bands, such as 8g; half of what is there otherwise");
  d->add_flag("--verbose", o->verbose, "say the time of each part, and how fast the files can be read");
  add_pass(d);

  CLI::App* n = command("normalize", "repair texts, as ftfy does, and bring them to a normal form of Unicode",
                        normalize_files);
  add_out(n, "the file to write");
  n->add_option("--form", o->form, "the normal form")
      ->check(CLI::IsMember({"nfc", "nfd", "nfkc"}))
      ->capture_default_str();
  n->add_flag("--straight_quotes", o->normal.fixes.straight_quotes, "make curly quotes straight");
  n->add_flag("--entities", o->normal.fixes.entities, "replace entities such as &eacute; in texts without <");
  add_pass(n);

  CLI::App* s =
      command("shuffle", "put the documents into a random order, also of files larger than the memory",
              shuffle_files);
  add_out(s, "the folder for shuffled.jsonl or shuffled.txt");
  s->add_option("--seed", o->shuffle.seed, "the same seed gives the same order")->capture_default_str();
  add_memory(s, "for the documents that are sorted at a time; 1g otherwise");

  CLI::App* c = command("statistics", "count documents, characters, words, tokens and exact duplicates",
                        [](corpus_options& all) { print_statistics(all); });
  c->add_option("--tokenizer", o->tokenizer, "what tokenize takes; counts tokens, too");
  add_pass(c);
}

}  // namespace data_app
