// SPDX-License-Identifier: MIT
// A PE whose one task starts as many operations as a script says, often more than its machine can have in
// flight; and what comes of it.
#pragma once
#include <random>
#include <string>
#include <vector>

#include <wsl/fabric/fabric.hpp>
#include <wsl/program/descriptor/ops.hpp>

namespace law {

using namespace wsl;
using namespace wsl::detail;

/// Colors 0 to 9 come from the west, and 10 to 19 go on to the east; where a queue serves one color, 10 to 13
/// share one, and 14 and 15.
inline constexpr int crowd_ways = 10;
inline constexpr color<u32> word_to_read{20}, word_to_hear{21};
template <int k>
inline constexpr color<u32> way_in{k};
template <int k>
inline constexpr color<u32> way_out{crowd_ways + k};

template <int k>
using sends_inward = sends<way_in<k>>;
template <int k>
using reads_inward = reads<way_in<k>>;
template <int k>
using sends_outward = sends<way_out<k>>;

struct crowd_script {
  enum class moment { launch, wait, word, activation };
  struct start {
    int in[2], out;  // colors, -1 for none
  };
  moment when = moment::launch;
  int words = 1;  // of each operation
  std::vector<start> starts;
};

struct giver {
  const crowd_script* what = nullptr;
  void go(pe& me) {
    for (const auto& s : what->starts)
      for (int c : s.in)
        for (int i = 0; c >= 0 && i < what->words; ++i) me.send(color<u32>{c}, static_cast<u32>(c + i));
    if (what->when == crowd_script::moment::wait) me.send(word_to_read, 0u);
    else if (what->when != crowd_script::moment::launch) me.send(word_to_hear, 0u);
  }
  using tasks =
      task_list<launch<&giver::go>, sends<word_to_read, word_to_hear>, numbered<crowd_ways, sends_inward>,
                shares_queue<word_to_read, word_to_hear, way_in<0>, way_in<1>, way_in<2>, way_in<3>,
                             way_in<4>, way_in<5>, way_in<6>, way_in<7>, way_in<8>, way_in<9>>>;
};

struct crowd {
  const crowd_script* what = nullptr;
  u32 x[crowd_ways][8]{}, read = 0;

  task go(pe& me) {
    if (what->when == crowd_script::moment::wait) co_await mov(&read, fabin(word_to_read, 1));
    if (what->when <= crowd_script::moment::wait) start(me);
  }
  void hear(pe& me, u32) {
    if (what->when == crowd_script::moment::word) start(me);
    else me.activate<&crowd::start>();
  }
  void start(pe& me) {
    for (const auto& s : what->starts) {
      const auto in = fabin(color<u32>{s.in[0]}, what->words),
                 other = fabin(color<u32>{s.in[1]}, what->words);
      const auto out = fabout(color<u32>{s.out}, what->words);
      if (s.in[0] < 0) me.async(mov(out, 7u));
      else if (s.in[1] >= 0) me.async(add(mem(x[s.in[0]]).part(0, what->words), in, other));
      else if (s.out < 0) me.async(mov(mem(x[s.in[0]]).part(0, what->words), in));
      else me.async(add(out, in, 1u));
    }
  }
  using tasks =
      task_list<launch<&crowd::go>, local<&crowd::start>, on<word_to_hear, &crowd::hear>, reads<word_to_read>,
                numbered<crowd_ways, reads_inward>, numbered<crowd_ways, sends_outward>,
                shares_queue<way_out<0>, way_out<1>, way_out<2>, way_out<3>>,
                shares_queue<way_out<4>, way_out<5>>>;
};

struct crowd_receiver {
  u32 x[crowd_ways]{};
  template <int k>
  void hear(pe&, u32 word) {
    x[k] = x[k] * 5 + word;
  }
  template <int k>
  using hearing = on<way_out<k>, &crowd_receiver::hear<k>>;
  using tasks = task_list<numbered<crowd_ways, hearing>>;
};

class random_crowd {
 public:
  explicit random_crowd(unsigned seed) : random_(seed) {
    const bool shares = machine_.color_owns_queue = below(4) == 0;
    machine_.microthreads = 1 + below(12);
    machine_.output_queues = shares ? 6 + below(4) : 1 + below(10);
    script_.when = static_cast<crowd_script::moment>(below(4));
    script_.words = 1 + below(8);
    const int all_of_them = 1 + below(14);
    std::vector<int> in = shuffled(0), out = shuffled(crowd_ways);
    for (int i = 0; i < all_of_them; ++i) {
      const int kind = below(7);  // 0, 1: send; 2, 3: read; 4, 5: both; 6: read two
      const int first = kind < 2 ? -1 : next(in);
      script_.starts.push_back(
          {{first, kind == 6 ? next(in) : -1}, kind / 2 % 2 == 1 || kind == 6 ? -1 : next(out)});
    }
    build();
  }

