// SPDX-License-Identifier: MIT
// Token counts and checksums are those that nanoGPT publishes for its Shakespeare files.
#include <wsl/ml/data/characters.hpp>
#include <wsl/ml/data/vocabulary.hpp>

#include "files.hpp"
#include "sha256.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

TEST_CASE("UTF-8 is taken apart, put together, and refused where it is none") {
  for (char32_t c : {0x0u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xd7ffu, 0xe000u, 0xffffu, 0x10000u, 0x10ffffu}) {
    std::string text;
    append_utf8(text, c);
    std::size_t at = 0;
    CHECK(next_code_point(text, at) == c);
    CHECK(at == text.size());
  }
  for (const char* wrong :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x80\x80", "\xe2\x82", "\xed\xa0\x80",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    std::size_t at = 2;
    CHECK_THROWS_WITH(
        next_code_point(std::string("ab") + wrong, at),
        "wsl: byte 2 of the text is not UTF-8: convert the text, for instance with iconv -t UTF-8");
  }
  const files::folder here;
  files::write(here / "t.txt", "good\xffness");
  CHECK_THAT(files::refusal([&] { read_text(here / "t.txt"); }),
             Contains("t.txt, byte 4: this is not UTF-8"));
}

TEST_CASE("Characters") {
  const characters letters = characters::of("h\xc3\xa9llo hello");
  CHECK(letters.letters() == " ehlo\xc3\xa9");
  CHECK(letters.encode("hol\xc3\xa9") == std::vector<i32>{2, 4, 3, 5});
  CHECK(letters.decode(letters.encode("lol")) == "lol");
  CHECK(characters::in_order(letters.letters()).encode("o") == std::vector<i32>{4});
  CHECK_THROWS_WITH(letters.encode("oh yes"),
                    "wsl: byte 3 of the text: the vocabulary of 6 characters has no 'y'");
  CHECK_THROWS_WITH(letters.decode(std::vector<i32>{6}), "wsl: there is no character 6 in a vocabulary of 6");
  CHECK_THROWS_WITH(characters::in_order("ba"), Contains("in the order of their code points"));
  CHECK(characters::of("").size() == 0);

  const files::folder here;
  write_characters(here / "vocab.json", letters);
  CHECK(read_whole(here / "vocab.json") == "{\" \":0,\"e\":1,\"h\":2,\"l\":3,\"o\":4,\"\xc3\xa9\":5}\n");
  CHECK(read_characters(here / "vocab.json").letters() == letters.letters());
  const auto says = [&](const std::string& json) {
    files::write(here / "vocab.json", json);
    return files::refusal([&] { read_characters(here / "vocab.json"); });
  };
  CHECK_THAT(says("{\"ab\":0}"), Contains("'ab' is not one character"));
  CHECK_THAT(says("{\"b\":0,\"a\":1}"), Contains("not numbered in the order"));
}

std::string bytes_of(std::span<const i32> ids) {
  return files::bytes_of(std::vector<u16>(ids.begin(), ids.end()));
}

TEST_CASE("The checksum that the others are compared with") {
  CHECK(files::sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(files::sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("Shakespeare by characters, as nanoGPT has it") {
  const auto file = files::data_set("tinyshakespeare/input.txt");
  if (!file) return;
  const std::string text = read_text(*file);
  const characters letters = characters::of(text);
  CHECK(letters.size() == 65);
  const std::vector<i32> ids = letters.encode(text);
  const auto train = std::span(ids).first(ids.size() * 9 / 10), rest = std::span(ids).subspan(train.size());
  CHECK(train.size() == 1'003'854);
  CHECK(files::sha256(bytes_of(train)) == "6ec305602a99ac2802745a134e1f5e33e2231b4855525b00b9aebb730ac2626f");
  CHECK(files::sha256(bytes_of(rest)) == "d37d30cc0c8327c270d493299c3dca54135f6d5f1c9ef60cda78076e311204b1");
}

}  // namespace
