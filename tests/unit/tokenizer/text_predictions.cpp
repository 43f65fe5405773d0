// SPDX-License-Identifier: MIT
// Texts to predict need no labels, and what a length and a vocabulary leave of texts is said.
#include <wsl/ml/data/text/encode/processors.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;
using strings = std::vector<std::string>;

struct words : files::folder {
  words() {
    put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\n");
    put("words.txt", "<pad>\n<s>\n</s>\n<unk>\na\nb\nc\nd\n");
  }
  std::string put(const std::string& name, const std::string& text) const {
    files::write(*this / name, text);
    return *this / name;
  }
  template <class P>
  P of(const std::string& data, int length = 12) const {
    P p;
    p.data_dir = {data}, p.vocab_file = *this / "vocab.txt", p.max_sequence_length = length;
    return p;
  }
};
// The numbers of an example that have a name.
std::vector<i32> numbers_of(const text_task& t, i64 which, const std::string& name) {
  std::vector<std::vector<i32>> all;
  std::vector<std::span<i32>> rooms;
  for (const named_field& f : t.data.named) all.emplace_back(static_cast<std::size_t>(f.count), -7777);
  for (std::vector<i32>& x : all) rooms.emplace_back(x);
  t.data.get(which, {.ids = {}, .features = {}, .targets = {}, .named = rooms, .key = 1});
  for (std::size_t i = 0; i < all.size(); ++i)
    if (t.data.named[i].name == name) return all[i];
  return {};
}

TEST_CASE("Classes are predicted of texts without labels, whose words stay known") {
  const words in;
  auto p = in.of<bert_classifier_processor>(in.put("t.tsv", "sentence\na b\nc\n"));
  p.classes = {"no", "yes"};
  CHECK_THAT(files::refusal([&] { p.task(text_use::evaluation); }), Contains("there is no column 'label'"));
  const text_task t = p.task(text_use::prediction);
  CHECK(numbers_of(t, 0, "labels") == std::vector<i32>{-100});
  CHECK(t.source(0).texts == strings{"a b"});
  CHECK(t.source(0).labels.empty());
  p.data_dir = {in.put("some.jsonl", "{\"sentence\": \"a\", \"label\": \"yes\"}\n{\"sentence\": \"b\"}\n")};
  const text_task some = p.task(text_use::prediction);
  CHECK(numbers_of(some, 0, "labels") == std::vector<i32>{1});
  CHECK(numbers_of(some, 1, "labels") == std::vector<i32>{-100});
  CHECK(some.source(0).labels == strings{"yes"});
}

TEST_CASE("Words without tags have labels at their first tokens") {
  const words in;
  auto p = in.of<bert_token_classifier_processor>(in.put("t.txt", "a\nb\n\nc B-X\nd O\n"), 4);
  p.classes = label_map({"O", "B-X"});
  CHECK_THAT(files::refusal([&] { p.task(text_use::evaluation); }),
             Contains("line 1: the word 'a' has no tag"));
  const text_task t = p.task(text_use::prediction);
  CHECK(numbers_of(t, 0, "labels") == std::vector<i32>{-100, 0, 0, -100});
  CHECK(numbers_of(t, 1, "labels") == std::vector<i32>{-100, 1, 0, -100});
  CHECK(t.source(0).texts == strings{"a", "b"});
  CHECK(t.source(0).labels.empty());
  CHECK(t.source(1).labels == strings{"B-X", "O"});
}

TEST_CASE("A tag that is not known is named with its line, beyond the end of a sequence as well") {
  const words in;
  auto p = in.of<bert_token_classifier_processor>(in.put("t.txt", "a O\n\nb O\nc O\nd I-X\n"), 4);
  p.classes = label_map({"O", "B-X"});
  CHECK_THAT(files::refusal([&] { p.task(text_use::training); }),
             Contains("t.txt, line 5: there is no tag 'I-X'"));
  p.data_dir = {in.put("t.csv", "tokens,labels\na b,O O\nc,I-X\n")};
  CHECK_THAT(files::refusal([&] { p.task(text_use::training); }),
             Contains("t.csv, line 3, column 'labels': there is no tag 'I-X'"));
}

TEST_CASE("Questions may lack their answers, and summaries the labels of their sentences") {
  const words in;
  auto qa = in.of<qa_processor>(in.put("q.json", R"({"data": [{"paragraphs": [{"context": "a b c d", "qas": [
      {"id": "1", "question": "d"},
      {"id": "2", "question": "c", "answers": [{"text": "b", "answer_start": 2}]}]}]}]})"));
  CHECK_THAT(files::refusal([&] { qa.task(text_use::evaluation); }), Contains("there is no 'answers'"));
  const asked_questions asked = qa.asked(text_use::prediction);
  CHECK(!asked.questions()[0].is_answered);
  CHECK(asked.questions()[1].is_answered);
  auto sum = in.of<bert_sum_csv_processor>(in.put("s.jsonl", "{\"sentences\": [\"a\", \"b c\"]}\n"));
  sum.max_cls_tokens = 4;
  const text_task t = sum.task(text_use::prediction);
  CHECK(numbers_of(t, 0, "labels") ==
        std::vector<i32>{0, -100, -100, 0, -100, -100, -100, -100, -100, -100, -100, -100});
  CHECK(t.source(0).texts == strings{"a", "b c"});
  CHECK(t.source(0).labels.empty());
}

