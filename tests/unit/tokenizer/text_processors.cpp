// SPDX-License-Identifier: MIT
// The processors of the Model Zoo: their names and settings, and what the models of their tasks take.
#include <wsl/ml/data/batches.hpp>
#include <wsl/ml/data/text/encode/processors.hpp>
#include <wsl/ml/model/encoder.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;
using strings = std::vector<std::string>;

// Small data of every format.
struct zoo : files::folder {
  zoo() {
    put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\n##x\n");
    put("words.txt", "<pad>\n</s>\n<unk>\n<s>\na\nb\nc\nd\n");
    put("text.txt", "a b c\nb c d a\n\nc d\nd a b\n\na a d\n");
    put("dynamic.csv",
        "tokens,segment_ids,is_random_next\n\"['[CLS]', 'a', '[SEP]', 'b', 'c', '[SEP]']\",\"[0, 0, 0, 1, 1, "
        "1]\",0\n");
    put("static.csv",
        "input_ids,token_type_ids,next_sentence_label,masked_lm_weights,masked_lm_positions,attention_mask,"
        "labels\n"
        "\"[2, 4, 3, 6, 3, 0]\",\"[0, 0, 0, 1, 1, 0]\",1,\"[1, 0]\",\"[1, 0]\",\"[1, 1, 1, 1, 1, 0]\",\"[5, "
        "0]\"\n");
    put("sst2/train.tsv", "sentence\tlabel\na b\t1\nc d\t0\n");
    put("sst2/dev.tsv", "sentence\tlabel\na c\t0\n");
    for (const char* file : {"train", "dev_matched", "dev_mismatched"})
      put(std::string("mnli/") + file + ".tsv",
          "index\tsentence1\tsentence2\tgold_label\n0\ta b\tc\tneutral\n");
    put("tags.txt", "a B-X\nb I-X\n\nc O\n");
    put("tags.json", R"({"O": 0, "B-X": 1, "I-X": 2})");
    put("sum.csv",
        "input_token_ids,labels,segment_ids,cls_indices\n\"[2, 5, 3, 2, 6, 3]\",\"[1, 0]\",\"[0, 0, 0, 1, 1, "
        "1]\",\"[0, 3]\"\n");
    put("squad.json", R"({"data": [{"paragraphs": [{"context": "a b c d", "qas": [
        {"id": "1", "question": "d", "answers": [{"text": "b c", "answer_start": 2}]}]}]}]})");
    put("no_answer.json", R"({"data": [{"paragraphs": [{"context": "a", "qas": [
        {"id": "7", "question": "d", "answers": [], "is_impossible": true}]}]}]})");
    put("t5/meta.dat", "one.txt 2\n");
    put("t5/one.txt", "a b c d a b c d\nd c b a\n");
    put("wmt/meta.dat", "train.de train.en 2\n");
    put("wmt/train.de", "a b\nc\n"), put("wmt/train.en", "b a\nd d\n");
    put("wmt.tsv", "de\ten\na b\tc\n");
  }
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
    files::write(*this / name, text);
  }
  template <class P>
  P of(const std::string& data) const {
    P p;
    p.data_dir = {*this / data}, p.vocab_file = *this / "vocab.txt", p.max_sequence_length = 12;
    return p;
  }
  template <class P>
  P reading(const std::string& data) const {
    P p;
    p.src_data_dir = {*this / data}, p.src_vocab_file = *this / "words.txt";
    p.sequences.src_max_sequence_length = 8, p.sequences.tgt_max_sequence_length = 8;
    return p;
  }
};

// Whether the first batch fits the model of a task.
void fits(const text_task& t, encoder_task task) {
  encoder e{.vocabulary = t.vocabulary, .positions = 12, .layers = 1, .heads = 1, .width = 4, .task = task};
  if (t.classes.count()) e.classes = t.classes.count();
  const network n = e.build();
  batches data(t.data, {.size = 1});
  const loaded_batch next = data.next();
  batch b = next.view();
  CHECK(check(n, b) >= 1);
  CHECK(b.length == 12);
}

TEST_CASE("The batches of each processor are those that the model of its task takes") {
  const zoo in;
  auto dynamic = in.of<bert_csv_dynamic_mask_processor>("dynamic.csv");
  dynamic.max_predictions_per_seq = 3;
  fits(dynamic.task(text_use::training), encoder_task::next_sentence);
  dynamic.data_dir = {in / "text.txt"};
  fits(dynamic.task(text_use::training), encoder_task::next_sentence);
  dynamic.disable_nsp = true;
  fits(dynamic.task(text_use::training), encoder_task::masked_words);
  auto hidden = in.of<bert_csv_processor>("static.csv");
  fits(hidden.task(text_use::training), encoder_task::next_sentence);
  hidden.disable_nsp = true;
  fits(hidden.task(text_use::training), encoder_task::masked_words);
  fits(in.of<sst2_processor>("sst2").task(text_use::training), encoder_task::sequence_classes);
  fits(in.of<mnli_processor>("mnli").task(text_use::training), encoder_task::sequence_classes);
  fits(in.of<bert_classifier_processor>("sst2/train.tsv").task(text_use::training),
       encoder_task::sequence_classes);
  auto tags = in.of<bert_token_classifier_processor>("tags.txt");
  tags.label_vocab_file = in / "tags.json";
  fits(tags.task(text_use::training), encoder_task::token_classes);
  auto sum = in.of<bert_sum_csv_processor>("sum.csv");
  sum.max_cls_tokens = 4;
  fits(sum.task(text_use::training), encoder_task::token_classes);
  fits(in.of<qa_processor>("squad.json").task(text_use::training), encoder_task::span);
}

