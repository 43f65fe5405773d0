// SPDX-License-Identifier: MIT
// Files of text become the batches of encoders and encoder-decoders.
#include <map>
#include <set>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/text/encode/classified_text.hpp>
#include <wsl/ml/data/text/encode/corrupted_text.hpp>
#include <wsl/ml/data/text/encode/masked_text.hpp>
#include <wsl/ml/data/text/encode/questions.hpp>
#include <wsl/ml/data/text/encode/summarized_text.hpp>
#include <wsl/ml/data/text/encode/tagged_text.hpp>
#include <wsl/ml/data/text/encode/translated_text.hpp>
#include <wsl/ml/data/text/encode/vocabulary_file.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;
using strings = std::vector<std::string>;
using numbers = std::vector<i32>;

constexpr i32 pad = 0, unk = 1, cls = 2, sep = 3, first_word = 5;

// A folder with BERT's special tokens and the words w0, w1, ... and ##x in a vocab.txt.
struct bert_folder : files::folder {
  static constexpr int words = 60;
  bert_folder() {
    std::string all = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (int w = 0; w < words; ++w) all += word(w) + "\n";
    files::write(*this / "vocab.txt", all + "##x\nu\n.\n");
  }
  // Words of letters.
  static std::string word(int w) {
    return std::string(1, static_cast<char>('a' + w % 20)) + std::string(1, static_cast<char>('a' + w / 20));
  }
  static i32 id(int w) { return first_word + w; }
  tokenizer by() const { return tokenizer_of(*this / "vocab.txt", true); }
  std::string file(const std::string& name, const std::string& text) const {
    files::write(*this / name, text);
    return *this / name;
  }
};

// The numbers of an example by name.
std::map<std::string, numbers> example_of(const text_task& t, i64 which, u64 key = 1) {
  std::map<std::string, numbers> all;
  std::vector<std::span<i32>> rooms;
  for (const named_field& f : t.data.named)
    rooms.emplace_back(all[f.name] = numbers(static_cast<std::size_t>(f.count), -7777));
  t.data.get(which, {.ids = {}, .features = {}, .targets = {}, .named = rooms, .key = key});
  return all;
}

// All batches of some epochs as numbers.
std::vector<numbers> batches_of(const text_task& t, batch_settings how, int count, int stop = -1) {
  std::vector<numbers> all;
  auto b = std::make_unique<batches>(t.data, how);
  for (int i = 0; i < count; ++i) {
    if (i == stop) {
      const data_position p = b->position();
      b = std::make_unique<batches>(t.data, how);
      b->resume(p);
    }
    const loaded_batch next = b->next();
    for (const named_numbers& x : next.view().named) all.emplace_back(x.ids.begin(), x.ids.end());
  }
  return all;
}

