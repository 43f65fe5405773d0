// SPDX-License-Identifier: MIT
// Files of examples of text: tables, lists, tagged words, questions.
#include <wsl/ml/data/text/label_map.hpp>
#include <wsl/ml/data/text/records.hpp>
#include <wsl/ml/data/text/squad.hpp>
#include <wsl/ml/data/text/tagged_words.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

using strings = std::vector<std::string>;

// All fields of a table in a row.
strings fields_of(const delimited_file& f) {
  strings all;
  for (i64 row = 0; row < f.count(); ++row)
    for (int c = 0; c < static_cast<int>(f.columns().size()); ++c) all.push_back(f.at(row, c));
  return all;
}

TEST_CASE("A table of comma-separated values is read as RFC 4180 says") {
  const files::folder in;
  const std::string name = in / "a.csv";
  files::write(name,
               "\xef\xbb\xbfid,\"the \"\"text\"\"\",last\r\n"
               "1,\"two\r\nlines, a comma\",x\r\n"
               "\r\n"
               "2,,\"\"\r\n"
               "3,\"a \"\"quote\"\"\",\xc3\xa9");
  const delimited_file f(name, csv_form);
  CHECK(f.columns() == strings{"id", "the \"text\"", "last"});
  CHECK(fields_of(f) ==
        strings{"1", "two\r\nlines, a comma", "x", "2", "", "", "3", "a \"quote\"", "\xc3\xa9"});
  CHECK(f.column("last") == 2);
  CHECK_THAT(f.error(2, "id", "it is wrong").what(), Contains("a.csv, line 6, column 'id': it is wrong"));
}

TEST_CASE("In a table of tab-separated values quotes are characters") {
  const files::folder in;
  files::write(in / "a.tsv", "sentence\tlabel\nit is \"so\t1\n\"and\" so, too\t0\n");
  CHECK(fields_of(delimited_file(in / "a.tsv", tsv_form)) ==
        strings{"it is \"so", "1", "\"and\" so, too", "0"});
}

TEST_CASE("A table that is written by rules is read back, whatever its fields have") {
  const files::folder in;
  const std::string signs = "a,\"\n\r\t ";
  strings wanted;
  std::string text = "x,y\n";
  for (int i = 0; i < 400; ++i) {
    std::string field, quoted = "\"";
    for (int k = i; k > 0; k /= static_cast<int>(signs.size()))
      field += signs[static_cast<std::size_t>(k) % signs.size()];
    for (char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
    wanted.push_back(field);
    text += quoted + "\"" + (i % 2 ? "\r\n" : ",");
  }
  files::write(in / "a.csv", text);
  CHECK(fields_of(delimited_file(in / "a.csv", csv_form)) == wanted);
}

TEST_CASE("A table that is not well formed is refused with its place") {
  const files::folder in;
  const auto says = [&](const std::string& bytes, delimited_form how = csv_form) {
    files::write(in / "a", bytes);
    return files::refusal([&] { delimited_file(in / "a", how); });
  };
  CHECK_THAT(says(""), Contains("/a: the file has no row"));
  CHECK_THAT(says("x,y\n1,\"2\n3,4\n"), Contains("line 2, byte 3: a quote is opened here and never closed"));
  CHECK_THAT(says("x,y\n1,\"2\" 3\n"), Contains("line 2, byte 6: a quote closes the field, but more"));
  CHECK_THAT(says("x,y\n1,2\"\n"), Contains("line 2, byte 4: a quote stands inside a field"));
  CHECK_THAT(says("x,y\n1,2\n1,2,3\n"),
             Contains("line 3: the row has 3 fields, but there are 2 columns ('x', 'y')"));
  CHECK_THAT(says("x\ty\n1\n", tsv_form), Contains("line 2: the row has 1 fields"));
  CHECK_THAT(says("x,x\n"), Contains("line 1: two columns are called 'x'"));
  CHECK_THAT(says("x,y\n1,\xff\n"), Contains("line 2, byte 3: this is not UTF-8"));
  files::write(in / "a", "x,y\n");
  CHECK_THAT(files::refusal([&] { delimited_file(in / "a", csv_form).column("z"); }),
             Contains("line 1: there is no column 'z' among 'x', 'y'"));
  CHECK_THAT(files::refusal([&] { delimited_file(in / "b", csv_form); }), Contains("cannot read"));
}

TEST_CASE("Lists are read as Python writes them") {
  CHECK(numbers_of_list("[101, 2023, -100]") == std::vector<i32>{101, 2023, -100});
  CHECK(numbers_of_list("7") == std::vector<i32>{7});
  CHECK(numbers_of_list("1 2  3").size() == 3);
  CHECK(numbers_of_list("[]").empty());
  CHECK(numbers_of_list("[1, 2,]").size() == 2);
  CHECK(texts_of_list(R"(['[CLS]', 'it', "'", 's', 'a\\b', '\'"', '\xe9\u20ac\U0001f600\n'])") ==
        strings{"[CLS]", "it", "'", "s", "a\\b", "'\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n"});
  for (const char* bad : {"[1, 2", "1]", "[1] 2", "[1, x]", "[99999999999]", "[1,,2]"})
    CHECK_THROWS_AS(numbers_of_list(bad), std::invalid_argument);
  for (const char* bad : {"['a", "[a]", "['\\q']", "['\\x1']", "['\\ud800']", "['a' 'b'", "['a\\"})
    CHECK_THROWS_AS(texts_of_list(bad), std::invalid_argument);
}