TEST_CASE("A processor of GLUE has other files to evaluate with") {
  const zoo in;
  CHECK(in.of<sst2_processor>("sst2").task(text_use::training).data.count == 2);
  CHECK(in.of<sst2_processor>("sst2").task(text_use::evaluation).data.count == 1);
  CHECK(in.of<mnli_processor>("mnli").task(text_use::evaluation).data.count == 2);
  CHECK(in.of<mnli_processor>("mnli").task(text_use::training).classes.name(2) == "contradiction");
}

TEST_CASE("The processors of encoder-decoders read what meta.dat lists, files and tables") {
  const zoo in;
  auto t5 = in.reading<t5_dynamic_processor>("t5");
  t5.extra_ids = 4;
  const text_task spans = t5.task(text_use::training);
  CHECK(spans.data.count == 2);
  CHECK(spans.vocabulary == 12);
  CHECK(spans.data.named[2].name == "decoder_input_ids");
  auto wmt = in.reading<transformer_dynamic_processor>("wmt");
  CHECK(wmt.task(text_use::training).data.count == 2);
  wmt.src_data_dir = {in / "wmt/train.de"}, wmt.tgt_data_dir = {in / "wmt/train.en"};
  CHECK(wmt.task(text_use::training).data.count == 2);
  wmt = in.reading<transformer_dynamic_processor>("wmt.tsv");
  wmt.src_column = "de", wmt.tgt_column = "en";
  CHECK(wmt.task(text_use::training).data.count == 1);
  wmt.tgt_column.clear();
  CHECK_THROWS_WITH(wmt.task(text_use::training), Contains("src_column and tgt_column belong together"));
  in.put("wmt/meta.dat", "train.de 2\n");
  CHECK_THAT(
      files::refusal([&] { in.reading<transformer_dynamic_processor>("wmt").task(text_use::training); }),
      Contains("meta.dat, line 1: a line has a file of sources"));
}

TEST_CASE("Processors and their settings are found by the names of the Model Zoo") {
  strings names;
  for (text_processor p : text_processors()) {
    names.push_back(name_of(p));
    CHECK(text_processor_of(names.back(), kind_of(p)).index() == p.index());
    strings settings, accepted;
    each_setting(p, [&]<class T>(const char* name, T&, const char* help) {
      static_assert(std::is_same_v<T, bool> || std::is_same_v<T, int> || std::is_same_v<T, f64> ||
                    std::is_same_v<T, std::string> || std::is_same_v<T, strings>);
      settings.push_back(name);
      CHECK_FALSE(std::string(help).empty());
    });
    each_accepted(p, [&](const char* name, const char*) { accepted.push_back(name); });
    for (const std::string& s : accepted)
      CHECK(std::find(settings.begin(), settings.end(), s) == settings.end());
    std::sort(settings.begin(), settings.end());
    CHECK(std::adjacent_find(settings.begin(), settings.end()) == settings.end());
    CHECK(std::binary_search(settings.begin(), settings.end(), "do_lower") !=
          (names.back() == "SyntheticDataProcessor"));
  }
  CHECK(names == strings{"BertCSVDynamicMaskDataProcessor", "BertCSVDataProcessor", "BertHDF5DataProcessor",
                         "SyntheticDataProcessor", "BertClassifierDataProcessor", "SST2DataProcessor",
                         "MNLIDataProcessor", "BertTokenClassifierDataProcessor", "BertSumCSVDataProcessor",
                         "QADataProcessor", "DPRHDF5DataProcessor", "T5DynamicDataProcessor",
                         "T5HDF5DataProcessor", "SyntheticDataProcessor", "TransformerDynamicDataProcessor"});
  CHECK_THROWS_WITH(
      text_processor_of("BertData"),
      Contains("there is no data_processor 'BertData' of text; known are BertCSVDynamicMaskDataProcessor, "));
}

TEST_CASE("Settings are read by their names") {
  const zoo in;
  text_processor p = text_processor_of("SST2DataProcessor");
  each_setting(p, [&]<class T>(std::string_view name, T& value, const char*) {
    if constexpr (std::is_same_v<T, strings>) value = {in / "sst2"};
    else if constexpr (std::is_same_v<T, std::string>) value = in / "vocab.txt";
    else if constexpr (std::is_same_v<T, int>) value = 16;
    else CHECK(name == "do_lower");
  });
  CHECK(task_of(p, text_use::training).data.length == 16);
}

