// SPDX-License-Identifier: MIT
// News between bands that different ranks run. Every rank has all channels and inlets, but only those of its own bands live. After an
// epoch each rank sends its neighbours one message with the news of all its bands for theirs, and with the words that the news is about.
// Words in memory that both ranks have stay where they are; others travel with the news, and the receiver keeps them in a mirror of the sender's
// buffer, one for each inlet. It delivers the news as if the band that wrote it were its own. So an epoch begins with the same news on every number of ranks.
#pragma once
#include <set>
#include <unordered_map>

#include "../fabric/epochs.hpp"
#include "message.hpp"
#include "world.hpp"

namespace wsl::mpi {

/// Which rank runs which bands: runs of about the same length.
struct share {
  u32 bands = 1;
  int ranks = 1;

  u32 first(int rank) const { return static_cast<u32>(u64{bands} * static_cast<u64>(rank) / static_cast<u64>(ranks)); }
  int owner(u32 band) const {
    int rank = static_cast<int>(u64{band} * static_cast<u64>(ranks) / bands);
    while (first(rank + 1) <= band) ++rank;
    return rank;
  }
};

class exchange {
 public:
  exchange(engines::traffic& words, const ranks& who, const share& bands)
      : words_(words), who_(who), share_(bands), buffers_(who.size() > 1 ? who.memory() : nullptr), sent_(words.net.seams.size()) {
    for (engines::band& b : words.bands()) b.buffers.source = &buffers_;
    std::set<std::pair<int, int>> beside;
    for (const engines::seam& s : words.net.seams) {
      const int from = bands.owner(s.writers_band), to = bands.owner(s.readers_band);
      if (from != to) beside.insert({from, to}), beside.insert({to, from});
    }
    for (const auto& [one, other] : beside)
      if (one == who.rank()) neighbours_.push_back({.rank = other});
    everybody_hears_all_ = beside.size() == static_cast<std::size_t>(who.size()) * static_cast<std::size_t>(who.size() - 1);
  }

  /// Delivers what was written in an epoch, and returns the largest of what all ranks say is to follow. Together.
  engines::sequel deliver(u64 epoch, engines::sequel mine) {
    const engines::sequel all = deliver_to_neighbours(epoch, mine);
    return everybody_hears_all_ ? all : static_cast<engines::sequel>(who_.largest(static_cast<u64>(all)));
  }

 private:
  engines::sequel deliver_to_neighbours(u64 epoch, engines::sequel mine) {
    const detail::waiting others;
    if (who_.memory()) who_.memory()->order();
    for (neighbour& n : neighbours_) {
      n.out.reset();
      n.out.put(opening{0, mine});
      for (u32 from = share_.first(who_.rank()); from < share_.first(who_.rank() + 1); ++from)
        for (u32 to = share_.first(n.rank); to < share_.first(n.rank + 1); ++to) pack(n, from, to, epoch);
      send(n);
    }
    engines::sequel all = mine;
    for (neighbour& n : neighbours_) {
      all = engines::larger(all, receive(n.rank));
      while (!in_.at_end()) unpack(n.rank, epoch);
    }
    for (neighbour& n : neighbours_) MPI_Waitall(2, n.sends, MPI_STATUSES_IGNORE);
    if (who_.memory()) who_.memory()->order();
    return all;
  }

  using news = engines::news;
  static constexpr int tag = 1;
  static constexpr std::size_t at_once = 4096;  ///< bytes that the receiver has room for without knowing the message's size

  struct neighbour {
    int rank;
    message out = {};
    MPI_Request sends[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  };
  /// How a message begins.
  struct opening {
    u64 size;
    engines::sequel says;
  };

  void send(neighbour& n) {
    const std::span<std::byte> bytes = n.out.bytes();
    const u64 size = bytes.size();
    if (size > u64{0x7fffffff}) throw fault_error("wsl: an epoch sends more than 2 GB to one rank; use more and smaller bands");
    std::memcpy(bytes.data(), &size, sizeof size);
    const std::size_t first = least(bytes.size(), at_once);
    MPI_Isend(bytes.data(), static_cast<int>(first), MPI_BYTE, n.rank, tag, who_.group(), &n.sends[0]);
    if (size > first) MPI_Isend(bytes.data() + first, static_cast<int>(size - first), MPI_BYTE, n.rank, tag, who_.group(), &n.sends[1]);
  }
  engines::sequel receive(int from) {
    in_.reset(at_once);
    MPI_Recv(in_.bytes().data(), static_cast<int>(at_once), MPI_BYTE, from, tag, who_.group(), MPI_STATUS_IGNORE);
    const opening o = in_.take<opening>();
    in_.resize(o.size);
    if (o.size > at_once) MPI_Recv(in_.bytes().data() + at_once, static_cast<int>(o.size - at_once), MPI_BYTE, from, tag, who_.group(), MPI_STATUS_IGNORE);
    return o.says;
  }

