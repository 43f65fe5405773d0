// SPDX-License-Identifier: MIT
// Views of memory, alone and nested, against lists of the elements that they name.
#include <wsl/program/descriptor/memory.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <type_traits>
#include <vector>

using namespace wsl;
using Catch::Contains;

namespace {

template <class T>
std::vector<int> elements(memory<T> view) {
  std::vector<int> found;
  for (int i = 0; i < view.length(); ++i) found.push_back(view[i]);
  return found;
}
using list = std::vector<int>;

struct numbers {
  int x[10]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
};

}  // namespace

TEST_CASE("a view names elements of its array") {
  numbers n;
  CHECK(elements(mem(n.x)) == list{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(elements(mem(n.x).part(2, 3)) == list{2, 3, 4});
  CHECK(elements(mem(n.x).from(7)) == list{7, 8, 9});
  CHECK(elements(mem(n.x).every(3)) == list{0, 3, 6, 9});
  CHECK(elements(mem(n.x).every(4)) == list{0, 4, 8});
  CHECK(elements(mem(n.x).reversed()) == list{9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(elements(mem(n.x).from(1).every(2).part(1, 3).reversed()) == list{7, 5, 3});
  CHECK(elements(mem(n.x).reversed().every(4)) == list{9, 5, 1});
  CHECK(elements(mem(n.x).every(3).from(1).every(2)) == list{3, 9});
  CHECK(elements(mem(n.x).reversed().reversed()) == elements(mem(n.x)));
}

TEST_CASE("a view without elements is allowed, at the end and of the end") {
  numbers n;
  CHECK(mem(n.x).part(10, 0).length() == 0);
  CHECK(mem(n.x).from(10).every(3).reversed().from(0).length() == 0);
  CHECK(mem(n.x).every(3).from(4).length() == 0);
  CHECK(mem(n.x).reversed().every(7).from(2).length() == 0);
}

TEST_CASE("a stride beyond the array leaves the first element") {
  numbers n;
  for (int stride : {10, 11, 0x7fffffff}) {
    CHECK(elements(mem(n.x).every(stride)) == list{0});
    CHECK(elements(mem(n.x).every(4).every(stride)) == list{0});
    CHECK(mem(n.x).from(10).every(stride).length() == 0);
  }
}

TEST_CASE("nothing outside the array can be named") {
  numbers n;
  const auto whole = mem(n.x);
  CHECK_THROWS_WITH(whole.part(8, 3),
                    "wsl: a descriptor of 3 elements from element 8 on leaves its array of 10 elements");
  CHECK_THROWS_WITH(whole.part(-1, 3), Contains("from element -1 on"));
  CHECK_THROWS_WITH(whole.part(0, -1), Contains("a descriptor of -1 elements"));
  CHECK_THROWS_WITH(whole.part(11, 0), Contains("a descriptor of 0 elements from element 11"));
  CHECK_THROWS_WITH(whole.part(2, 0x7fffffff), Contains("leaves its array of 10 elements"));
  CHECK_THROWS_WITH(whole.from(12),
                    "wsl: a descriptor of 0 elements from element 12 on leaves its array of 10 elements");
  CHECK_THROWS_WITH(whole.from(-2),
                    "wsl: a descriptor of 12 elements from element -2 on leaves its array of 10 elements");
  CHECK_THROWS_WITH(whole.every(3).part(3, 2), Contains("leaves its array of 4 elements"));
  CHECK_THROWS_WITH(whole.part(2, 3).from(4), Contains("leaves its array of 3 elements"));
  CHECK_THROWS_WITH(whole.every(0), "wsl: a descriptor takes every n-th element, n at least 1, not every 0");
  CHECK_THROWS_AS(whole.every(-2), fault);
}

TEST_CASE("arrays of all kinds have views") {
  int c_array[3]{1, 2, 3};
  const int constant[2]{4, 5};
  std::array<int, 3> array{6, 7, 8};
  const std::array<int, 1> constant_array{9};
  std::vector<int> grown{1, 3};
  CHECK(elements(mem(c_array)) == list{1, 2, 3});
  CHECK(elements(mem(constant)) == list{4, 5});
  CHECK(elements(mem(array)) == list{6, 7, 8});
  CHECK(elements(mem(constant_array)) == list{9});
  CHECK(elements(mem(std::span{grown})) == list{1, 3});
  CHECK(elements(mem(std::span<const int>{grown})) == list{1, 3});
  static_assert(std::is_same_v<decltype(mem(c_array)), memory<int>> &&
                std::is_same_v<decltype(mem(constant)), memory<const int>>);
  static_assert(std::is_same_v<decltype(mem(array)), memory<int>> &&
                std::is_same_v<decltype(mem(constant_array)), memory<const int>>);
  mem(c_array).reversed()[0] = 10;
  mem(array).from(1)[1] = 11;
  CHECK(c_array[2] == 10);
  CHECK(array[2] == 11);
}

TEST_CASE("a chain of views is a chain of selections") {
  std::mt19937 any{5};
  const auto between = [&](int from, int to) { return std::uniform_int_distribution{from, to}(any); };
  for (int n = 0; n < 5000; ++n) {
    std::vector<int> array(static_cast<std::size_t>(between(0, 40)));
    for (std::size_t i = 0; i < array.size(); ++i) array[i] = static_cast<int>(i);
    auto view = mem(std::span{array});
    list expected = array;
    for (int links = between(1, 5); links > 0; --links) {
      const int length = static_cast<int>(expected.size()), offset = between(0, length),
                count = between(0, length - offset);
      list next;
      switch (between(0, 3)) {
        case 0:
          view = view.part(offset, count);
          next.assign(expected.begin() + offset, expected.begin() + offset + count);
          break;
        case 1:
          view = view.from(offset);
          next.assign(expected.begin() + offset, expected.end());
          break;
        case 2: {
          const int stride = between(1, 6);
          view = view.every(stride);
          for (std::size_t i = 0; i < expected.size(); i += static_cast<std::size_t>(stride))
            next.push_back(expected[i]);
          break;
        }
        default: view = view.reversed(); next.assign(expected.rbegin(), expected.rend());
      }
      expected = next;
    }
    REQUIRE(elements(view) == expected);
  }
}
