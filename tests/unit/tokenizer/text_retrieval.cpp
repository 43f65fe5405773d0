// SPDX-License-Identifier: MIT
// Questions and passages in the form of DPR's data, and what a pair of encoders gets of them.
#include <cstring>
#include <set>
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/text/encode/processors.hpp>
#include <wsl/ml/model/dual_encoder.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

// [CLS] is 2, [SEP] 3, a 5, b 6, c 7, d 8.
constexpr const char* words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\n";
constexpr const char* first =
    R"({"question": "a b", "positive_ctxs": [{"title": "c", "text": "d a"}, {"title": "", "text": "b"}],)"
    R"( "negative_ctxs": [],)"
    R"( "hard_negative_ctxs": [{"title": "d", "text": "d"}, {"title": null, "text": "a"}]})";
constexpr const char* second =
    R"({"question": "c", "positive_ctxs": [{"title": "c", "text": "d a", "score": 1}],)"
    R"( "hard_negative_ctxs": []})";
constexpr const char* none = R"({"question": "d", "positive_ctxs": [], "hard_negative_ctxs": []})";

struct folder : files::folder {
  folder() {
    files::write(*this / "vocab.txt", words);
    files::write(*this / "all.json", fmt::format("[{},{},{}]", first, none, second));
    files::write(*this / "all.jsonl", fmt::format("{}\n\n{}\n{}\n", first, none, second));
  }
  dpr_processor of(const std::string& file, int hard = 0) const {
    dpr_processor p;
    p.data_dir = {*this / file}, p.vocab_file = *this / "vocab.txt", p.max_sequence_length = 5;
    p.max_passage_length = 6, p.hard_negatives = hard;
    return p;
  }
};
std::vector<i32> numbers(const loaded_batch& b, const std::string& name) {
  for (const auto& x : b.by_name)
    if (x.name == name) return x.numbers;
  FAIL(name + " is missing");
  return {};
}

TEST_CASE("Questions and passages are read from both forms, each passage once") {
  const folder in;
  for (const char* name : {"all.json", "all.jsonl"}) {
    const retrieval_data d = read_retrieval({in / name});
    CHECK(d.passages == std::vector<passage>{{"c", "d a"}, {"", "b"}, {"d", "d"}, {"", "a"}});
    REQUIRE(d.questions.size() == 2);
    CHECK(d.without_answer == 1);
    CHECK(d.questions[0].text == "a b");
    CHECK(d.questions[0].right == std::vector<std::size_t>{0, 1});
    CHECK(d.questions[0].hard == std::vector<std::size_t>{2, 3});
    CHECK(d.questions[1].right == std::vector<std::size_t>{0});
    CHECK(d.questions[1].hard.empty());
  }
  const retrieval_data both = read_retrieval({in / "all.json", in / "all.jsonl"});
  CHECK((both.questions.size() == 4 && both.passages.size() == 4));
}

