// SPDX-License-Identifier: MIT
// Compiling is passing: the words of the language beside all of the standard library, for a program that says
// `using namespace wsl` and `using namespace std` as well. Each word is used as the examples use it.
#include <wsl/collective.hpp>
#include <wsl/collective/gather.hpp>
#include <wsl/collective/halo_exchange.hpp>
#include <wsl/collective/neighbours.hpp>
#include <wsl/collective/reduce.hpp>
#include <wsl/collective/scatter.hpp>
#include <wsl/collective/shift.hpp>
#include <wsl/host/device.hpp>
#include <wsl/host/queue.hpp>
#include <wsl/layout/draw.hpp>
#include <wsl/layout/filters.hpp>
#include <wsl/layout/switches.hpp>
#include <wsl/program/arena.hpp>
#include <wsl/program/descriptor/bits.hpp>
#include <wsl/program/descriptor/box.hpp>
#include <wsl/program/descriptor/circular.hpp>
#include <wsl/program/descriptor/fifo.hpp>
#include <wsl/program/descriptor/indexed.hpp>
#include <wsl/program/descriptor/window.hpp>
#include <wsl/program/event.hpp>
#include <wsl/program/notes.hpp>
#include <wsl/program/random.hpp>
#include <wsl/wsl.hpp>

#include <algorithm>
#include <any>
#include <array>
#include <atomic>
#include <bit>
#include <bitset>
#include <chrono>
#include <complex>
#include <concepts>
#include <coroutine>
#include <deque>
#include <execution>
#include <filesystem>
#include <forward_list>
#include <fstream>
#include <functional>
#include <future>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <ranges>
#include <ratio>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <valarray>
#include <variant>
#include <vector>

using namespace wsl;
using namespace std;

namespace {

constexpr color<f32> red{0}, blue{1}, green{2};
constexpr wsl::reduce<f32> sum{.first = 3, .among = each_row, .root = {end - 1}, .words = 4};
constexpr broadcast<f32> spread{.first = 5, .among = each_row};
}