  /// The news of one band for another.
  struct heading {
    u32 from, to, count;
  };
  struct item {
    enum class where : u8 {
      behind,   ///< the words follow the item, those that the mirror lacks
      anew,     ///< all that the buffer holds follow it: the mirror had none
      same,     ///< they are those of the item before: another receiver of a multicast
      shared    ///< they lie in the sender's memory, from a place on, the first one being `origin`
    };
    news::what kind;
    where words_are;
    u32 inlet, position, words, origin;
  };
  static_assert(sizeof(heading) % sizeof(u32) == 0 && sizeof(item) % sizeof(u32) == 0, "words lie where words may lie");

  void pack(neighbour& to_rank, u32 from, u32 to, u64 epoch) {
    message& out = to_rank.out;
    auto& mail = words_.bands()[from].mail[epoch & 1][to];
    if (mail.empty()) return;
    out.put(heading{from, to, static_cast<u32>(mail.size())});
    const news* before = nullptr;
    u32 begin = 0;
    for (const news& n : mail) {
      item i{n.kind, item::where::behind, n.inlet, n.position, 0, n.origin};
      if (n.kind != news::what::words) {
        out.put(i);
        continue;
      }
      progress& sent = sent_[words_.net.inlets[n.inlet].from];
      if (who_.memory() && who_.memory()->seen_by(to_rank.rank, n.words)) {
        i.words_are = item::where::shared, i.words = who_.memory()->place_of(n.words);
        sent.mirrored = false, before = nullptr;
        out.put(i);
        continue;
      }
      if (!sent.mirrored) i.words_are = item::where::anew, sent = {n.origin, true};
      else if (before && before->words == n.words && before->position == n.position && begin == sent.position) i.words_are = item::where::same;
      begin = std::exchange(sent.position, n.position);
      i.words = n.position - begin;
      before = &n;
      out.put(i);
      if (i.words_are != item::where::same) out.put(std::span<const u32>(n.words + (begin - n.origin), i.words));
    }
    mail.clear();
  }

  void unpack(int from, u64 epoch) {
    const heading h = in_.take<heading>();
    engines::band& to = words_.bands()[h.to];
    to.senders[epoch & 1].set_bits(u64{1} << h.from);
    auto& mail = words_.bands()[h.from].mail[epoch & 1][h.to];
    std::span<const u32> latest;
    for (u32 k = 0; k < h.count; ++k) {
      const item i = in_.take<item>();
      news n{i.kind, i.inlet, i.position};
      if (i.kind == news::what::words && i.words_are == item::where::shared) {
        n.words = who_.memory()->at(from, i.words), n.origin = i.origin;
      } else if (i.kind == news::what::words) {
        if (i.words_are != item::where::same) latest = in_.take_words(i.words);
        mirror& m = mirrors_[i.inlet];
        if (i.words_are == item::where::anew) m.begin(i.origin);
        m.append(latest, words_.net.inlets[i.inlet].head);
        n.words = m.words.data(), n.origin = m.origin;
      }
      mail.push_back(n);
    }
  }

  /// What the writer's buffer holds for an inlet here. It changes only between epochs, when nobody reads it.
  struct mirror {
    std::vector<u32> words;
    u32 origin = 0;

    void begin(u32 at) { words.clear(), origin = at; }
    void append(std::span<const u32> more, u32 head) {
      if (words.size() + more.size() > words.capacity()) {
        const u32 read = least(head - origin, static_cast<u32>(words.size()));
        words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(read));
        origin += read;
        words.reserve(most<std::size_t>(2 * (words.size() + more.size()), engines::small_buffer));
      }
      words.insert(words.end(), more.begin(), more.end());
    }
  };

  engines::traffic& words_;
  ranks who_;
  share share_;
  std::vector<neighbour> neighbours_;
  bool everybody_hears_all_ = false;  ///< all ranks are neighbours
  /// How far the reader's rank has words of a seam; those in common memory it has all, and then its mirror none.
  struct progress {
    u32 position = 0;
    bool mirrored = false;
  };
  shared_buffers buffers_;
  std::vector<progress> sent_;  ///< by seam
  std::unordered_map<u32, mirror> mirrors_;
  message in_;
};

}  // namespace wsl::mpi