TEST_CASE("A pair of encoders gets questions, and passages with their titles") {
  const folder in;
  const text_task t = in.of("all.json", 2).task(ml::text_use::evaluation);
  CHECK(t.about ==
        "2 questions, 4 passages; 1 questions have fewer hard negatives than 2; 1 questions are left out, "
        "which no passage answers");
  CHECK(t.vocabulary == 9);
  batches all(t.data, {.size = 2, .shuffle = false});
  const loaded_batch b = all.next();
  CHECK(numbers(b, "questions_input_ids") == std::vector<i32>{2, 5, 6, 3, 0, 2, 7, 3, 0, 0});
  CHECK(numbers(b, "questions_attention_mask") == std::vector<i32>{1, 1, 1, 1, 0, 1, 1, 1, 0, 0});
  CHECK(numbers(b, "ctx_0_input_ids") == std::vector<i32>{2, 7, 3, 8, 5, 3, 2, 7, 3, 8, 5, 3});
  CHECK(numbers(b, "ctx_0_token_type_ids") == std::vector<i32>{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  CHECK(numbers(b, "ctx_1_input_ids") == std::vector<i32>{2, 8, 3, 8, 3, 0, 2, 3, 0, 0, 0, 0});
  CHECK(numbers(b, "ctx_2_input_ids") == std::vector<i32>{2, 5, 3, 0, 0, 0, 2, 3, 0, 0, 0, 0});
  CHECK(numbers(b, "ctx_seen") == std::vector<i32>{1, 1, 1, 1, 0, 0});

  const encoder e{.vocabulary = 9, .positions = 6, .layers = 1, .heads = 1, .width = 4};
  const network n = dual_encoder{.questions = e, .passages = e, .passages_of_question = 3}.build();
  ml::batch view = b.view();
  CHECK(check(n, view) == 2);
}

TEST_CASE("Texts that are too long lose their ends, and titles stay") {
  const folder in;
  files::write(in / "long.jsonl",
               R"({"question": "a b c d a", "positive_ctxs": [{"title": "c", "text": "a b c d"}]})");
  const text_task t = in.of("long.jsonl").task(ml::text_use::evaluation);
  batches all(t.data, {.size = 1, .shuffle = false});
  const loaded_batch b = all.next();
  CHECK(numbers(b, "questions_input_ids") == std::vector<i32>{2, 5, 6, 7, 3});
  CHECK(numbers(b, "ctx_0_input_ids") == std::vector<i32>{2, 7, 3, 5, 6, 3});
}

TEST_CASE("Hard negatives are drawn anew in each epoch of training") {
  const folder in;
  const text_task t = in.of("all.json", 1).task(ml::text_use::training);
  std::set<i32> drawn;
  batches all(t.data, {.size = 2, .shuffle = false, .seed = 3});
  for (int epoch = 0; epoch < 20; ++epoch) drawn.insert(numbers(all.next(), "ctx_1_input_ids")[1]);
  CHECK(drawn == std::set<i32>{5, 8});
}

TEST_CASE("Questions and passages come alone, too, in the order of their numbers") {
  const folder in;
  const retrieved_text texts = in.of("all.json", 1).texts();
  const text_task passages = texts.passages(), questions = texts.questions();
  CHECK((passages.data.count == 4 && questions.data.count == 2));
  batches all(passages.data, {.size = 4, .shuffle = false});
  CHECK(numbers(all.next(), "input_ids") ==
        std::vector<i32>{2, 7, 3, 8, 5, 3, 2, 6, 3, 0, 0, 0, 2, 8, 3, 8, 3, 0, 2, 5, 3, 0, 0, 0});
  batches asked(questions.data, {.size = 2, .shuffle = false});
  CHECK(numbers(asked.next(), "input_ids") == std::vector<i32>{2, 5, 6, 3, 0, 2, 7, 3, 0, 0});
}

TEST_CASE("A hard negative that answers its question is left out") {
  const folder in;
  files::write(in / "both.jsonl", R"({"question": "a", "positive_ctxs": [{"text": "b"}, {"text": "c"}],)"
                                  R"( "hard_negative_ctxs": [{"text": "c"}, {"text": "d"}, {"text": "b"}]})");
  const retrieval_data d = read_retrieval({in / "both.jsonl"});
  CHECK(d.right_among_hard == 2);
  CHECK(d.questions.front().hard == std::vector<std::size_t>{2});
  CHECK_THAT(in.of("both.jsonl", 1).task(ml::text_use::training).about,
             Contains("2 hard negatives are left out, which answer their question"));
}

TEST_CASE("What lengths and a vocabulary leave of questions and of passages is said") {
  const folder in;
  files::write(
      in / "long.jsonl",
      R"({"question": "a b c d", "positive_ctxs": [{"title": "c", "text": "a b c d x"}, {"text": "x"}]})"
      "\n"
      R"({"question": "a y", "positive_ctxs": [{"text": "a"}]})");
  CHECK_THAT(
      in.of("long.jsonl").task(ml::text_use::training).about,
      Catch::Matchers::EndsWith(
          "; 1 of 2 questions is longer than max_sequence_length 5: its end is left out; 17 % of the tokens "
          "of questions are [UNK]: the vocabulary is hardly that of these texts, or do_lower is not what it "
          "was made with; 1 of 3 passages is longer than max_passage_length 6: its end is left out; 25 % of "
          "the tokens of passages are [UNK]: the vocabulary is hardly that of these texts, or do_lower is "
          "not what it was made with"));
}

TEST_CASE("Token types are those of passages with titles") {
  const folder in;
  files::write(in / "untitled.jsonl", R"({"question": "a", "positive_ctxs": [{"text": "a b"}]})");
  CHECK(in.of("untitled.jsonl").task(ml::text_use::training).token_types == 1);
  CHECK(in.of("all.json").task(ml::text_use::training).token_types == 2);
}

TEST_CASE("Passages of an index come from tables and from objects in JSON") {
  const folder in;
  files::write(in / "index.tsv", "id\ttext\ttitle\n1\td a\tc\n2\tb\t\n");
  files::write(in / "index.jsonl", "{\"text\": \"d a\", \"title\": \"c\"}\n{\"text\": \"b\"}\n");
  dpr_processor p = in.of("all.json");
  p.words = p.with();
  for (const char* name : {"index.tsv", "index.jsonl"}) {
    const text_task t = p.passages_in(in / name);
    CHECK((t.data.count == 2 && t.data.length == 6));
    batches all(t.data, {.size = 2, .shuffle = false});
    CHECK(numbers(all.next(), "input_ids") == std::vector<i32>{2, 7, 3, 8, 5, 3, 2, 6, 3, 0, 0, 0});
  }
  files::write(in / "untold.tsv", "id\tbody\n1\td a\n");
  CHECK_THAT(files::refusal([&] { p.passages_in(in / "untold.tsv"); }), Contains("text"));
}

TEST_CASE("Data of retrieval that do not fit are refused") {
  const folder in;
  const auto refused = [&](const std::string& name, const std::string& text) {
    files::write(in / name, text);
    return files::refusal([&] { read_retrieval({in / name}); });
  };
  CHECK_THAT(refused("a.json", first), Contains("no array of questions"));
  CHECK_THAT(refused("b.jsonl", "7\n"), Contains("b.jsonl, line 1: it is no object in JSON"));
  CHECK_THAT(refused("b.jsonl", fmt::format("{}\n{{\n", first)),
             Contains("b.jsonl, line 2, byte 1: the JSON ends in the middle: it is cut short"));
  CHECK_THAT(refused("b.jsonl", R"({"question": "a", positive_ctxs: []})"),
             Contains("b.jsonl, line 1, byte 19: what stands here is no JSON"));
  const std::string all = fmt::format("[{},{}]", first, second);
  CHECK_THAT(refused("cut.json", all.substr(0, 50)),
             Contains("cut.json, byte 50: the JSON ends in the middle"));
  CHECK_THAT(refused("empty.json", ""), Contains("empty.json, byte 0: the JSON ends in the middle"));
  CHECK_THAT(
      refused("broken.json", fmt::format("[{}, what]", second)),
      Contains(fmt::format("broken.json, byte {}: what stands here is no JSON", std::strlen(second) + 4)));
  const auto with = [&](const char* passages, const char* hard = "[]") {
    return refused("p.json",
                   fmt::format(R"([{}, {{"question": "a", "positive_ctxs": {}, "hard_negative_ctxs": {}}}])",
                               first, passages, hard));
  };
  CHECK_THAT(with("7"),
             Contains("p.json, question 2: 'positive_ctxs' should be an array of passages, not 7"));
  CHECK_THAT(with(R"([{"text": "a"}, {"title": "a"}])"),
             Contains("p.json, question 2, positive_ctxs[1]: the object lacks a text 'text'"));
  CHECK_THAT(with(R"([{"text": 7}])"),
             Contains("p.json, question 2, positive_ctxs[0]: 'text' should be a text, not 7"));
  CHECK_THAT(with(R"([{"text": "a", "title": []}])"),
             Contains("positive_ctxs[0]: 'title' should be a text, not an array"));
  CHECK_THAT(with(R"([{"text": "a"}])", R"(["b"])"),
             Contains("p.json, question 2, hard_negative_ctxs[0]: it is no object in JSON"));
  for (const char* blank : {"", " \\n"})
    CHECK_THAT(refused("blank.jsonl",
                       fmt::format("{}\n{{\"question\": \"{}\", \"positive_ctxs\": []}}\n", first, blank)),
               Contains("blank.jsonl, line 2: the question is empty: write one, or remove the record"));
  CHECK_THAT(refused("c.json", R"([{"positive_ctxs": []}])"),
             Contains("question 1: the object lacks a text 'question'"));
  CHECK_THAT(refused("d.json", R"([{"question": "a"}])"),
             Contains("lacks 'positive_ctxs', an array of passages"));
  CHECK_THAT(refused("e.json", fmt::format("[{}]", none)),
             Contains("there is no question that a passage answers"));
  CHECK_THAT(files::refusal([&] { read_retrieval({in / "no.json"}); }), Contains("cannot be read"));
  CHECK_THROWS_WITH(in.of("all.json", -1).task(ml::text_use::training),
                    Contains("hard_negatives is at least 0, not -1"));
  dpr_processor p = in.of("all.json");
  p.max_passage_length = 4;
  CHECK_THROWS_WITH(p.task(ml::text_use::training),
                    Contains("wsl: max_passage_length is 4; with the special tokens it takes 5"));
  p.max_passage_length = 0, p.max_sequence_length = 4;
  CHECK_THROWS_WITH(p.task(ml::text_use::training),
                    Contains("wsl: max_sequence_length is 4; with the special tokens it takes 5"));
}

}  // namespace
