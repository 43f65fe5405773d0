// SPDX-License-Identifier: MIT
// Repairs of texts: the published examples of ftfy, and texts that stay as they are.
#include <catch2/catch.hpp>
#include <wsl/ml/data/corpus/normalize.hpp>

#include "../ml_data/files.hpp"

namespace {
using namespace wsl;
using namespace wsl::ml;
using Catch::Matchers::Contains;

std::string fixed(const std::string& text, text_fixing how = {}) {
  fix_counts counts;
  return fixed_text(text, how, counts);
}

TEST_CASE("Mojibake is decoded as ftfy decodes it") {
  const std::pair<const char*, const char*> examples[] = {
      {"âœ” No problems", "✔ No problems"},
      {"He's Justinâ\u009d¤", "He's Justin❤"},
      {"Beta Haber: HÄ±rsÄ±zÄ± BÃ¼yÃ¼ Korkuttu", "Beta Haber: Hırsızı Büyü Korkuttu"},
      {"Iggy Pop (nÃƒÂ© Jim Osterberg)", "Iggy Pop (né Jim Osterberg)"},
      {"The Mona Lisa doesnÃƒÂ¢Ã¢â€šÂ¬Ã¢â€žÂ¢t have eyebrows.", "The Mona Lisa doesn’t have eyebrows."},
      {"selamat berpuasa sob (Ã\u00a0Â¸â€¡'ÃŒâ‚¬Ã¢Å’Â£'ÃŒÂ\u0081)Ã\u00a0Â¸â€¡",
       "selamat berpuasa sob (ง'̀⌣'́)ง"},
      {"Ã¢â€\u009dâ€™(Ã¢Å’Â£Ã‹â€ºÃ¢Å’Â£)Ã¢â€\u009dÅ½", "┒(⌣˛⌣)┎"},
      {"Direzione Pd, ok â\u0080\u009csenza modifiche\u0094 all'Italicum.",
       "Direzione Pd, ok “senza modifiche” all'Italicum."},
      {"\u0084Handwerk bringt dich überall hin\u0093: Von der YOU",
       "„Handwerk bringt dich überall hin“: Von der YOU"},
      {"NicolÃ¡s", "Nicolás"},
      {"sÃ³", "só"},
      {"l’humanitÃ©", "l’humanité"},
      {"schÃ¶n", "schön"},
      {"ZaÅ¼Ã³Å‚Ä‡ gÄ™Å›lÄ… jaÅºÅ„", "Zażółć gęślą jaźń"},
      {"ðŸ˜€", "😀"}};
  for (const auto& [text, meant] : examples)
    CHECK(fixed(text) == unicode::normalized(meant, unicode::form::nfc));
  fix_counts counts;
  fixed_text("nÃƒÂ©", {}, counts);
  CHECK(counts.mojibake == 3);  // two characters of the first layer and one of the second
}

TEST_CASE("Texts that may be meant stay as they are") {
  for (const char* text :
       {"Con il corpo e lo spirito ammaccato,\u00a0è come se nel cuore avessi un vetro conficcato.", "4288×…",
        "``toda produzida pronta pra assa aí´´", "HUHLL Õ…", "RETWEET SE VOCÊ…",
        "PARCE QUE SUR LEURS PLAQUES IL Y MARQUÉ…", "TEM QUE SEGUIR, SDV SÓ…",
        "Join ZZAJÉ’s Official Fan List and receive news, events, and more!",
        "L’épisode 8 est trop fou ouahh", "Ôôô VIDA MINHA", "[x]\u00a0©", "2012—∞", "SENSЕ - Oleg Tsedryk",
        "OK??:(   `¬´    ):", "∆°", "ESSE CARA AI QUEM É¿",
        "``hogwarts nao existe, voce nao vai pegar o trem pra lá´´",
        "SELKÄ\u00a0EDELLÄ\u00a0MAAHAN via @YouTube", "Offering 5×£35 pin ups",
        "NESTLÉ® requiere contratar personal", "I'm not such a fan of Charlotte Brontë…”",
        "AHÅ™, the new sofa from IKEA", "ВІКІ is Ukrainian for WIKI",
        // Portuguese, Polish, Czech, German
        "A AÇÃO DA IRMÃ “MAÇÔ E DO CORAÇÃO… não é só amanhã – É»", "MANHÔ, ele disse “até”…",
        "Zażółć gęślą jaźń, ÓŻ – „ŁÓDŹ”…", "Úžas, Íšo, Ášž", "ÜBERGRÖSSE – „GRÖßE“ Ä–Ö", "ele É…então",
        // code
        "if (a < b) { s = \"\\u00e9&amp;\"; }  // \tcafé\n", ""})
    CHECK(fixed(text) == text);
}

TEST_CASE("Controls, ends of lines and normal forms") {
  fix_counts counts;
  CHECK(fixed_text("\xef\xbb\xbf"
                   "a\x01"
                   "b\r\nc\rd\u2028e\x1b[36;44mf\x7f\tg",
                   {}, counts) == "ab\nc\nd\nef\tg");
  CHECK(counts.controls == 4);
  CHECK(counts.line_ends == 3);
  CHECK(fixed("e\u0301") == "é");
  CHECK(fixed("é", {.form = unicode::form::nfd}) == "e\u0301");
  CHECK(fixed("ﬁ x²") == "ﬁ x²");
  CHECK(fixed("ﬁ x²", {.form = unicode::form::nfkc}) == "fi x2");
  CHECK(fixed("“it’s”") == "“it’s”");
  CHECK(fixed("“it’s”", {.straight_quotes = true}) == "\"it's\"");
  CHECK(fixed("P&Eacute;REZ &amp; &#233;&#xE9; &nothing; &") ==
        "P&Eacute;REZ &amp; &#233;&#xE9; &nothing; &");
  CHECK(fixed("P&Eacute;REZ &amp; &#233;&#xE9; &nothing; &", {.entities = true}) == "PÉREZ & éé &nothing; &");
  CHECK(fixed("&yuml;&nbsp;&euro;", {.entities = true}) == "ÿ\u00a0€");
  CHECK(fixed("<b>&amp;</b>", {.entities = true}) == "<b>&amp;</b>");
  CHECK(fixed("&#xd800;&#0;&#99999999;", {.entities = true}) == "&#xd800;&#0;&#99999999;");
  i64 joined = 0;
  CHECK(joined_surrogates("a\xed\xa0\xbd\xed\xb8\x80"
                          "b\xed\xa0\xbd"
                          "c\xed\x9f\xbf",
                          joined) == "a😀b\ufffdc\ud7ff");
  CHECK(joined == 3);
  CHECK(joined_escapes(R"(\ud83d\ude00 \\ud83d \ud83d \ude00)", joined) ==
        R"(\ud83d\ude00 \\ud83d \ufffd \ufffd)");
  CHECK(joined == 5);
}

TEST_CASE("The texts of objects are repaired, and lines without faults stay byte by byte") {
  const files::folder here;
  const std::string good = R"({"b": 1,  "text":"caf\u00e9","a":[ ]})";
  files::write(here / "a.jsonl", good + "\n" + R"({"b":1,"text":"schÃ¶n \ud83d","a":2})" + "\n\n[]\n");
  const corpus in({here / "a.jsonl"});
  CHECK_THROWS_WITH(normalize(in, here / "out", {}), Contains("line 4, byte 1: it is no object in JSON"));
  CHECK(!std::filesystem::exists(here / "out"));
  for (const int threads : {1, 3}) {
    const std::string out = here / fmt::format("out{}", threads);
    const normalization_report r = normalize(in, out, {.pass = {.skip_invalid = true, .threads = threads}});
    CHECK(r.documents == 3);
    CHECK(r.changed == 1);
    CHECK(r.invalid == 1);
    CHECK(r.counts.surrogates == 1);
    CHECK(read_whole(out) == good + "\n" + R"({"b":1,"text":"schön �","a":2})" + "\n");
  }
  CHECK_THROWS_WITH(normalize(in, here / "out1", {}), Contains("give a name that is free"));
  files::write(here / "b.txt", "eins\r\nzwei\r\n\r\n\r\ndreÃ¼\n");
  const normalization_report r = normalize(corpus({here / "b.txt"}, {.sections = true}), here / "b", {});
  CHECK(r.documents == 2);
  CHECK(read_whole(here / "b") == "eins\nzwei\n\ndreü\n");
  normalize(corpus({here / "b.txt"}), here / "c", {});
  CHECK(read_whole(here / "c") == "eins\nzwei\n\n\ndreü\n");
  files::write(here / "d.txt", "vier");
  CHECK_THROWS_WITH(normalize(corpus({here / "b.txt", here / "d.txt"}), here / "e", {}),
                    Contains("2 texts would become one"));
}

}  // namespace