TEST_CASE("Texts and pairs of texts have classes") {
  const bert_folder in;
  const std::string sst = in.file("sst.tsv", "sentence\tlabel\naa ba\t1\nca \"aa\t0\n\tb\n");
  CHECK_THAT(files::refusal([&] {
               classification_of(
                   {.files = {sst}, .first = "sentence", .label = "label", .classes = {"0", "1"}}, in.by());
             }),
             Contains("sst.tsv, line 4, column 'label': there is no class 'b' among 0 0, 1 1"));
  in.file("sst.tsv", "sentence\tlabel\naa ba\t1\nca \"aa\t0\n");
  const text_task one = classification_of(
      {.files = {sst}, .first = "sentence", .label = "label", .max_sequence_length = 6}, in.by());
  CHECK_THAT(one.about, Contains("2 texts of 2 classes: 0 0, 1 1; 20 % of the tokens are [UNK]"));
  CHECK(one.data.count == 2);
  auto e = example_of(one, 0);
  CHECK(e["input_ids"] == numbers{cls, 5, 6, sep, pad, pad});
  CHECK(e["attention_mask"] == numbers{1, 1, 1, 1, 0, 0});
  CHECK(e["token_type_ids"] == numbers(6));
  CHECK(e["labels"] == numbers{1});
  CHECK(example_of(one, 1)["input_ids"] == numbers{cls, 7, unk, 5, sep, pad});

  const std::string mnli = in.file(
      "mnli.tsv",
      "index\tsentence1\tsentence2\tgold_label\n0\taa ba ca da\tba ca\tneutral\n1\taa\tba\tentailment\n");
  const text_task two = classification_of({.files = {mnli},
                                           .first = "sentence1",
                                           .second = "sentence2",
                                           .label = "gold_label",
                                           .classes = {"entailment", "neutral", "contradiction"},
                                           .max_sequence_length = 8},
                                          in.by());
  CHECK_THAT(two.about, Contains("2 pairs of texts of 3 classes: 0 entailment, 1 neutral, 2 contradiction; 1 "
                                 "of 2 examples is longer"));
  e = example_of(two, 0);
  CHECK(e["input_ids"] == numbers{cls, 5, 6, 7, sep, 6, 7, sep});
  CHECK(e["token_type_ids"] == numbers{0, 0, 0, 0, 0, 1, 1, 1});
  CHECK(e["labels"] == numbers{1});
  const std::string json = in.file("a.jsonl", R"({"text": "aa", "label": 10})"
                                              "\n"
                                              R"({"text": "ba", "label": 9})"
                                              "\n");
  CHECK(classification_of({.files = {json}, .first = "text", .label = "label"}, in.by()).about ==
        "2 texts of 2 classes: 0 9, 1 10");
  CHECK_THAT(files::refusal([&] {
               classification_of({.files = {mnli}, .first = "text", .label = "gold_label"}, in.by());
             }),
             Contains("there is no column 'text'"));
  const text_task no_types = without(two, "token_type_ids");
  auto f = example_of(no_types, 0);
  CHECK(f.size() == 3);
  CHECK(f["input_ids"] == e["input_ids"]);
  CHECK(f["labels"] == e["labels"]);
}

TEST_CASE("Of a word the first token has the tag") {
  const bert_folder in;
  const std::string file = in.file("train.txt", "aax B-X\nba I-X\n\nca O\n. O\n");
  const text_task t = tagging_of({.files = {file}, .max_sequence_length = 7}, in.by());
  CHECK(t.about == "2 sentences with 3 tags: 0 O, 1 B-X, 2 I-X");
  auto e = example_of(t, 0);
  CHECK(e["input_ids"] == numbers{cls, 5, 65, 6, sep, pad, pad});
  CHECK(e["labels"] == numbers{-100, 1, -100, 2, -100, -100, -100});
  CHECK(example_of(t, 1)["labels"] == numbers{-100, 0, 0, -100, -100, -100, -100});
  CHECK(example_of(tagging_of({.files = {file}, .max_sequence_length = 4}, in.by()), 0)["input_ids"] ==
        numbers{cls, 5, 65, sep});
  CHECK_THAT(
      files::refusal([&] { tagging_of({.files = {file}, .classes = label_map({"O", "B-X"})}, in.by()); }),
      Contains("train.txt, line 2: there is no tag 'I-X' among 0 O, 1 B-X"));
  const std::string table = in.file("a.csv", "tokens,labels\n[CLS] aa ##x zz [SEP],O B-X I-X O O\n");
  auto row = example_of(tagging_of({.files = {table}, .max_sequence_length = 6}, in.by()), 0);
  const tagged_text with_padding{.files = {table}, .max_sequence_length = 6, .padding_tag = 0};
  const auto padded = example_of(tagging_of(with_padding, in.by()), 0)["labels"];
  for (std::size_t k = 0; k < padded.size(); ++k)
    CHECK(padded[k] == (row["attention_mask"][k] ? row["labels"][k] : 0));
  CHECK(row["input_ids"] == numbers{cls, 5, 65, unk, sep, pad});
  CHECK(row["labels"] == numbers{0, 1, 2, 0, 0, -100});
  in.file("a.csv", "tokens,labels\n[CLS] aa,O\n");
  CHECK_THAT(files::refusal([&] { tagging_of({.files = {table}}, in.by()); }),
             Contains("there are 1 labels for 2 tokens"));
}