TEST_CASE("Settings that are missing or not honoured are refused") {
  const zoo in;
  for (const text_processor& p : text_processors())
    if (std::string(name_of(p)) != "SyntheticDataProcessor")
      CHECK_THROWS_WITH(task_of(p, text_use::training), Contains("data_dir is missing"));
  CHECK_THROWS_WITH(
      in.of<bert_hdf5_processor>("some.h5").task(text_use::training),
      Contains("the data of BertHDF5DataProcessor are HDF5, and this program was built without libhdf5"));
  sst2_processor sst = in.of<sst2_processor>("sst2");
  sst.max_sequence_length = 0;
  CHECK_THROWS_WITH(sst.task(text_use::training),
                    Contains("max_sequence_length is 0: take that of the model"));
  sst = in.of<sst2_processor>("sst2"), sst.vocab_file.clear();
  CHECK_THROWS_WITH(sst.task(text_use::training), Contains("vocab_file is missing"));
  sst = in.of<sst2_processor>("mnli");
  CHECK_THAT(files::refusal([&] { sst.task(text_use::evaluation); }), Contains("dev.tsv"));
  CHECK_THROWS_WITH(in.of<bert_csv_dynamic_mask_processor>("text.txt").task(text_use::training),
                    Contains("max_predictions_per_seq at least 1, not 0.15 and 0"));
  CHECK_THROWS_WITH(in.of<bert_sum_csv_processor>("sum.csv").task(text_use::training),
                    Contains("max_cls_tokens is at least 1, not 0"));
  CHECK_THAT(files::refusal([&] { in.of<bert_csv_processor>("dynamic.csv").task(text_use::training); }),
             Contains("there is no column 'input_ids' among 'tokens'"));
  CHECK_THAT(files::refusal([&] { in.of<qa_processor>("no_answer.json").task(text_use::training); }),
             Contains("the question 7 has no answer: set version_2_with_negative"));
  auto second = in.of<qa_processor>("no_answer.json");
  second.version_2_with_negative = true;
  CHECK(second.task(text_use::training).data.count == 1);
  CHECK(second.of_answers().may_have_none);
  auto t5 = in.reading<t5_dynamic_processor>("t5");
  CHECK_THROWS_WITH(t5.task(text_use::training), Contains("take as many extra_ids, not 0"));
  t5.sequences.oov_token = "[UNK]";
  CHECK_THAT(files::refusal([&] { t5.task(text_use::training); }), Contains("unk_token"));
  t5 = in.reading<t5_dynamic_processor>("t5"), t5.sequences.src_max_sequence_length = 0;
  CHECK_THROWS_WITH(t5.task(text_use::training), Contains("at least 2, not 0 and 8"));
  const auto cased = files::data_set("hf/tokenizers/t5.json");
  if (!cased) return;
  sst = in.of<sst2_processor>("sst2"), sst.vocab_file = *cased, sst.do_lower = true;
  CHECK_THROWS_WITH(sst.task(text_use::training),
                    Contains("do_lower is set, but this tokenizer does not make texts lower case"));
  sst.do_lower = false;
  CHECK_THROWS_WITH(sst.task(text_use::training), Contains("has no token <s>, which an encoder needs"));
}

TEST_CASE("Processors of random numbers have a vocabulary of numbers") {
  synthetic_encoder_processor encoder;
  encoder.vocab_size = 20, encoder.max_sequence_length = 8, encoder.num_examples = 3;
  const text_task hidden = encoder.task(text_use::training);
  CHECK(hidden.vocabulary == 20);
  CHECK(hidden.data.count == 3);
  CHECK(hidden.token_types == 2);
  const tokenizer words = tokenizer::from_json(encoder.vocabulary(), "numbers");
  CHECK(words.size() == 20);
  CHECK(words.encode("7 19 what", {.add_special_tokens = false}) == std::vector<i32>{7, 19, 0});
  CHECK(words.id("[MASK]") == 4);
  synthetic_encoder_decoder_processor pairs;
  pairs.vocab_size = 20, pairs.sequences.src_max_sequence_length = 6,
  pairs.sequences.tgt_max_sequence_length = 4;
  pairs.sequences.sos_token = "<pad>";  // as T5
  const text_task t = pairs.task(text_use::training);
  CHECK(t.data.count == endless_examples);
  std::vector<std::vector<i32>> all{std::vector<i32>(6), std::vector<i32>(6), std::vector<i32>(4),
                                    std::vector<i32>(4)};
  const std::vector<std::span<i32>> rooms(all.begin(), all.end());
  t.data.get(5, {.ids = {}, .features = {}, .targets = {}, .named = rooms});
  CHECK(all[2].front() == 1);
  CHECK(all[3].back() == 2);
  pairs.vocab_size = 3;
  CHECK_THROWS_WITH(pairs.task(text_use::training),
                    Contains("a vocabulary of 3 tokens has no room for 3 special ones"));
  CHECK_THROWS_WITH(text_processor_of("T5HDF5DataProcessor", text_kind::encoder),
                    Contains("there is no data_processor 'T5HDF5DataProcessor'"));
}

}  // namespace
