// SPDX-License-Identifier: MIT
// The byte strings and the verdicts are those of the reference reader's own tests (huggingface/safetensors,
// safetensors/src/tensor.rs).
#include <sys/resource.h>

#include <csignal>
#include <wsl/ml/io/safetensors.hpp>

#include "files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

std::string with_length(const std::string& header, const std::string& data = {}) {
  return files::bytes_of(std::vector<u64>{header.size()}) + header + data;
}

struct verdict {
  files::folder here;
  std::string operator()(const std::string& bytes) const {
    files::write(here / "t.safetensors", bytes);
    return files::refusal([&] { safetensors_file(here / "t.safetensors"); });
  }
};

TEST_CASE("Tensors of every type come back") {
  const files::folder here;
  const std::string name = here / "t.safetensors";
  const std::vector<f32> a{1, 2, 3, 4, 5, 6};
  const std::vector<f64> b{0.1};
  const std::vector<i64> c{-1, 7};
  const std::vector<f16> d{f16(1.5), f16(-2.0)};
  const std::vector<bf16> e{bf16(3.0)};
  const std::vector<u8> none;
  write_safetensors(name,
                    {{"a", {2, 3}, a},
                     {"b", {}, b},
                     {"c", {2}, c},
                     {"d", {1, 2, 1}, d},
                     {"e", {1}, e},
                     {"empty", {3, 0}, none}},
                    {{"who", "we"}});
  safetensors_file in(name);
  CHECK(in.metadata() == text_by_name{{"format", "pt"}, {"who", "we"}});
  CHECK(in.text("who") == "we");
  CHECK(in.numbers("a", {2, 3}) == a);
  CHECK(in.read<f64>(in.get("b", {})) == b);
  CHECK(in.numbers("b", {}) == std::vector<f32>{0.1f});
  CHECK(in.read<i64>(in.get("c", {2})) == c);
  CHECK(in.numbers("d", {1, 2, 1}) == std::vector<f32>{1.5f, -2});
  CHECK(in.numbers("e", {1}) == std::vector<f32>{3});
  CHECK(in.read<u8>(in.get("empty", {3, 0})).empty());
  for (const tensor_info& t : in.tensors()) CHECK(t.begin * 8 % static_cast<u64>(t.type.bits) == 0);
  CHECK_THAT(files::refusal([&] { in.numbers("a", {3, 2}); }),
             Contains("tensor 'a' has the shape (2, 3), not (3, 2): it is of another model"));
  CHECK_THAT(files::refusal([&] { in.numbers("z", {}); }), Contains("has no tensor 'z'"));
  CHECK_THAT(files::refusal([&] { in.numbers("c", {2}); }), Contains("type I64"));
  CHECK_THAT(files::refusal([&] { in.read<f32>(in.get("c", {2})); }), Contains("type I64, not F32"));
  CHECK_THAT(files::refusal([&] { in.text("when"); }), Contains("says nothing of 'when'"));
}

TEST_CASE("The file is that of the reference writer") {
  const files::folder here;
  const std::vector<i32> zeros(4);
  write_safetensors(here / "t", {{"test", {2, 2}, zeros}});
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}})";
  CHECK(read_whole(here / "t") ==
        with_length(header + std::string((8 - header.size() % 8) % 8, ' '), std::string(16, '\0')));
}

TEST_CASE("What the reference reader takes is taken") {
  const verdict says;
  const std::string one = R"({"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}})", data(16, '\0');
  CHECK(says(with_length(one, data)) == "it is taken");
  CHECK(says(with_length(R"({"test":{"dtype":"I32","shape":[],"data_offsets":[0,4]}})", "abcd")) ==
        "it is taken");
  CHECK(says(with_length(R"({"test":{"dtype":"I32","shape":[2,0],"data_offsets":[0,0]}})")) == "it is taken");
  CHECK(says(with_length("{}")) == "it is taken");
  CHECK(says(with_length("{}\r \t\n")) == "it is taken");
  CHECK(says(with_length("\t\n {}")) == "it is taken");
  CHECK(says(with_length(R"({"__metadata__":{}})")) == "it is taken");
  CHECK(says(with_length(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
                         R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                         "ab")) == "it is taken");
  CHECK(says(with_length(R"({"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})", "a")) == "it is taken");
}

