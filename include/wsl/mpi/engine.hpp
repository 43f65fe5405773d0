// SPDX-License-Identifier: MIT
// The threaded engine on several ranks. The grid is cut into the same partitions as on one rank; each rank
// runs a contiguous range of them, or those of the areas that are placed on it, and their messages for
// partitions of other ranks travel in each superstep. Everything that the host sees is the same on every
// rank.
#pragma once
#include <algorithm>
#include <cstdio>
#include <set>

#include "../support/exception_text.hpp"
#include "../support/fingerprint.hpp"
#include "supersteps.hpp"

namespace wsl::mpi {

class spread_engine final : public engines::threaded_engine {
 public:
  spread_engine(const layout& plan, const ranks& who, const threaded& how,
                std::span<const placed_area> places = {})
      : threaded_engine(
            plan, threads_of(how), how.queues, how.order,
            // words that ranks on several computers read go in a tree broadcast, not to each of them
            {.pes = how.pes_per_partition,
             .grants_multicasts = who.memory() && who.memory()->common(),
             .groups = ranks_of_places(plan, places, who.size())},
            how.rendezvous_from, nullptr, nullptr, engines::memories::when_asked),
        who_(who),
        share_(places.empty() ? share(words().net.partitions, who.size())
                              : share(owners(plan, places), who.size())),
        thread_pool_(support::max(1, support::min(threads_of(how), static_cast<int>(mine().size())))),
        helpers_{threads_of(how)},
        exchange_(words(), rendezvous(), who, share_, threads_of(how)) {
    who_.require_same(fingerprint_of(words().net, how.rendezvous_from),
                      "program, layout or setting of its engine");
    for (u32 i = 0; i < pes(); ++i)
      if (runs_here(i)) built_memory(i);
  }

  bool spread() const override { return who_.size() > 1; }
  int process() const override { return who_.rank(); }
  std::string process_name() const override { return who_.name_of(who_.rank()); }
  bool here(const pe& p) const override { return runs(partition_of(p)); }

  void visit_pes(engines::pe_visitor f, void* what) override { visit_pes_on(thread_pool_, f, what); }
  void call(pe& on, host_call what) override {
    if (here(on)) threaded_engine::call(on, what);
  }

  void stream_write(int color, coord c, std::span<const u32> bits) override {
    if (runs(partition_of_stream(color, c, true))) threaded_engine::stream_write(color, c, bits);
  }
  std::size_t stream_read(int color, coord c, std::span<u32> bits) override {
    const int from = share_.owner(partition_of_stream(color, c, false));
    std::size_t n = from == who_.rank() ? threaded_engine::stream_read(color, c, bits) : 0;
    who_.broadcast(n, from);
    who_.broadcast(std::as_writable_bytes(bits.first(n)), from);
    return n;
  }

  void* host_memory(pe& p) override { return built_memory(engines::state_of(p).index); }

  void fetch(const memory_part* first, std::size_t count) override {
    const std::span parts(first, count);
    std::vector<int> owners;
    std::vector<std::byte> message;
    find_room(parts, owners, message);
    for (std::size_t i = 0; i < count; ++i) owners[i] = share_.owner(partition_of(*parts[i].of));
    for (int from = 0; from < who_.size(); ++from)
      for (std::size_t next = 0; next < parts.size();) {
        message.clear();
        const std::size_t begin = next;
        for (; next < parts.size() && message.size() < most_fetched_at_once; ++next) {
          const memory_part& p = parts[next];
          if (owners[next] != from) continue;
          message.resize(message.size() + p.size);
          if (from == who_.rank()) std::memcpy(message.data() + message.size() - p.size, p.from, p.size);
        }
        if (message.empty()) continue;
        who_.broadcast(message, from);
        std::size_t done = 0;
        for (std::size_t i = begin; i < next; ++i)
          if (owners[i] == from)
            std::memcpy(parts[i].to, message.data() + std::exchange(done, done + parts[i].size),
                        parts[i].size);
      }
  }

  outcome run() override {
    forget_run();
    words().held_elsewhere.clear();
    superstep_ =
        run_supersteps(thread_pool_, helpers_, partitions(), mine(), superstep_, exchange_,
                       [this](engines::partition& b, u64 superstep) { run_partition(b, superstep); });
    const outcome mine = done();
    const outcome total{0, who_.sum(mine.tasks), who_.sum(mine.wavelets), who_.sum(mine.hops),
                        who_.sum(mine.delivered)};
    rethrow();
    report_deadlock();
    return total;
  }

 private:
  static constexpr std::size_t most_fetched_at_once = std::size_t{1}
                                                      << 24;  // bytes, which each rank has twice