TEST_CASE("Sources alone are read to be translated, and of long ones the end is left out") {
  const words in;
  transformer_dynamic_processor p;
  p.src_data_dir = {in.put("t.src", "a b\n\nc a b d\n")}, p.src_vocab_file = in / "words.txt";
  p.sequences.src_max_sequence_length = 4, p.sequences.tgt_max_sequence_length = 3;
  CHECK_THAT(files::refusal([&] { p.task(text_use::evaluation); }),
             Contains("t.src: translations are missing: name the files"));
  text_task t = p.task(text_use::prediction);
  REQUIRE(t.data.count == 2);
  CHECK(numbers_of(t, 1, "input_ids") == std::vector<i32>{6, 4, 5, 0});
  CHECK(numbers_of(t, 1, "labels") == std::vector<i32>{-100, -100, -100});
  CHECK(t.source(1).texts == strings{"c a b d"});
  CHECK_THAT(t.about, Contains("2 texts; 1 left out, since it is empty; 1 of 3 examples is longer "
                               "than src_max_sequence_length 4: its end is left out"));
  p.src_data_dir = {in.put("t.tsv", "one\ttwo\na\tb\nc\ta b c d\n")}, p.src_column = "one",
  p.tgt_column = "two";
  t = p.task(text_use::prediction);
  REQUIRE(t.data.count == 2);
  CHECK(numbers_of(t, 0, "labels") == std::vector<i32>{5, 2, -100});
  CHECK(numbers_of(t, 1, "labels") == std::vector<i32>{-100, -100, -100});
  CHECK(t.source(1).labels == strings{"a b c d"});
}

TEST_CASE("The sentence about the data says what is too long and what the vocabulary does not know") {
  const words in;
  auto p = in.of<bert_classifier_processor>(
      in.put("t.tsv", "sentence\tlabel\na b c d a\t0\na b zz c\t1\na b\t0\nc d yy a\t1\n"), 6);
  CHECK_THAT(p.task(text_use::training).about,
             Contains("1 of 4 examples is longer than max_sequence_length 6: its end is left out; 13 % "
                      "of the tokens are [UNK]: the vocabulary is hardly that of these texts"));
  p.max_sequence_length = 12;
  p.data_dir = {in.put("clean.tsv", "sentence\tlabel\na b\t0\nc\t1\n")};
  CHECK(p.task(text_use::training).about == "2 texts of 2 classes: 0 0, 1 1");
  auto tags = in.of<bert_token_classifier_processor>(in.put("t.txt", "a O\nb O\nc O\n\nd O\n"), 4);
  CHECK_THAT(tags.task(text_use::training).about,
             Contains("1 of 2 examples is longer than max_sequence_length 4"));
  bert_csv_dynamic_mask_processor hidden;
  hidden.data_dir = {in.put("h.txt", "a b c d\nzz a\n\nc d\n")}, hidden.vocab_file = in / "vocab.txt";
  hidden.max_sequence_length = 16, hidden.max_predictions_per_seq = 2;
  for (const bool alone : {false, true}) {
    hidden.disable_nsp = alone;
    CHECK_THAT(hidden.task(text_use::training).about,
               Contains("hidden words; ") && Contains(" % of the tokens are [UNK]"));
  }
  hidden.disable_nsp = true;
  hidden.data_dir = {in.put("h.csv", "tokens\n\"['[CLS]', 'a', 'zz', '[SEP]']\"\n")};
  CHECK_THAT(hidden.task(text_use::training).about, Contains("each epoch; 25 % of the tokens are [UNK]"));
  t5_dynamic_processor spans;
  spans.src_data_dir = {in.put("s.txt", "a b c d a b c zz\n")}, spans.src_vocab_file = in / "words.txt";
  spans.sequences.src_max_sequence_length = 12, spans.sequences.tgt_max_sequence_length = 12;
  spans.extra_ids = 4;
  CHECK_THAT(spans.task(text_use::training).about, Contains("left out; 12 % of the tokens are <unk>"));
}

TEST_CASE("Percents have the digits that say something") {
  const auto said = [](int unknown, int all) {
    text_survey survey("[UNK]", 1);
    std::vector<i32> ids(static_cast<std::size_t>(all), 5);
    std::fill_n(ids.begin(), unknown, 1);
    survey.add_unknown(ids), survey.add_example(false);
    const std::string text = survey.text(1, "max_sequence_length", 8);
    return text.substr(0, text.find(" of the tokens"));
  };
  CHECK(said(1, 1'000'000) == "; less than 0.01 %");
  CHECK(said(57, 100'000) == "; 0.06 %");
  CHECK(said(7, 1000) == "; 0.7 %");
  CHECK(said(71, 1000) == "; 7.1 %");
  CHECK(said(500, 1000) == "; 50 %");
  CHECK(said(996, 1000) == "; more than 99 %");
  CHECK(said(10, 10) == "; 100 %");
}

}  // namespace