TEST_CASE("Examples come from tables and objects in any number of files") {
  const files::folder in;
  files::write(in / "a.csv", "text,label\none,1\ntwo,2\n");
  files::write(in / "b.jsonl", "{\"text\": \"three\", \"label\": 3}\n\n{\"text\": \"four\"}\nfive\n");
  const records all({in / "a.csv", in / "b.jsonl"});
  CHECK(all.count() == 5);
  CHECK(all.text(1, "text") == "two");
  CHECK(all.text(2, "label") == "3");
  CHECK(all.text(3, "text") == "four");
  CHECK_THAT(files::refusal([&] { all.text(3, "label"); }),
             Contains("b.jsonl, line 3: the object lacks 'label'"));
  CHECK_THAT(files::refusal([&] { all.text(4, "text"); }), Contains("b.jsonl, line 4: it is no object"));
  CHECK_THAT(files::refusal([&] { all.text(0, "class"); }), Contains("there is no column 'class'"));
  CHECK_THAT(files::refusal([&] { all.numbers(0, "text"); }),
             Contains("a.csv, line 2, column 'text': the list should have a whole number"));
  CHECK_THAT(files::refusal([&] { records r({in / "a.txt"}); }), Contains(".csv, .tsv or .jsonl"));
}

TEST_CASE("What must be a text is one") {
  const files::folder in;
  files::write(in / "a.jsonl",
               "{\"t\": \"a\"}\n\n{\"t\": null}\n{\"t\": 5}\n{\"t\": [\"a\"]}\n{\"t\": {}}\n{\"t\": true}\n");
  const records all({in / "a.jsonl"});
  CHECK(all.string(0, "t") == "a");
  CHECK(all.text(2, "t") == "5");
  const char* const kinds[] = {"null", "a number", "a list", "an object", "true or false"};
  for (i64 k = 0; k < 5; ++k)
    CHECK_THAT(files::refusal([&] { all.string(k + 1, "t"); }),
               Contains(fmt::format("line {}: 't': it is {}, not a text", k + 3, kinds[k])));
}

TEST_CASE("A folder means the files of its meta.dat, or those with an ending") {
  const files::folder in;
  for (const char* name : {"b.csv", "a.csv", "c.txt"}) files::write(in / name, "x\n1\n");
  CHECK(files_of({in / ""}, {".tsv", ".csv", ".txt"}) == strings{in / "a.csv", in / "b.csv"});
  CHECK_THAT(files::refusal([&] { files_of({in / ""}, {".tsv"}); }), Contains("neither a meta.dat nor"));
  CHECK_THAT(files::refusal([&] { files_of({in / "no"}, {".tsv"}); }), Contains("no such file or folder"));
  files::write(in / "meta.dat", "b.csv 1\n" + in / "c.txt 1" + "\n");
  CHECK(files_of({in / ""}, {".csv"}) == strings{(in / "") + "b.csv", in / "c.txt"});
  CHECK(records({in / "b.csv"}).count() == 1);
  files::write(in / "meta.dat", "b.csv 2\n");
  CHECK_THAT(files::refusal([&] { records({in / "b.csv"}); }),
             Contains("b.csv has 1 examples, but") && Contains("meta.dat, line 1, says 2"));
  for (const char* bad : {"b.csv\n", "b.csv x\n", "b.csv -1\n"}) {
    files::write(in / "meta.dat", bad);
    CHECK_THAT(files::refusal([&] { files_of({in / ""}, {".csv"}); }),
               Contains("meta.dat, line 1: a line has the name of a file"));
  }
}