  /// Room for what a fetch needs. What one rank cannot keep is a fault on all of them; little is not worth
  /// the question.
  void find_room(std::span<const memory_part> parts, std::vector<int>& owners,
                 std::vector<std::byte>& message) const {
    std::size_t bytes = 0, longest = 0;
    for (const memory_part& p : parts) bytes += p.size, longest = support::max(longest, p.size);
    const std::size_t most = support::min(bytes, most_fetched_at_once + longest);
    bool has_room = true;
    try {
      owners.resize(parts.size()), message.reserve(most);
    } catch (const std::bad_alloc&) { has_room = false; }
    constexpr std::size_t little = std::size_t{1} << 20;
    if (bytes + parts.size() * sizeof(int) < little) {
      if (!has_room) throw std::bad_alloc();
      return;
    }
    // counted from the end, so that the largest is the first
    const u64 without = who_.largest(has_room ? 0 : static_cast<u64>(who_.size() - who_.rank()));
    if (without)
      throw fault("wsl: there is not enough memory for the " + std::to_string(most) +
                  " bytes in which ranks send each other what the host reads (on " +
                  who_.name_of(who_.size() - static_cast<int>(without)) + ")");
  }

  static int threads_of(const threaded& how) { return how.threads ? how.threads : default_threads(); }

  /// The rank of each place of the grid, row by row; empty if no area is placed. Throws fault for a rank that
  /// there is not, and for a PE that no area has.
  static support::flat_vector<u16> ranks_of_places(const layout& plan, std::span<const placed_area> places,
                                                   int size) {
    if (places.empty()) return {};
    constexpr u16 nowhere = 0xffff;
    support::flat_vector<u16> all(static_cast<std::size_t>(plan.width()) *
                                  static_cast<std::size_t>(plan.height()));
    for (u16& rank : all) rank = nowhere;
    const auto at = [&](coord c) -> u16& {
      return all[static_cast<std::size_t>(c.y) * static_cast<std::size_t>(plan.width()) +
                 static_cast<std::size_t>(c.x)];
    };
    for (const placed_area& p : places) {
      const region r = plan.inside(p.where);
      if (p.rank < 0 || p.rank >= support::min(size, int{nowhere}))
        throw fault("wsl: " + wsl::text_of(r) + " are placed on rank " + std::to_string(p.rank) +
                    ", and there are " + std::to_string(size) + " ranks, numbered from 0");
      if (!r.empty() && (!plan.has(coord{r.x0, r.y0}) || !plan.has(coord{r.x1 - 1, r.y1 - 1})))
        throw fault("wsl: " + wsl::text_of(r) + " are placed on rank " + std::to_string(p.rank) +
                    ", and the grid has " + std::to_string(plan.width()) + " columns and " +
                    std::to_string(plan.height()) + " rows: place areas of the grid");
      for (int i = 0; i < r.count(); ++i) at(r.nth(i)) = static_cast<u16>(p.rank);
    }
    for (const placement& p : plan.placements())
      for (int i = 0; i < p.where.count(); ++i)
        if (const coord c = p.where.nth(i); at(c) == nowhere)
          throw fault("wsl: " + wsl::text_of(c) + " of " + p.what->name +
                      " is placed on no rank: give an area that has it, as in {all, 0} before the others");
    for (u16& rank : all)
      if (rank == nowhere) rank = 0;  // nothing runs there but the ends of streams
    return all;
  }
  std::vector<int> owners(const layout& plan, std::span<const placed_area> places) {
    const support::flat_vector<u16> ranks = ranks_of_places(plan, places, who_.size());
    engines::topology& net = words().net;
    std::vector<int> all(net.partitions);
    for (u32 w = 0; w < net.writers(); ++w) {
      const coord c = net.place_of(w);
      all[net.visits[w].partition] =
          ranks[static_cast<std::size_t>(c.y) * static_cast<std::size_t>(plan.width()) +
                static_cast<std::size_t>(c.x)];
    }
    return all;
  }

  u64 partitions_of(int thread, int threads) override {
    u64 set = 0;
    for (const u32 b : share_of_thread(mine(), thread, threads)) set |= u64{1} << b;
    return set;
  }
  /// The partitions that this rank runs.
  std::span<const u32> mine() const { return share_.of(who_.rank()); }
  bool runs_here(u32 who) const override { return runs(net().visits[who].partition); }
  bool runs(u32 partition) const { return share_.owner(partition) == who_.rank(); }
  u32 partition_of_stream(int color, coord c, bool inbound) {
    return words().net.visits[pes() + stream(color, c, inbound)].partition;
  }

  /// Rethrows the failure of the first partition, as on one rank; the other ranks throw a fault with its
  /// text.
  void rethrow() {
    const engines::partition* failed = nullptr;
    u64 first = 0;  // counted from the end, so that the largest is the first
    for (const engines::partition& b : partitions())
      if (b.failure && !failed)
        failed = &b, first = partitions().size() - static_cast<u64>(&b - partitions().data());
    const u64 agreed = who_.largest(first);
    if (!agreed) return;
    const int from = share_.owner(static_cast<u32>(partitions().size() - agreed));
    std::string text;
    if (from == who_.rank()) text = support::exception_text(failed->failure);
    text = who_.broadcast(text, from);
    if (from == who_.rank()) std::rethrow_exception(failed->failure);
    throw fault(text);
  }

