// SPDX-License-Identifier: MIT
// Names of types and functions in messages: without the library's namespace, and shortened by whole
// arguments.

#include <wsl/support/type_name.hpp>

#include <catch2/catch.hpp>
#include <string>

namespace wsl {
template <class...>
struct pack {};
template <int... n>
struct numbers {
  struct inner {};
  void act() {}
};
}  // namespace wsl

using namespace wsl;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

using long_list = numbers<1000001, 1000002, 1000003, 1000004, 1000005, 1000006, 1000007, 1000008, 1000009,
                          1000010, 1000011>;

// GCC 12 writes "> >" where Clang writes ">>".
std::string without_blanks_between_brackets(std::string name) {
  for (std::size_t at; (at = name.find("> >")) != std::string::npos;) name.erase(at + 1, 1);
  return name;
}

int openings_minus_closings(const std::string& name) {
  int n = 0;
  for (char c : name) n += (c == '<') - (c == '>');
  return n;
}

}  // namespace

TEST_CASE("a short name is whole and without the library's namespace") {
  CHECK(without_blanks_between_brackets(support::type_name<pack<pack<int>, pack<>>>()) ==
        "pack<pack<int>, pack<>>");
  CHECK(std::string(support::function_name<&numbers<1>::act>()) == "act");
}

TEST_CASE("a long name keeps its first arguments, whole") {
  CHECK(std::string(support::type_name<long_list>()) == "numbers<1000001, 1000002, 1000003, 1000004, ...>");
}

TEST_CASE("a long name loses its inner lists first, and keeps what follows the outer one") {
  const std::string name = support::type_name<pack<long_list, pack<int>>>();
  CHECK(openings_minus_closings(name) == 0);
  CHECK(without_blanks_between_brackets(name) == "pack<numbers<...>, pack<...>>");
  CHECK_THAT(support::type_name<long_list::inner>(), StartsWith("numbers<") && EndsWith("...>::inner"));
}

TEST_CASE("the function of a class with a long name keeps its own name") {
  CHECK(std::string(support::function_name<&long_list::act>()) == "act");
}