TEST_CASE("Classes are found by name and by number") {
  const label_map classes({"no", "yes"});
  CHECK(classes.find("yes") == 1);
  CHECK(classes.find("0") == 0);
  CHECK_FALSE(classes.find("2"));
  CHECK_FALSE(classes.find("-1"));
  CHECK_FALSE(classes.find("1x"));
  CHECK(classes.text() == "0 no, 1 yes");
  CHECK_THROWS_WITH(label_map({"a", "a"}), Contains("two classes are called 'a'"));
  const files::folder in;
  files::write(in / "l.json", R"({"B-X": 1, "O": 0})");
  CHECK(label_map::of_file(in / "l.json").names() == strings{"O", "B-X"});
  files::write(in / "l.json", R"({"B-X": 1, "O": 1})");
  CHECK_THAT(files::refusal([&] { label_map::of_file(in / "l.json"); }),
             Contains("a number of its own from 0 to 1"));
  files::write(in / "l.json", "[1]");
  CHECK_THAT(files::refusal([&] { label_map::of_file(in / "l.json"); }), Contains("one object in JSON"));
}

TEST_CASE("Tagged words are read line by line") {
  const files::folder in;
  files::write(in / "t", "-DOCSTART- -X- O\n\nU.N. NNP B-ORG\nofficial\tNN\tO\n\n\nEkeus NNP B-PER\r\n");
  const std::vector<tagged_sentence> all = read_tagged_words(in / "t");
  REQUIRE(all.size() == 2);
  CHECK(all[0].words == strings{"U.N.", "official"});
  CHECK(all[0].tags == strings{"B-ORG", "O"});
  CHECK(all[1].words == strings{"Ekeus"});
  CHECK(tags_of(all) == strings{"O", "B-ORG", "B-PER"});
  files::write(in / "t", "a O\nb\n");
  CHECK_THAT(files::refusal([&] { read_tagged_words(in / "t"); }),
             Contains("line 2: the word 'b' has no tag"));
  files::write(in / "t", "\n\n");
  CHECK_THAT(files::refusal([&] { read_tagged_words(in / "t"); }), Contains("no words with tags"));
}

std::string squad_of(const std::string& context, const std::string& qas) {
  return R"({"version": "v2.0", "data": [{"title": "t", "paragraphs": [{"context": ")" + context +
         R"(", "qas": [)" + qas + "]}]}]}";
}

TEST_CASE("Questions have their answers by characters of the paragraph") {
  const files::folder in;
  const auto read = [&](const std::string& text) {
    files::write(in / "q.json", text);
    return read_squad(in / "q.json");
  };
  const std::string what = R"("id": "q1", "question": "What?")";
  const squad_data d =
      read(squad_of("\xc3\x9c"
                    "ber Z\xc3\xbcrich steht es.",
                    "{" + what +
                        R"(, "answers": [{"text": "Z)"
                        "\xc3\xbc"
                        R"(rich", "answer_start": 5}]},
       {"id": "q2", "question": "Why?", "answers": [], "is_impossible": true},
       {"id": "q3", "question": "Where?", "answers": [{"text": "steht", "answer_start": 5}]})"));
  REQUIRE(d.questions.size() == 2);
  CHECK(d.contexts[0].substr(d.questions[0].answers[0].begin, 7) == "Z\xc3\xbcrich");
  CHECK(d.questions[1].answers.empty());
  CHECK(d.left_out == strings{"q3"});
  const auto says = [&](const std::string& text) { return files::refusal([&] { read(text); }); };
  CHECK_THAT(says("{"), Contains("q.json: it is not JSON, or it is cut short"));
  CHECK_THAT(says("[]"), Contains("the document: there is no 'data'"));
  CHECK_THAT(says(squad_of("abc", "{" + what + "}")),
             Contains("data[0].paragraphs[0].qas[0]: there is no 'answers'"));
  for (const char* at : {"3", "2", "-1", "99999999999999999999"})
    CHECK_THAT(
        says(squad_of("abc", "{" + what + R"(, "answers": [{"text": "cd", "answer_start": )" + at + "}]}")),
        Contains("outside of the paragraph") || Contains("a whole number"));
  CHECK_THAT(says(squad_of("abc", R"({"id": 1, "question": "", "answers": []})")),
             Contains("qas[0].id: it should be a text"));
  CHECK_THAT(says(squad_of("abc", "")), Contains("no questions"));
  CHECK_THAT(says("\xff"), Contains("not UTF-8"));
}

}  // namespace