  /// Tells all ranks what tasks of this one hold back: their readers count how much has arrived.
  void share_held_back() {
    using held_words = engines::transport::held_words;
    engines::topology& net = words().net;
    std::vector<held_words> mine, all;
    for (u32 who = 0; who < net.writers(); ++who)
      if (runs(net.visits[who].partition))
        for (const engines::channel& c : net.channels_of(who))
          if (const u32 n = words().held_back(c))
            mine.push_back({static_cast<u32>(&c - net.channels.data()), n});
    words().held_elsewhere.clear();
    for (int from = 0; from < who_.size(); ++from) {
      std::size_t size = mine.size();
      who_.broadcast(size, from);
      all.resize(size);
      if (from == who_.rank()) all = mine;
      who_.broadcast(std::as_writable_bytes(std::span(all)), from);
      if (from == who_.rank()) continue;
      for (const held_words& h : all) words().held_elsewhere.push_back(h);
    }
  }
  /// Every rank gets all waits, in the order of a single rank, and throws the same report.
  void report_deadlock() {
    bool any = false;
    for (const u32 b : mine()) any |= any_waits(partitions()[b]);
    if (!who_.largest(any)) return;
    share_held_back();
    message mine, others;
    waits open;
    for (u32 who = 0; who < words().net.writers(); ++who) {
      if (!runs(words().net.visits[who].partition)) continue;
      open.clear();
      waits_at(open, who);
      if (who < pes()) engines::lost_activations(open, state(who));
      for (const wait& w : open) put(mine, who, w);
    }
    std::set<std::string> names;  // waits of one program are recognised by the address of its name
    std::vector<wait> all;
    // the PE or stream that waits, and the index of its wait in `all`
    std::vector<std::pair<u32, std::size_t>> order;
    for (int from = 0; from < who_.size(); ++from) {
      std::size_t size = mine.size();
      who_.broadcast(size, from);
      message& theirs = from == who_.rank() ? mine : others;
      if (from != who_.rank()) theirs.reset(size);
      who_.broadcast(theirs.bytes(), from);
      while (!theirs.at_end()) {
        order.push_back({theirs.take<u32>(), all.size()});
        all.push_back(take(theirs, names));
      }
    }
    std::sort(order.begin(), order.end());
    open.clear();
    for (const auto& [who, place] : order) open.push_back(all[place]);
    const u64 unread = who_.sum(unread_words());
    if (!open.empty()) throw deadlock(plan(), open, unread);
  }
  static void put(message& m, u32 who, const wait& w) {
    m.put(who), m.put(w);
    m.put(std::string(w.program)), m.put(std::string(w.what));
  }
  static wait take(message& m, std::set<std::string>& names) {
    wait w = m.take<wait>();
    w.program = names.insert(m.take_text()).first->c_str();
    w.what = names.insert(m.take_text()).first->c_str();
    return w;
  }

  /// A hash of the binary, the layout and the settings: with different ones on another rank the ranks would
  /// compute nonsense, or wait for ever.
  u64 fingerprint_of(engines::topology& net, u32 rendezvous_from) const {
    support::fingerprint f;
    for (const placement& p : plan().placements())
      f.add(p.what->name, std::strlen(p.what->name)), f.add(p.what->bytes), f.add(p.where.count());
    for (const engines::channel& c : net.channels) f.add(c.first_reader), f.add(c.links);
    for (const engines::cursor& i : net.cursors) f.add(i.from), f.add(i.color);
    for (u16 d : net.depths) f.add(d);
    f.add(net.partitions), f.add(rendezvous_from);
    for (u32 b = 0; b < net.partitions; ++b) f.add(share_.owner(b));
    f.add(fingerprint_of_binary());
    return f.value();
  }
  /// It is read once, though there may be many fabrics.
  static u64 fingerprint_of_binary() {
    static const u64 once = [] {
      support::fingerprint f;
      if (std::FILE* program = std::fopen("/proc/self/exe", "rb")) {
        char block[4096];
        while (const std::size_t n = std::fread(block, 1, sizeof block, program)) f.add(block, n);
        std::fclose(program);
      }
      return f.value();
    }();
    return once;
  }

  ranks who_;
  share share_;
  engines::thread_pool thread_pool_;  ///< at most one thread for each partition of this rank
  compute_helpers helpers_;
  exchange exchange_;
};

inline engine* spread_over::make(const layout& plan) const {
  engines::require_possible(how);
  if (how.log)
    throw fault("wsl: a log of what each PE does is kept by one process; look for races without mpirun");
  if (how.observer && how.observer->needs_one_thread())
    throw fault("wsl: a scaling_profile measures the threads of one process; predict without mpirun");
  return new spread_engine(plan, who, how, places);
}

}  // namespace wsl::mpi