TEST_CASE("What it refuses is refused, by a sentence") {
  const verdict says;
  const auto tensor = [&](const std::string& properties, const std::string& data = std::string(16, '\0')) {
    return says(with_length("{\"t\":{" + properties + "}}", data));
  };
  CHECK_THAT(says(""), Contains("the length of the header should follow"));
  CHECK_THAT(says(files::bytes_of(std::vector<u64>{60})),
             Contains("the header should follow, 60 x 1 bytes, but only 0 are left"));
  CHECK_THAT(says(files::bytes_of(std::vector<u64>{~u64{0}})), Contains("more than the 100000000"));
  CHECK_THAT(says(files::bytes_of(std::vector<u64>{99'999'999}) + "{}"), Contains("cut short"));
  CHECK_THAT(says(with_length("")), Contains("does not begin with {"));
  CHECK_THAT(says(with_length("{")), Contains("no JSON"));
  CHECK_THAT(says(with_length("[]")), Contains("does not begin with {"));
  CHECK_THAT(says(with_length("\xff")), Contains("does not begin with {"));
  CHECK_THAT(says(with_length("{\"\xff\":{}}")), Contains("no JSON"));
  CHECK_THAT(says(with_length("{} x")), Contains("no JSON"));
  CHECK_THAT(says(with_length(std::string("{}\0\0", 4))), Contains("zeros"));
  CHECK_THAT(says(with_length("\xef\xbb\xbf{}")), Contains("does not begin with {"));
  CHECK_THAT(says(with_length("{}", "abc")), Contains("the file has 3"));
  CHECK_THAT(tensor(R"("dtype":"I32","shape":[2,2],"data_offsets":[0,16])", "short"),
             Contains("16 bytes, the file has 5: it is cut short"));
  CHECK_THAT(tensor(R"("dtype":"I32","shape":[2,2],"data_offsets":[0,4])", "abcd"),
             Contains("takes 16 bytes"));
  CHECK_THAT(tensor(R"("dtype":"I32","shape":[2,2],"data_offsets":[16,0])"),
             Contains("data_offsets are 16 and 0"));
  CHECK_THAT(tensor(R"("dtype":"I32","shape":[2,18446744073709551614],"data_offsets":[0,16])"),
             Contains("more numbers than 64 bits"));
  CHECK_THAT(tensor(R"("dtype":"I32","shape":[2,9223372036854775807],"data_offsets":[0,16])"),
             Contains("more numbers than 64 bits"));
  CHECK_THAT(tensor(R"("dtype":"I32","shape":[2,2],"data_offsets":[4,20])", std::string(20, 'x')),
             Contains("begin at 4, not"));
  CHECK_THAT(tensor(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])"), Contains("whole bytes"));
  CHECK_THAT(tensor(R"("dtype":"Q8","shape":[2,2],"data_offsets":[0,16])"), Contains("'Q8', which is none"));
  CHECK_THAT(tensor(R"("dtype":"","shape":[2,2],"data_offsets":[0,16])"), Contains("'', which is none"));
  CHECK_THAT(tensor(R"("dtype":"I32","shape":[-2,2],"data_offsets":[0,16])"), Contains("negative number"));
  CHECK_THAT(tensor(R"("dtype":"I32","shape":[2.5],"data_offsets":[0,16])"), Contains("not whole"));
  CHECK_THAT(tensor(R"("dtype":"I32","shape":[[2,2]],"data_offsets":[0,16])"),
             Contains("'t' has a list where safetensors has none, at 'shape'"));
  CHECK_THAT(tensor(R"("dtype":"I32","shape":[2,2])"), Contains("needs dtype, shape and data_offsets"));
  CHECK_THAT(tensor(R"("dtype":"I32","shape":[2,2],"data_offsets":[0,16,16])"),
             Contains("needs dtype, shape and data_offsets"));
  CHECK_THAT(tensor(R"("dtype":"I32","dtype":"F32","shape":[2,2],"data_offsets":[0,16])"),
             Contains("'dtype' of 't' is there twice"));
  CHECK_THAT(tensor(R"("dtype":"I32","shape":[2,2],"data_offsets":[0,16],"more":1)"),
             Contains("unknown property 'more'"));
  CHECK_THAT(says(with_length(R"({"t":{"dtype":"U8","shape":[],"data_offsets":[0,1]},)"
                              R"("t":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
                              "a")),
             Contains("'t' is there twice"));
  CHECK_THAT(says(with_length(R"({"__metadata__":{"a":1}})")), Contains("'__metadata__' has a number"));
  CHECK_THAT(says(with_length(R"({"__metadata__":{"a":{}}})")), Contains("'__metadata__' has an object"));
  CHECK_THAT(says(with_length(std::string(1'000'000, '{'))), Contains("no JSON"));
  CHECK_THAT(says(with_length("{\"t\":" + std::string(1'000'000, '['))), Contains("'t' has a list"));
}

TEST_CASE("A full disk is named, and what was there stays") {
  const files::folder here;
  const std::string name = here / "t";
  const std::vector<f32> before{1, 2}, large(1 << 20);
  write_safetensors(name, {{"x", {2}, before}});
  // A limit on the size of files is the disk that is full.
  rlimit old;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 16, old.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string said =
      files::refusal<file_error>([&] { write_safetensors(name, {{"x", {1 << 20}, large}}); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  CHECK(said == "wsl: cannot write " + name + ": File too large");
  CHECK(safetensors_file(name).numbers("x", {2}) == before);
  CHECK(!std::filesystem::exists(name + ".unfinished"));
}

TEST_CASE("A tensor is as large as its shape, and has a name of its own") {
  const std::vector<f32> x(3);
  CHECK_THROWS_WITH(tensor_view("x", {2, 2}, x), "wsl: tensor 'x' of shape (2, 2) has 3 numbers");
  const files::folder here;
  CHECK_THROWS_WITH(write_safetensors(here / "t", {{"x", {3}, x}, {"x", {3}, x}}),
                    Contains("two tensors have the name 'x'"));
}

}  // namespace