  /// The fault, as a part of its sentence; nothing if all is well.
  std::string expected() const {
    u64 reads = 0, writes = 0;
    for (const auto& s : script_.starts) {
      const u64 sharing_queue = s.out >= 0 ? writes & sharing_queue_with(s.out) : 0;
      if (sharing_queue)
        return "whose output queue an operation on color " + std::to_string(std::countr_zero(sharing_queue));
      for (int c : s.in) {
        if (c >= 0 && (reads & color_bit(c))) return "reads color " + std::to_string(c) + " twice at once";
        reads |= c >= 0 ? color_bit(c) : 0;
      }
      if (s.out >= 0 && (writes & color_bit(s.out)))
        return "sends color " + std::to_string(s.out) + " while an operation still sends on it";
      writes |= s.out >= 0 ? color_bit(s.out) : 0;
    }
    if (static_cast<int>(script_.starts.size()) > machine_.microthreads)
      return "has more than " + std::to_string(machine_.microthreads) + " operations in flight";
    if (std::popcount(writes) > machine_.output_queues)
      return "has more than " + std::to_string(machine_.output_queues) + " operations that send";
    return {};
  }

  /// The contents of the memories at the end, or the fault.
  template <class Engine>
  std::string end(const Engine& engine) const {
    fabric f{plan_, engine};
    f.program_at<giver>({0, 0}).what = &script_;
    f.program_at<crowd>({1, 0}).what = &script_;
    try {
      f.start<&giver::go>(at(0, 0));
      f.launch<&crowd::go>(at(1, 0));
    } catch (const fault& e) { return e.what(); }
    std::string all;
    for (const auto& row : f.program_at<crowd>({1, 0}).x)
      for (u32 word : row) all += std::to_string(word) + ' ';
    for (u32 word : f.program_at<crowd_receiver>({2, 0}).x) all += std::to_string(word) + ' ';
    return all;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::vector<int> shuffled(int first) {
    std::vector<int> all;
    for (int i = 0; i < crowd_ways; ++i) all.insert(all.begin() + below(i + 1), first + i);
    return all;
  }
  // The next color; rarely, one that is taken already.
  int next(std::vector<int>& colors) {
    const int c = colors.back();
    if (below(40) != 0 && colors.size() > 1) colors.pop_back();
    return c;
  }
  u64 sharing_queue_with(int color) const {
    constexpr u64 four = u64{15} << crowd_ways, two = u64{3} << (crowd_ways + 4);
    return !machine_.color_owns_queue ? 0
                                      : (color_bit(color) & four  ? four
                                         : color_bit(color) & two ? two
                                                                  : 0) &
                                            ~color_bit(color);
  }

  void build() {
    plan_ = layout{machine_, 3, 1};
    plan_.place<giver>(column(0)).place<crowd>(column(1)).place<crowd_receiver>(column(2));
    for (int k = 0; k < crowd_ways; ++k) connect(0, k), connect(1, crowd_ways + k);
    connect(0, word_to_read.id), connect(0, word_to_hear.id);
  }
  void connect(int from, int id) {
    const color<u32> c{id};
    plan_.path(c, column(from), ramp >> east).path(c, column(from + 1), west >> ramp);
  }

  std::mt19937 random_;
  machine machine_ = host;
  crowd_script script_;
  layout plan_{host, 1, 1};
};

}  // namespace law