TEST_CASE("Each sentence of a summary has a label at its first token") {
  const bert_folder in;
  const std::string file =
      in.file("a.jsonl", R"({"sentences": ["aa ba", "ca", "da ea fa"], "labels": [1, 0, 1]})"
                         "\n");
  auto e = example_of(summaries_of({.files = {file}, .max_sequence_length = 12}, in.by()), 0);
  CHECK(e["input_ids"] == numbers{cls, 5, 6, sep, cls, 7, sep, cls, 8, 9, 10, sep});
  CHECK(e["token_type_ids"] == numbers{0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0});
  CHECK(e["labels"] == numbers{1, -100, -100, -100, 0, -100, -100, 1, -100, -100, -100, -100});
  e = example_of(summaries_of({.files = {file}, .max_sequence_length = 11, .max_cls_tokens = 2}, in.by()), 0);
  CHECK(e["attention_mask"] == numbers{1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0});
  const std::string table = in.file("a.csv",
                                    "input_token_ids,labels,segment_ids,cls_indices\n"
                                    "\"[2, 5, 3, 2, 6, 3]\",\"[1, 0]\",\"[0, 0, 0, 1, 1, 1]\",\"[0, 3]\"\n"
                                    "\"[2, 5, 3]\",[2],\"[0, 0, 0]\",[0]\n"
                                    "\"[2, 5, 3]\",[1],\"[0, 0, 0]\",[3]\n"
                                    "\"[2, 5, 3]\",[1],\"[0, 0]\",[0]\n"
                                    "\"[2, 99, 3]\",[1],\"[0, 0, 0]\",[0]\n");
  const text_task t =
      summaries_of({.files = {table}, .max_sequence_length = 8, .max_cls_tokens = 1}, in.by());
  e = example_of(t, 0);
  CHECK(e["input_ids"] == numbers{2, 5, 3, 2, 6, 3, 0, 0});
  CHECK(e["token_type_ids"] == numbers{0, 0, 0, 1, 1, 1, 0, 0});
  CHECK(e["labels"] == numbers{1, -100, -100, -100, -100, -100, -100, -100});
  const auto says = [&](i64 which) { return files::refusal([&] { example_of(t, which); }); };
  CHECK_THAT(
      says(1),
      Contains("a.csv, line 3, column 'labels': a sentence is part of the summary (1) or not (0), not 2"));
  CHECK_THAT(says(2), Contains("line 4, column 'cls_indices': there is no token 3 among 3"));
  CHECK_THAT(says(3), Contains("line 5, column 'segment_ids': there are 2 for 3 tokens"));
  CHECK_THAT(says(4),
             Contains("line 6, column 'input_token_ids': there is no token 99 in a vocabulary of 68"));
}

