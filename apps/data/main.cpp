// SPDX-License-Identifier: MIT
// wsl-data prints the contents of training files, turns text into tokens, draws digits, and converts between
// formats.
#include <cstdio>

#include "../command_line.hpp"
#include "commands.hpp"
#include "corpora.hpp"

namespace {
using namespace data_app;
using wsl::ml::token_format;

/// A command and the values of its options.
struct words {
  std::vector<std::string> paths;
  std::string in, out, model, vocabulary;
  long long train = 60000, test = 10000, from = 0, count = 200;
  unsigned long long seed = 1;
  tokenizing how;
  tokenizer_training training;
  example_conversion examples;
  encoding encoded;
  std::vector<int> ids;
  bool special = false;
  token_format form = token_format::llmc;
  std::string form_asked = {};  ///< of a conversion
  std::function<void()> chosen;
};

void add_form(CLI::App& to, token_format& form) {
  const std::map<std::string, token_format> forms{
      {"llmc", token_format::llmc}, {"llama3", token_format::llmc_llama3}, {"nanogpt", token_format::raw}};
  to.add_option_function<std::string>(
        "--form", [&form, forms](const std::string& word) { form = forms.at(word); },
        "of files of tokens: llmc (with a header, 16 bits a token), llama3 (32 bits) or nanogpt (16 bits, no "
        "header); llmc by default")
      ->check(CLI::IsMember({"llmc", "llama3", "nanogpt"}));
}

[[noreturn]] void refuse_tokenizer_command(const CLI::App& all) {
  if (const auto words = all.remaining(); !words.empty()) app::refuse_word(all, words.front(), "command");
  throw std::invalid_argument("what is there to do? wsl-data tokenizer show <file>, for instance");
}

void declare_tokenizer(CLI::App* all, words& w) {
  all->require_subcommand(0, 1)->callback([all] {
    if (all->get_subcommands().empty()) refuse_tokenizer_command(*all);
  });
  const auto command = [&](const char* name, const char* help, std::function<void()> f) {
    CLI::App* c = all->add_subcommand(name, help);
    c->allow_extras()->callback([&w, f] { w.chosen = f; });
    return c;
  };
  CLI::App* t =
      command("train", "train a byte pair encoding over bytes on texts, and write its tokenizer.json",
              [&w] { train_tokenizer(w.training); });
  t->add_option("text", w.training.texts, "files in UTF-8")->required();
  t->add_option("--out", w.training.out, "the tokenizer.json to write")->required();
  t->add_option("--size", w.training.size, "tokens, the special ones included")->capture_default_str();
  t->add_option("--special", w.training.special, "special tokens, which have the first numbers");
  t->add_option("--words", w.training.words, "how texts are divided into words: as for gpt2 or as for llama3")
      ->check(CLI::IsMember({"gpt2", "llama3"}))
      ->capture_default_str();
  t->add_flag(
      "--chat", w.training.chats,
      "for a model that answers: with the tokens <|im_start|> and <|im_end|>, and beside the file a "
      "chat template, ChatML, in tokenizer_config.json and what ends a text in generation_config.json");
  t->add_option("--least-count", w.training.least_count, "a pair that is rarer does not become a token")
      ->check(app::at_least(0))
      ->capture_default_str();

  const char* of = "a tokenizer.json, a SentencePiece model, or a folder of either or of GPT-2's files";
  CLI::App* e =
      command("encode", "print the tokens of a text, or write those of a file", [&w] { encode(w.encoded); });
  e->add_option("tokenizer", w.encoded.tokenizer, of)->required();
  CLI::Option* text =
      e->add_option("--text", w.encoded.text, "the text itself")->each([&w](const std::string&) {
        w.encoded.has_text = true;
      });
  CLI::Option* file = e->add_option("--in", w.encoded.file, "a file in UTF-8")->excludes(text);
  e->add_option("--out", w.encoded.out, "the file of tokens to write, instead of printing them")->needs(file);
  e->add_flag("!--no-add-special", w.encoded.add_special, "without the special tokens around a text");
  e->add_flag("!--no-match-special", w.encoded.match_special, "special tokens in the text are text, too");
  add_form(*e, w.encoded.form);

  CLI::App* d = command("decode", "print the text of tokens",
                        [&w] { decode(w.encoded.tokenizer, w.ids, w.in, w.special); });
  d->add_option("tokenizer", w.encoded.tokenizer, of)->required();
  CLI::Option* ids = d->add_option("ids", w.ids, "the numbers of tokens");
  d->add_option("--in", w.in, "a file of tokens")->excludes(ids);
  d->add_flag("--keep-special", w.special, "with the special tokens");

  CLI::App* s = command("show", "say what a tokenizer is", [&w] { show_tokenizer(w.encoded.tokenizer); });
  s->add_option("tokenizer", w.encoded.tokenizer, of)->required();
}

/// --form of `convert`: that of tokens, or that of examples.
void add_form_of_conversion(CLI::App& to, words& w) {
  const std::map<std::string, token_format> of_tokens{
      {"llmc", token_format::llmc}, {"llama3", token_format::llmc_llama3}, {"nanogpt", token_format::raw}};
  const std::map<std::string, example_form> of_examples{
      {"gpt", example_form::gpt}, {"bert", example_form::bert}, {"t5", example_form::t5}};
  to.add_option_function<std::string>(
        "--form",
        [&w, of_tokens, of_examples](const std::string& word) {
          w.form_asked = word;
          if (const auto form = of_tokens.find(word); form != of_tokens.end()) w.form = form->second;
          else w.examples.form = of_examples.at(word);
        },
        "of files of tokens: llmc (with a header, 16 bits a token), llama3 (32 bits) or nanogpt (16 bits, no "
        "header), llmc by default; of examples in HDF5: gpt, for language models, bert, with hidden words, "
        "or t5, "
        "with spans left out, gpt by default")
      ->check(CLI::IsMember({"llmc", "llama3", "nanogpt", "gpt", "bert", "t5"}));
}

/// Throws std::invalid_argument for an option of `convert` that the form does not read.
void check_form(const CLI::App& c, const words& w) {
  const bool is_examples = w.examples.length > 0;
  const std::string form = w.form_asked.empty() ? is_examples ? "gpt" : "llmc" : w.form_asked;
  const bool is_of_examples = form == "gpt" || form == "bert" || form == "t5";
  if (is_examples != is_of_examples)
    throw std::invalid_argument(is_examples
                                    ? "--form " + form +
                                          " is of files of tokens, and --max_seq_length of examples: leave "
                                          "one of them out"
                                    : "--form " + form + " is of examples: give --max_seq_length");
  const std::map<std::string, std::string> readers{{"--text_key", "gpt"},
                                                   {"--prompt_key", "gpt"},
                                                   {"--completion_key", "gpt"},
                                                   {"--sep_token", "gpt"},
                                                   {"--no-pack", "gpt"},
                                                   {"--lines", "gpt"},
                                                   {"--min_sequence_len", "gpt"},
                                                   {"--eos_token", "gpt, t5"},
                                                   {"--pad_token", "gpt, t5"},
                                                   {"--seed", "bert, t5"},
                                                   {"--do_lower", "bert, t5"},
                                                   {"--masked_lm_prob", "bert"},
                                                   {"--mask_whole_word", "bert"},
                                                   {"--next_sentences", "bert"},
                                                   {"--max_predictions_per_seq", "bert"},
                                                   {"--mlm_with_gather", "bert"},
                                                   {"--tgt_max_sequence_length", "t5"},
                                                   {"--extra_ids", "t5"},
                                                   {"--pack_sequences", "t5"},
                                                   {"--sos_token", "t5"},
                                                   {"--oov_token", "t5"}};
  for (const auto& [option, forms] : readers)
    if (c.count(option) && is_examples && forms.find(form) == std::string::npos)
      throw std::invalid_argument(option + " is of --form " + forms + ", and this one is " + form +
                                  ": leave it out");
}

void declare_examples(CLI::App& c, example_conversion& e) {
  CLI::Option* length = c.add_option("--max_seq_length", e.length,
                                     "tokens of an example: text (.txt), .jsonl, .csv or .tsv, or a folder "
                                     "of them, becomes examples in "
                                     "HDF5, <name>-1.h5 and so on, with data_params.json and the vocabulary")
                            ->check(CLI::Range(1, 1 << 20));
  const auto option = [&](const char* name, auto& to, const char* help) {
    return c.add_option(name, to, help)->needs(length);
  };
  option("--tokenizer", e.tokenizer, "what `tokenize` takes; otherwise tokens are characters");
  option("--name", e.name, "the files begin with it")->capture_default_str();
  option("--samples_per_file", e.samples_per_file, "examples of a file")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  option("--text_key", e.text_key, "the column with the documents")->capture_default_str();
  CLI::Option* completion = option("--completion_key", e.completion_key,
                                   "the column with completions, which alone count in the loss");
  completion->needs(option("--prompt_key", e.prompt_key,
                           "the column with prompts, each of which begins an example with its completion")
                        ->needs(completion));
  option("--eos_token", e.eos_token,
         "the token behind a document or a completion; otherwise the tokenizer's");
  option("--pad_token", e.pad_token, "the token of padding; otherwise that which ends a document");
  option("--sep_token", e.sep_token, "a token between a prompt and its completion; otherwise none");
  option("--min_sequence_len", e.least, "examples with fewer tokens are left out")
      ->check(app::at_least(2))
      ->capture_default_str();
  c.add_flag("!--no-pack", e.packs, "each document begins an example, with padding behind it")->needs(length);
  c.add_flag("--lines", e.lines, "each line of a text is a document, not each file")->needs(length);
  c.add_flag("!--no-compression", e.gzip, "without gzip")->needs(length);
  option("--seed", e.seed, "bert and t5: of what is hidden or left out")->capture_default_str();
  c.add_flag("--do_lower", e.do_lower, "bert and t5: a list of tokens is of lower case")->needs(length);
  option("--masked_lm_prob", e.masked_lm_prob, "bert: the part of the tokens that is hidden")
      ->capture_default_str();
  option("--max_predictions_per_seq", e.max_predictions_per_seq,
         "bert: the most tokens of an example that are hidden; otherwise as many as masked_lm_prob says")
      ->check(CLI::Range(1, 1 << 20));
  c.add_flag("--mask_whole_word", e.mask_whole_word, "bert: with one token of a word all of it is hidden")
      ->needs(length);
  c.add_flag("--next_sentences", e.next_sentences, "bert: pairs of texts, with next_sentence_label")
      ->needs(length);
  c.add_flag("--mlm_with_gather", e.gathers, "bert: labels of the hidden places alone, and these places")
      ->needs(length);
  option("--tgt_max_sequence_length", e.target_length,
         "t5: tokens that are written; otherwise as many as texts of --max_seq_length tokens need")
      ->check(CLI::Range(2, 1 << 20));
  option("--extra_ids", e.extra_ids, "t5: sentinels behind the vocabulary")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  c.add_flag("--pack_sequences", e.pack_sequences, "t5: an example may have text of several documents")
      ->needs(length);
  option("--sos_token", e.sos_token, "t5: the token with which the decoder begins")->capture_default_str();
  option("--oov_token", e.oov_token, "t5: the token for what has none")->capture_default_str();
}

void declare(CLI::App& app, words& w) {
  app.require_subcommand(0, 1)->allow_extras();
  const auto command = [&](const char* name, const char* help) {
    CLI::App* c = app.add_subcommand(name, help);
    return c->allow_extras(), c;
  };
  const auto does = [&w](CLI::App* c, std::function<void()> f) { c->callback([&w, f] { w.chosen = f; }); };
  CLI::App* i = command("inspect", "say what is in files and folders");
  i->add_option(
       "path", w.paths,
       "files of IDX (.gz or not), safetensors, HDF5, tokens, models and states of llm.c, tokenizers, text; "
       "folders of MNIST, tokens, tokenizers and Hugging Face")
      ->required();
  i->add_option("--model", w.model, "the model of a debug state of llm.c");
  does(i, [&w] { inspect(w.paths, w.model); });

  CLI::App* t = command("tokenize", "make train.bin and val.bin of a text");
  t->add_option("text", w.how.text, "a file in UTF-8")->required();
  t->add_option("--out", w.how.out, "the folder for the files")->required();
  t->add_option(
      "--tokenizer", w.how.tokenizer,
      "a tokenizer.json, a SentencePiece model, or the folder of one of them or of GPT-2's "
      "encoder.json and vocab.bpe; otherwise tokens are characters, and vocab.json has their numbers");
  t->add_flag("--sections", w.how.sections,
              "begin each section, after an empty line, with the token that ends a text, as llm.c does")
      ->needs("--tokenizer");
  CLI::Option* part = t->add_option("--train", w.how.train,
                                    "the part of the text that is for training; the rest is for validation")
                          ->check(CLI::Range(0., 1.))
                          ->capture_default_str();
  t->add_option("--validation-tokens", w.how.validation,
                "instead of a part: so many tokens at the beginning are for validation, as llm.c's 32768")
      ->check(app::at_least(0))
      ->excludes(part);
  add_form(*t, w.how.form);
  does(t, [&w] { tokenize(w.how); });

  declare_tokenizer(command("tokenizer", "train a tokenizer, encode and decode with one, show one"), w);

  CLI::App* s = command("say", "print tokens as text");
  s->add_option("tokens", w.in, "a file of tokens")->required();
  s->add_option(
      "--vocabulary", w.vocabulary,
      "vocab.json of characters, or what tokenize takes as --tokenizer; the vocab.json beside the file if it "
      "is not given");
  s->add_option("--from", w.from, "the first token")->check(app::at_least(0))->capture_default_str();
  s->add_option("--count", w.count, "how many tokens")->check(app::at_least(0))->capture_default_str();
  does(s, [&w] { say(w.in, w.vocabulary, w.from, w.count); });

  CLI::App* d = command("digits", "draw digits, in the four files of MNIST");
  d->add_option("--out", w.out, "the folder for the files")->required();
  d->add_option("--train", w.train, "images for training")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  d->add_option("--test", w.test, "images for testing")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  d->add_option("--seed", w.seed, "the same seed draws the same images")->capture_default_str();
  does(d, [&w] { draw(w.train, w.test, w.seed, w.out); });

  CLI::App* c = command("convert",
                        "a model between llm.c (.bin) and Hugging Face (a folder); tokens to another form; "
                        "IDX from .gz to none; with --max_seq_length texts to examples in HDF5");
  c->add_option("in", w.in, "what to convert, known by its content")->required();
  c->add_option("out", w.out, "the file or folder to write")->required();
  add_form_of_conversion(*c, w);
  declare_examples(*c, w.examples);
  does(c, [&w, c] {
    check_form(*c, w);
    if (!w.examples.length) return convert(w.in, w.out, w.form);
    w.examples.in = {w.in};
    convert_to_examples(w.examples, w.out);
  });

  declare_corpora(app, w.chosen);
}

}  // namespace

int main(int argc, char** argv) {
  return app::run("wsl-data", [&] {
    CLI::App app("The files of training: what is in them, and from one form to another.", "wsl-data");
    words w;
    declare(app, w);
    int status = 0;
    if (!app::parse(app, argc, argv, "command", status)) return status;
    if (!w.chosen)
      throw std::invalid_argument("what is there to do? wsl-data inspect <file>, for instance; see --help");
    w.chosen();
    return 0;
  });
}