TEST_CASE("A question is asked in windows, and scores mean a part of the paragraph") {
  const bert_folder in;
  const std::string context = "Aa  ba, Cax da ea fa ga ha.";
  const std::string file =
      in.file("q.json", R"({"data": [{"paragraphs": [{"context": ")" + context + R"(", "qas": [
        {"id": "1", "question": "ia ja", "answers": [{"text": "Cax da", "answer_start": 8}]},
        {"id": "2", "question": "ia ja ka la ma", "answers": [], "is_impossible": true}]}]}]})");
  const question_settings how{
      .files = {file}, .max_sequence_length = 12, .doc_stride = 3, .max_query_length = 4};
  const asked_questions asked(how, in.by());
  const text_task t = asked.task();
  // aa ba [UNK] ca ##x da ea fa ga ha .
  CHECK(asked.examples_of(0) == std::pair<i64, std::size_t>(0, 3));  // windows of 7: 0 3 4
  CHECK(t.data.count ==
        asked.examples_of(1).first + std::ssize(std::vector<int>(asked.examples_of(1).second)));
  auto e = example_of(t, 0);
  CHECK(e["input_ids"] == numbers{cls, 13, 14, sep, 5, 6, unk, 7, 65, 8, 9, sep});
  CHECK(e["token_type_ids"] == numbers{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(e["start_positions"] == numbers{7});
  CHECK(e["end_positions"] == numbers{9});
  e = example_of(t, 1);
  CHECK(e["input_ids"] == numbers{cls, 13, 14, sep, 7, 65, 8, 9, 10, 11, 12, sep});
  CHECK(e["start_positions"] == numbers{4});
  e = example_of(t, 2);  // the answer begins before the window
  CHECK(e["start_positions"] == numbers{0});
  CHECK(e["end_positions"] == numbers{0});
  e = example_of(t, asked.examples_of(1).first);
  CHECK(e["start_positions"] == numbers{0});
  CHECK(e["input_ids"][5] == sep);  // the question is cut

  // The scores of a model that knows the answer give the text back, for every window that has it.
  for (std::size_t right : {std::size_t{0}, std::size_t{1}}) {
    std::vector<window_scores> scores(3, {std::vector<f32>(12), std::vector<f32>(12)});
    e = example_of(t, static_cast<i64>(right));
    scores[right].first[static_cast<std::size_t>(e["start_positions"][0])] = 5;
    scores[right].last[static_cast<std::size_t>(e["end_positions"][0])] = 5;
    const std::string best = asked.answers(0, scores, {})[0].text;
    if (is_most_context(windows_of(11, 7, 3), right, 3)) CHECK(best == "Cax da");
    else CHECK(best != "Cax da");
  }
  CHECK_THROWS_WITH(asked_questions({.files = {file}, .max_sequence_length = 5}, in.by()),
                    Contains("a larger max_sequence_length"));
}

TEST_CASE("Sentences fill sequences, over the ends of documents") {
  const bert_folder in;
  const std::string file =
      in.file("a.txt", "aa ba ca\nda ea\n\nfa ga ha ia\n\n\nja ka la ma na oa pa qa ra\nsa\n");
  const piece_encoder encode(in.by());
  const packed_text all({file}, [&](std::string_view x) { return encode(x); },
                        {.room = 6, .whole_lines = true, .documents_together = 0, .between = sep});
  std::vector<numbers> got;
  for (i64 i = 0; i < all.count(); ++i) {
    got.emplace_back();
    for (const text_piece& p : all.tokens(i)) got.back().push_back(p.id);
    CHECK(all.tokens_of(i) == std::ssize(got.back()));
  }
  CHECK(got ==
        std::vector<numbers>{{5, 6, 7, 8, 9}, {10, 11, 12, 13}, {14, 15, 16, 17, 18, 19}, {20, 21, 22, 23}});
  const packed_text wide({file}, [&](std::string_view x) { return encode(x); },
                         {.room = 11, .whole_lines = true, .documents_together = 0, .between = sep});
  numbers first;
  for (const text_piece& p : wide.tokens(0)) first.push_back(p.id);
  CHECK(first == numbers{5, 6, 7, 8, 9, sep, 10, 11, 12, 13});
  // Documents of one line each, cut into pieces, alone and two at a time.
  const auto lengths = [&](int together) {
    const packed_text x({file}, [&](std::string_view t) { return encode(t); },
                        {.room = 4, .documents_together = together});
    numbers n;
    for (i64 i = 0; i < x.count(); ++i) n.push_back(static_cast<i32>(x.tokens(i).size()));
    return n;
  };
  CHECK(lengths(1) == numbers{3, 2, 4, 4, 4, 1, 1});
  CHECK(lengths(2) == numbers{4, 1, 4, 4, 4, 1, 1});  // 3 + 2, 4 + 9, 1
  CHECK(lengths(0) == numbers{4, 4, 4, 4, 3});
  CHECK_THAT(files::refusal([&] {
               packed_text({in.file("e.txt", "\n \n")}, [&](std::string_view x) { return encode(x); },
                           {.room = 4});
             }),
             Contains("there is no text in it"));
}

// Documents of sentences, in which every word says its document.
std::string documents(int count, int sentences) {
  std::string text;
  for (int d = 0; d < count; ++d) {
    for (int s = 0; s < sentences; ++s) {
      for (int k = 0; k < 1 + (d + s) % 5; ++k) text += bert_folder::word(d) + " ";
      text += "\n";
    }
    text += "\n";
  }
  return text;
}

TEST_CASE("Half of the second texts are of another document") {
  const bert_folder in;
  const std::string file = in.file("a.txt", documents(50, 20));
  const text_task t = masked_of({.files = {file}, .max_sequence_length = 32}, in.by());
  CHECK(t.data.named.back().name == "next_sentence_label");
  int random = 0;
  i64 count = 0;
  for (u64 key = 0; key < 20; ++key)
    for (i64 i = 0; i < t.data.count; ++i, ++count) {
      auto e = example_of(t, i, key);
      numbers text = e["input_ids"];
      std::set<i32> of[2];
      int separators = 0;
      for (std::size_t k = 0; k < text.size() && e["attention_mask"][k]; ++k) {
        separators += text[k] == sep;
        if (e["labels"][k] != -100) text[k] = e["labels"][k];
        if (text[k] >= first_word) of[e["token_type_ids"][k]].insert(text[k]);
      }
      REQUIRE(separators == 2);
      REQUIRE(of[0].size() == 1);
      REQUIRE(of[1].size() == 1);
      const bool differs = *of[0].begin() != *of[1].begin();
      CHECK(differs == (e["next_sentence_label"][0] == 1));
      random += differs;
    }
  // The last part of a document may be one sentence, whose second text is always another one's.
  CHECK(random / static_cast<f64>(count) > 0.45);
  CHECK(random / static_cast<f64>(count) < 0.65);
  CHECK_THAT(files::refusal([&] { masked_of({.files = {in.file("b.txt", "aa\nba\n")}}, in.by()); }),
             Contains("next sentences need two documents or more"));
}

TEST_CASE(
    "Which words are hidden depends on the seed, the epoch and the example, not on workers or restarts") {
  const bert_folder in;
  const std::string file = in.file("a.txt", documents(40, 10));
  for (bool pairs : {false, true}) {
    const text_task t = masked_of({.files = {file},
                                   .max_sequence_length = 24,
                                   .next_sentences = pairs,
                                   .masked = {.mask_whole_word = true}},
                                  in.by());
    const int count = static_cast<int>(t.data.count / 4 * 3);
    const std::vector<numbers> one = batches_of(t, {.size = 4, .seed = 5, .prefetch = 0}, count);
    CHECK(one == batches_of(t, {.size = 4, .seed = 5, .prefetch = 7}, count));
    CHECK(one == batches_of(t, {.size = 4, .seed = 5, .prefetch = 3}, count, count / 2));
    CHECK(one != batches_of(t, {.size = 4, .seed = 6, .prefetch = 0}, count));
    // In another epoch other words are hidden, of the same texts.
    int others = 0;
    for (i64 i = 0; i < 10; ++i) {
      auto a = example_of(t, i, 1), b = example_of(t, i, 2);
      others += a["labels"] != b["labels"];
      if (!pairs) CHECK(a["attention_mask"] == b["attention_mask"]);
    }
    CHECK(others >= 5);
    // A process that has a part of each batch reads all of it, since what counts is counted over all.
    batches whole(t.data, {.size = 4, .seed = 5}), half(t.data, {.size = 4, .seed = 5, .part = {1, 2, 2}});
    const loaded_batch x = whole.next(), y = half.next();
    for (std::size_t k = 0; k < x.by_name.size(); ++k) CHECK(x.by_name[k].numbers == y.by_name[k].numbers);
    CHECK(fingerprint_of(t.data) != fingerprint_of(without(t, "labels").data));
  }
}

TEST_CASE("Tables of tokens have their words hidden, or have hidden words") {
  const bert_folder in;
  const std::string file =
      in.file("a.csv",
              "tokens,segment_ids,is_random_next\n"
              "\"['[CLS]', 'aa', '##x', 'Zz', '[SEP]', 'ba', '[SEP]']\",\"[0, 0, 0, 0, 0, 1, 1]\",1\n"
              "\"['[CLS]', 'aa', '[SEP]', 'ba', '[SEP]']\",\"[0, 0, 0, 1]\",0\n"
              "\"['[CLS]', 'aa', '[SEP]']\",\"[0, 0, 0]\",2\n"
              "\"['[CLS]', aa]\",\"[0, 0]\",0\n");
  const text_task t = masked_of({.files = {file}, .max_sequence_length = 8}, in.by());
  auto e = example_of(t, 0);
  CHECK(e["attention_mask"] == numbers{1, 1, 1, 1, 1, 1, 1, 0});
  CHECK(e["token_type_ids"] == numbers{0, 0, 0, 0, 0, 1, 1, 0});
  CHECK(e["next_sentence_label"] == numbers{1});
  numbers text = e["input_ids"];
  for (std::size_t k = 0; k < text.size(); ++k)
    if (e["labels"][k] != -100) text[k] = e["labels"][k];
  CHECK(text == numbers{cls, 5, 65, unk, sep, 6, sep, pad});
  const auto says = [&](i64 which) { return files::refusal([&] { example_of(t, which); }); };
  CHECK_THAT(says(1), Contains("a.csv, line 3, column 'segment_ids': there are 4 for 5 tokens"));
  CHECK_THAT(says(2), Contains("line 4, column 'is_random_next': it should be 0, or 1"));
  CHECK_THAT(says(3), Contains("line 5, column 'tokens': the list should have a text in quotes"));
  CHECK_THAT(
      files::refusal([&] { example_of(masked_of({.files = {file}, .max_sequence_length = 6}, in.by()), 0); }),
      Contains("7 tokens, more than max_sequence_length 6"));
  const text_task alone =
      masked_of({.files = {file}, .max_sequence_length = 6, .next_sentences = false}, in.by());
  CHECK(alone.data.named.size() == 4);
  CHECK(example_of(alone, 0)["attention_mask"] == numbers(6, 1));

  const std::string hidden = in.file("b.csv",
                                     "input_ids,token_type_ids,next_sentence_label,masked_lm_weights,masked_"
                                     "lm_positions,attention_mask,labels\n"
                                     "\"[2, 4, 3, 6, 3, 0]\",\"[0, 0, 0, 1, 1, 0]\",0,\"[1, 1, 0]\",\"[1, 3, "
                                     "0]\",\"[1, 1, 1, 1, 1, 0]\",\"[5, 6, 0]\"\n"
                                     "\"[2, 4, 3]\",\"[0, 0, 0]\",0,[1],[7],\"[1, 1, 1]\",[5]\n");
  const text_task rows =
      masked_of({.files = {hidden}, .max_sequence_length = 7, .are_hidden = true}, in.by());
  e = example_of(rows, 0);
  CHECK(e["input_ids"] == numbers{2, 4, 3, 6, 3, 0, 0});
  CHECK(e["attention_mask"] == numbers{1, 1, 1, 1, 1, 0, 0});
  CHECK(e["labels"] == numbers{-100, 5, -100, 6, -100, -100, -100});
  CHECK_THAT(files::refusal([&] { example_of(rows, 1); }),
             Contains("b.csv, line 3, column 'masked_lm_positions': there is no token 7 among 3"));
}

// <pad> </s> <unk> <s> and the words aa, ba, ...
struct t5_folder : files::folder {
  t5_folder() {
    std::string all = "<pad>\n</s>\n<unk>\n<s>\n";
    for (int w = 0; w < 60; ++w) all += bert_folder::word(w) + "\n";
    files::write(*this / "vocab.txt", all);
  }
  tokenizer by() const { return tokenizer_of_words(*this / "vocab.txt", "<unk>", false); }
  std::string file(const std::string& name, const std::string& text) const {
    files::write(*this / name, text);
    return *this / name;
  }
};

TEST_CASE("Inputs and targets of span corruption give the documents back") {
  const t5_folder in;
  std::string text;
  std::vector<numbers> wanted;
  for (int d = 0; d < 30; ++d) {
    wanted.emplace_back();
    for (int w = 0; w < 2 + 7 * d; ++w)
      text += bert_folder::word((d + w) % 60) + " ", wanted.back().push_back(4 + (d + w) % 60);
    text += "\n";
  }
  const std::string file = in.file("a.txt", text);
  CHECK(vocabulary_with_sentinels(in.by(), 20) == 84);
  for (bool packs : {false, true})
    for (bool ends : {false, true}) {
      corrupted_text how{.files = {file},
                         .sequences = {.src_max_sequence_length = 64, .tgt_max_sequence_length = 32},
                         .extra_ids = 20,
                         .pack_sequences = packs,
                         .num_documents_to_concatenate = 4,
                         .ends_inputs = ends};
      const text_task t = corrupted_of(how, in.by());
      numbers back;
      for (i64 i = 0; i < t.data.count; ++i) {
        auto e = example_of(t, i);
        const numbers &inputs = e["input_ids"], &labels = e["labels"], &shifted = e["decoder_input_ids"];
        CHECK(shifted[0] == 3);  // <s>
        std::size_t target = 0;
        i32 sentinel = 83;
        std::size_t n = 0;
        while (n < inputs.size() && e["attention_mask"][n]) ++n;
        if (ends) CHECK(inputs[--n] == 1);
        for (std::size_t k = 0; k < n; ++k) {
          if (inputs[k] < 64) {
            back.push_back(inputs[k]);
            continue;
          }
          CHECK(inputs[k] == sentinel);
          REQUIRE(labels[target++] == sentinel--);
          while (labels[target] < 64 && labels[target] != 1) back.push_back(labels[target++]);
        }
        CHECK(labels[target] == 1);  // </s>
        for (std::size_t k = 0; k < target; ++k) CHECK(shifted[k + 1] == labels[k]);
        for (std::size_t k = target + 1; k < labels.size(); ++k)
          CHECK((labels[k] == -100 && shifted[k] == 0));
      }
      numbers all;
      for (const numbers& d : wanted) all.insert(all.end(), d.begin(), d.end());
      // Parts of one token are left out.
      if (back.size() != all.size()) CHECK(all.size() - back.size() < 4);
      else CHECK(back == all);
    }
  const auto says = [&](corrupted_text how) {
    return files::refusal<std::invalid_argument>([&] { corrupted_of(how, in.by()); });
  };
  CHECK_THAT(
      says({.files = {file}, .sequences = {.src_max_sequence_length = 512, .tgt_max_sequence_length = 100}}),
      Contains("take a tgt_max_sequence_length of as many or more, not 100"));
  CHECK(says({.files = {file},
              .sequences = {.src_max_sequence_length = 512, .tgt_max_sequence_length = 114}}) ==
        "it is taken");
  CHECK_THAT(says({.files = {file}, .extra_ids = 10}), Contains("take as many extra_ids, not 10"));
  CHECK_THAT(says({.files = {file}, .sequences = {.sos_token = "<bos>"}}),
             Contains("no token '<bos>', which sos_token names"));
}

TEST_CASE("Translations come from two files or from two columns") {
  const t5_folder in;
  const std::string source = in.file("a.de", "aa ba\nca\n\nda ea fa ga ha ia\n"),
                    target = in.file("a.en", "ja ka la\nma zz\nna\noa\n");
  const encoder_decoder_settings lengths{.src_max_sequence_length = 4, .tgt_max_sequence_length = 5};
  const text_task t =
      translations_of({.source_files = {source}, .target_files = {target}, .sequences = lengths}, in.by());
  CHECK_THAT(
      t.about,
      Contains("2 pairs of texts; 2 left out, since one text is empty or too long; 6.2 % of the tokens"));
  auto e = example_of(t, 0);
  CHECK(e["input_ids"] == numbers{4, 5, 0, 0});
  CHECK(e["attention_mask"] == numbers{1, 1, 0, 0});
  CHECK(e["decoder_input_ids"] == numbers{3, 13, 14, 15, 0});
  CHECK(e["labels"] == numbers{13, 14, 15, 1, -100});
  CHECK(example_of(t, 1)["labels"] == numbers{16, 2, 1, -100, -100});
  const std::string table = in.file("a.tsv", "de\ten\naa\tba\n");
  e = example_of(translations_of({.tables = {table},
                                  .source_column = "de",
                                  .target_column = "en",
                                  .sequences = lengths,
                                  .ends_inputs = true},
                                 in.by()),
                 0);
  CHECK(e["input_ids"] == numbers{4, 1, 0, 0});
  CHECK(e["labels"] == numbers{5, 1, -100, -100, -100});
  in.file("a.en", "ja\n");
  CHECK_THAT(
      files::refusal([&] { translations_of({.source_files = {source}, .target_files = {target}}, in.by()); }),
      Contains("a.de has 4 lines and") && Contains("a.en has 1"));
  CHECK_THROWS_WITH(translations_of({.source_files = {source}, .target_files = {}}, in.by()),
                    Contains("1 files of sources have 0 of targets"));
  CHECK_THAT(files::refusal([&] {
               translations_of({.tables = {table}, .source_column = "fr", .target_column = "en"}, in.by());
             }),
             Contains("no column 'fr'"));
}

TEST_CASE("T5's tokenizer has sentinels of its own if its vocabulary says so") {
  const auto file = files::data_set("hf/tokenizers/t5.json");
  if (!file) return;
  const tokenizer t = tokenizer::from_file(*file);
  CHECK(vocabulary_with_sentinels(t, 100) == t.size() + 100);
  nlohmann::json json = nlohmann::json::parse(read_whole(*file));
  for (int i = 0; i < 10; ++i)
    json["added_tokens"].push_back({{"id", 509 - i},
                                    {"content", fmt::format("<extra_id_{}>", i)},
                                    {"special", true},
                                    {"normalized", false}});
  const tokenizer more = tokenizer::from_json(json.dump(), "t5.json");
  CHECK(vocabulary_with_sentinels(more, 10) == 510);
  const files::folder in;
  files::write(in / "a.txt", "The quick brown fox jumps over the lazy dog and sleeps.\n");
  corrupted_text how{
      .files = {in / "a.txt"},
      .sequences = {.src_max_sequence_length = 64, .tgt_max_sequence_length = 30, .sos_token = "<pad>"},
      .extra_ids = 10};
  auto e = example_of(corrupted_of(how, more), 0);
  CHECK(e["decoder_input_ids"][0] == 0);
  CHECK(e["labels"][0] == 509);
  how.extra_ids = 11;
  CHECK_THROWS_WITH(corrupted_of(how, more), Contains("no token <extra_id_10> with the number 499"));
}

TEST_CASE("RoBERTa has its own special tokens, and no types") {
  const auto file = files::data_set("hf/tokenizers/gpt2.json");
  if (!file) return;
  nlohmann::json json = nlohmann::json::parse(read_whole(*file));
  i32 id = 600;
  for (const char* token : {"<s>", "<pad>", "</s>", "<unk>", "<mask>"})
    json["added_tokens"].push_back(
        {{"id", id++}, {"content", token}, {"special", true}, {"normalized", false}});
  const tokenizer t = tokenizer::from_json(json.dump(), "roberta.json");
  const bert_folder in;
  const std::string table = in.file("a.tsv", "x\ty\tlabel\nHello there\tfriend, hello\t1\n");
  auto e =
      example_of(classification_of({.files = {table}, .first = "x", .second = "y", .label = "label"}, t), 0);
  numbers wanted{600};
  const auto add = [&](const std::string& text) {
    for (const i32 k : t.encode(text, {.add_special_tokens = false})) wanted.push_back(k);
  };
  add("Hello there"), wanted.push_back(602), wanted.push_back(602), add("friend, hello"),
      wanted.push_back(602);
  const std::size_t n = wanted.size();
  wanted.resize(128, 601);
  CHECK(e["input_ids"] == wanted);
  CHECK(e["token_type_ids"] == numbers(128));
  CHECK(std::count(e["attention_mask"].begin(), e["attention_mask"].end(), 1) == static_cast<int>(n));
}

TEST_CASE("A real text gives back what was hidden") {
  const auto file = files::data_set("hf/tokenizers/bert.json"),
             text = files::data_set("tinyshakespeare/input.txt");
  if (!file || !text) return;
  const tokenizer by = tokenizer::from_file(*file);
  const files::folder in;
  files::write(in / "a.txt", read_text(*text).substr(0, 60000));
  const text_task t =
      masked_of({.files = {in / "a.txt"}, .max_sequence_length = 64, .next_sentences = false}, by);
  numbers back;
  int chosen = 0, tokens = 0;
  for (i64 i = 0; i < t.data.count; ++i) {
    auto e = example_of(t, i);
    for (std::size_t k = 0; k < 64 && e["attention_mask"][k]; ++k, ++tokens) {
      const bool is_guessed = e["labels"][k] != -100;
      chosen += is_guessed;
      const i32 id = is_guessed ? e["labels"][k] : e["input_ids"][k];
      if (id != 2 && id != 3) back.push_back(id);
    }
  }
  CHECK(chosen / static_cast<f64>(tokens) == Approx(0.15).margin(0.01));
  CHECK(back == by.encode(read_text(in / "a.txt"), {.add_special_tokens = false}));
}

TEST_CASE("Files of two kinds are not read together") {
  const bert_folder in;
  const strings both{in.file("a.csv", "tokens\n[]\n"), in.file("a.txt", "aa\n")};
  CHECK_THROWS_WITH(masked_of({.files = both, .next_sentences = false}, in.by()),
                    Contains("some files end with .csv and some do not"));
  CHECK_THROWS_WITH(summaries_of({.files = both}, in.by()), Contains("some files end with .csv"));
  const t5_folder words;
  words.file("b.txt", "aa ba ca\n"), words.file("meta.dat", "b.txt 3\n");
  CHECK_THAT(files::refusal([&] { corrupted_of({.files = {words / "b.txt"}}, words.by()); }),
             Contains("b.txt has 1 examples, but"));
}

}  // namespace
