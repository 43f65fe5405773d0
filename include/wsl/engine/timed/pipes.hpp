// SPDX-License-Identifier: MIT
// A pipe is a bounded queue with a latency: a link with the next router's buffer, a ramp with its queue, or a
// straight run of links and routers in which no word can be delayed by others. A word carries the time from
// which it can be taken, and a free place the time from which it can be filled; so the actor that fills a
// pipe (its filler) and the one that empties it (its reader) may be visited in any order within a cycle.
#pragma once
#include "event_queue.hpp"
#include "steady_reader.hpp"

namespace wsl::engines {

/// A bounded queue of words in a ring of places. It fills a line of the cache.
struct alignas(64) pipe {
  /// When the reader of the pipe is woken. The order matters: from `steady` on, words are taken by a
  /// steady_reader.
  enum class wake_policy : u8 {
    on_first,     ///< each time a word comes into the empty pipe
    never,        ///< its filler also keeps it moving
    nearly_full,  ///< when one place is left, or when a control wavelet comes
    relaying,     ///< as nearly_full, and also a ramp's latency after the first word
    stopping,     ///< a steady reader that will stop, because a control wavelet follows its words
    steady,       ///< when a steady reader has many words, whose times may still be revised
    certain,      ///< as steady, if no other event can come to the PE and no time can be revised
  };

  u64 ready = event_queue::never;  ///< the time from which its first word can be taken; never if it is empty
  u64 room = 0;                    ///< the time from which its next place can be filled; never if it is full
  u64 words = 0;                   ///< the number of words put in, counted for links
  u32 first = 0, end = 0;          ///< its places in the arena
  u32 head = 0, tail = 0;          ///< places of the first word and of the next
  u32 filler = 0, reader = 0;      ///< actors
  /// the pipe or exit into which words go from here, or the start of the list of several; in front of a
  /// switch the switched channel; with a steady reader that reader's number
  u32 target = 0;
  u16 latency = 1;  ///< cycles from the time at which a word is put in until it can be taken
  u16 credit = 1;   ///< cycles from the time at which a word is taken until its place can be filled
  u16 links = 0;    ///< the number of links between routers that it runs over
  u8 ports = 0;     ///< the ports by which words leave the reading router
  u8 targets = 0;   ///< the number of pipes and exits that they go to; 0 in front of a switch
  u8 color = 0;
  wake_policy wakes = wake_policy::on_first;
  bool to_pe : 1 = false;
  bool filler_waits : 1 = false;
  /// the number of control wavelets in a pipe to a PE; once it is the largest it stays there
  u8 commands = 0;

  bool empty() const { return ready == event_queue::never; }
  u32 places() const { return end - first; }
  u32 size() const { return empty() ? 0 : tail > head ? tail - head : tail + places() - head; }
};
static_assert(sizeof(pipe) == 64);

/// The threads of an engine share all pipes with their places. A thread moves words with a `pipes` of its
/// own.
struct pipe_store {
  struct place {
    u64 time = 0;  ///< the time from which a word can be taken, or a free place can be filled
    u32 bits = 0;
    u32 control = 0;  ///< whether it is a control wavelet; 32 bits, so that a place is copied in two moves
  };
  support::flat_vector<pipe> all;
  support::flat_vector<place> places;
  steady_readers readers;
  support::flat_vector<u32> commands;  ///< control wavelets in the pipes to each PE
  u32 added = 0, places_needed = 0;

  /// Makes room for this number of pipes.
  void reserve(std::size_t pipes) { all = support::flat_vector<pipe>(pipes); }
  /// Adds a pipe without places and returns its number.
  u32 add(const pipe& p) {
    all[added] = p;
    return added++;
  }
  void open(u32 number, int capacity) {
    pipe& p = all[number];
    p.first = p.head = p.tail = places_needed;
    places_needed = p.end = p.first + static_cast<u32>(capacity);
  }
  /// Allocates the places of all pipes; no pipe can be added afterwards.
  void settle(u32 pes, u32 threads) {
    commands = support::flat_vector<u32>(pes);
    all.shrink(added);
    places = support::flat_vector<place>(places_needed);
    u64 to_pes = 0;
    for (const pipe& p : all) to_pes += p.to_pe;
    readers.open(to_pes, threads);
  }
  pipe& operator[](u32 p) { return all[p]; }
  const pipe& operator[](u32 p) const { return all[p]; }
};

class pipes {
 public:
  static constexpr u32 none = ~u32{0};

  pipes(pipe_store& all, event_queue& events)
      : events_(events),
        pipes_(all.all),
        places_(all.places),
        steady_readers_(all.readers),
        commands_(all.commands) {}

  std::size_t size() const { return pipes_.size(); }
  /// The words that this thread has put into pipes, less those that it has taken; the sum over all threads is
  /// the number of words that are in some pipe.
  u64 inside() const { return inside_; }
  /// The sum over all words that this thread has moved of the cycles for which they could be taken and were
  /// not.
  u64 waited() const { return waited_; }
  [[gnu::always_inline]] pipe& operator[](u32 p) { return pipes_[p]; }
  [[gnu::always_inline]] const pipe& operator[](u32 p) const { return pipes_[p]; }

  u32 first_bits(const pipe& p) const { return places_[p.head].bits; }
  bool first_is_control(const pipe& p) const { return places_[p.head].control != 0; }
  bool all_data(const pipe& p) const {
    bool all = true;
    for (u32 n = p.size(), at = p.head; n > 0; --n, at = after(p, at)) all = all && !places_[at].control;
    return all;
  }
  /// Whether there are control wavelets in the pipes to a PE.
  bool has_commands(u32 pe) const { return commands_[pe] > 0; }
  /// Copies the first data words that can be taken at `now`, at most `most`, into `words`, and returns how
  /// many there are. They stay in the pipe.
  u32 peek(const pipe& p, u64 now, u32 most, u32* words) const {
    u32 n = 0;
    for (u32 at = p.head, left = std::min(p.size(), most); n < left; at = after(p, at)) {
      const place& l = places_[at];
      if (l.time > now || l.control) break;
      words[n++] = l.bits;
    }
    return n;
  }

  /// Calls use(bits, is_control) for the words of a pipe, oldest first, with those that a steady reader has
  /// gathered and that its PE has not taken yet.
  template <class Use>
  void each_word(const pipe& p, Use use) const {
    if (p.to_pe && p.wakes >= pipe::wake_policy::stopping) {
      const steady_reader& r = steady_readers_[p.target];
      for (std::size_t k = 0; k < r.size(); ++k) use(r.bits()[k], false);
    }
    for (u32 n = p.size(), at = p.head; n > 0; --n, at = after(p, at))
      use(places_[at].bits, places_[at].control != 0);
  }

  /// The time from which the next place can be filled. If no place is free, the filler is woken when one is.
  [[gnu::always_inline]] u64 room_at(pipe& p) {
    if (p.room == event_queue::never) p.filler_waits = true;
    return p.room;
  }
  /// The time from which the pipe is empty. If it is not, the filler is woken when a word has left.
  u64 empty_from(pipe& p) {
    if (p.empty()) return places_[(p.tail == p.first ? p.end : p.tail) - 1].time;
    p.filler_waits = true;
    return event_queue::never;
  }
  /// Whether room_at is a time that may still be revised.
  bool may_be_revised(const pipe& p) const {
    return p.wakes == pipe::wake_policy::steady || p.wakes == pipe::wake_policy::stopping;
  }
  /// The number of places that can be filled at `now`, at most `most`.
  u32 room(const pipe& p, u64 now, u32 most) const {
    u32 n = 0;
    const u32 free = p.places() - p.size();
    for (u32 at = p.tail; n < most && n < free && places_[at].time <= now; at = after(p, at)) ++n;
    return n;
  }

  /// Puts a word into a pipe to a PE, which may have a steady reader.
  [[gnu::always_inline]] void deliver(pipe& p, u32 bits, bool control, u64 ready) {
    if (p.wakes < pipe::wake_policy::steady || control) [[unlikely]]
      return put(p, bits, control, ready);
    ++inside_, ++p.words;
    take_at_once(p, {ready, bits, 0});
  }
  /// The steady reader of a pipe if the time at which it takes the next word is certain and it wants more
  /// words; null otherwise.
  [[gnu::always_inline]] steady_reader* certain_reader_of(const pipe& p) {
    steady_reader& r = steady_readers_[p.target];
    return p.wakes == pipe::wake_policy::certain && r.has_room() ? &r : nullptr;
  }
  /// Delivers to such a reader. The caller counts the word with `more_inside`.
  [[gnu::always_inline]] void deliver_for_certain(pipe& p, steady_reader& r, u32 bits, u64 ready) {
    if (!r.take_as_it_comes(bits, ready)) take_a_place(p, r, {ready, bits, 0});
    if (r.has_many_now()) [[unlikely]]
      wake_reader(p, r, ready);
  }
  void more_inside(u64 words) { inside_ += words; }
  [[gnu::always_inline]] void put(pipe& p, u32 bits, bool control, u64 ready) {
    ++inside_;
    fill(p, {ready, bits, control});
  }
  void take(pipe& p, u64 now) {
    --inside_;
    empty(p, now);
  }
  /// Moves the first word of a pipe into the next pipe.
  [[gnu::always_inline]] void pass(pipe& from, pipe& to, u64 now) {
    const place& word = places_[from.head];
    fill(to, {now + to.latency, word.bits, word.control});
    empty(from, now);
  }
  /// Takes a word through a pipe that is empty and has room: it can be taken from `ready` on and is taken at
  /// `now`. A word that crosses links without waiting leaves before its place could be missed, because words
  /// come one a cycle and a link has two places for each of its cycles; so its place is not booked.
  [[gnu::always_inline]] void cross(pipe& p, u64 ready, u64 now) {
    ++p.words;
    if (now == ready && p.links > 0) [[likely]]
      return;
    waited_ += now - ready;
    places_[p.tail].time = now + p.credit;
    p.head = p.tail = after(p, p.tail);
    p.room = places_[p.tail].time;
  }

  // ---- steady readers ---------------------------------------------------------------------------

  /// From now on a steady_reader takes the words of a pipe of data. The PE is woken when there are many
  /// words, when there are `most`, or when a control wavelet comes.
  void read_steadily(pipe& p, u64 free_from, u32 width, u32 hold, u64 most, bool certain) {
    if (p.target == 0) p.target = steady_readers_.add(mine_);
    steady_reader& r = steady_readers_[p.target];
    r.begin(free_from, width, hold, p.latency, most);
    for (u32 n = p.size(); n > 0; --n, p.head = after(p, p.head)) {
      place& l = places_[p.head];
      l.time = take_steadily(r, l) + p.credit;
    }
    p.wakes = certain ? pipe::wake_policy::certain : pipe::wake_policy::steady;
    p.ready = event_queue::never;
    p.room = places_[p.tail].time;
    if (p.filler_waits) wake_filler(p, p.room);
  }
  steady_reader& reader_of(const pipe& p) { return steady_readers_[p.target]; }
  /// Forgets the first n words of the steady reader: the PE has taken them.
  void taken(const pipe& p, std::size_t n) {
    steady_reader& r = reader_of(p);
    inside_ -= n;
    r.drop(n);
  }
  /// Ends steady reading: words that the reader would have taken later are in the pipe again. Requires room
  /// for them there.
  void stop_reading(pipe& p) {
    steady_reader& r = reader_of(p);
    if (p.wakes >= pipe::wake_policy::steady) p.head = p.tail;
    for (std::size_t n = r.size(); n > 0; --n) {
      const steady_reader::arrival& a = r[n - 1];
      p.head = (p.head == p.first ? p.end : p.head) - 1;
      places_[p.head] = {a.ready, r.bits()[n - 1], 0};
      waited_ -= a.taken - a.ready;
      p.ready = a.ready;
      if (p.head == p.tail) p.room = event_queue::never;
    }
    r.drop(r.size());
    p.wakes = pipe::wake_policy::on_first;
  }

 private:
  using place = pipe_store::place;
  [[gnu::always_inline]] void fill(pipe& p, const place& word) {
    ++p.words;
    if (word.control && p.to_pe) [[unlikely]]
      ++commands_[p.reader], p.commands = static_cast<u8>(p.commands + (p.commands < 255));
    if (p.wakes != pipe::wake_policy::on_first) [[unlikely]]
      return fill_otherwise(p, word);
    if (add(p, word)) events_.note(p.reader, word.time);
  }
  [[gnu::noinline]] void fill_otherwise(pipe& p, const place& word) {
    if (p.wakes >= pipe::wake_policy::steady && take_at_once(p, word)) return;
    const bool first = add(p, word);
    if (p.wakes > pipe::wake_policy::never) gather(p, word, first);
  }
  // Returns whether the word is the first of the pipe.
  [[gnu::always_inline]] bool add(pipe& p, const place& word) {
    u32 tail = p.tail;
    places_[tail] = word;
    tail = after(p, tail);
    p.tail = tail;
    p.room = tail == p.head ? event_queue::never : places_[tail].time;
    if (!p.empty()) return false;
    p.ready = word.time;
    return true;
  }
  // Wakes a resting reader before the last place is taken. A control wavelet ends the rest.
  [[gnu::noinline]] void gather(pipe& p, const place& word, bool first) {
    if (word.control || p.size() + 1 == p.places()) events_.note(p.reader, word.time - p.latency + 1);
    else if (first && p.wakes == pipe::wake_policy::relaying) events_.note(p.reader, word.time + p.latency);
    if (word.control && p.wakes != pipe::wake_policy::stopping) p.wakes = pipe::wake_policy::on_first;
  }
  // A word that is certain to be taken as it comes needs no place, if no word before it had to wait.
  [[gnu::always_inline]] bool take_at_once(pipe& p, const place& word) {
    steady_reader& r = steady_readers_[p.target];
    if (word.control) [[unlikely]] {
      p.head = p.tail;
      p.wakes = pipe::wake_policy::stopping;
      return false;
    }
    if (p.wakes != pipe::wake_policy::certain || !r.has_room() || !r.take_as_it_comes(word.bits, word.time))
      take_a_place(p, r, word);
    if (r.has_many()) [[unlikely]]
      wake_reader(p, r, word.time);
    return true;
  }
  [[gnu::always_inline]] void take_a_place(pipe& p, steady_reader& r, const place& word) {
    places_[p.tail].time = take_steadily(r, word) + p.credit;
    p.tail = after(p, p.tail);
    p.room = places_[p.tail].time;
  }
  [[gnu::always_inline]] u64 take_steadily(steady_reader& r, const place& word) {
    const u64 taken = r.take(word.bits, word.time);
    waited_ += taken - word.time;
    return taken;
  }
  // In a window the reader may have been simulated for the next cycles, but not for the one that follows the
  // word's leaving its router.
  [[gnu::noinline]] void wake_reader(pipe& p, const steady_reader& r, u64 ready) {
    if (r.has_all()) p.wakes = pipe::wake_policy::steady;
    events_.note(p.reader, (events_.in_window() ? ready - p.latency : events_.now()) + 1);
  }
  [[gnu::always_inline]] void empty(pipe& p, u64 now) {
    u32 head = p.head;
    const u64 free_from = now + p.credit;
    waited_ += now - p.ready;
    if (places_[head].control && p.to_pe) [[unlikely]]
      --commands_[p.reader], p.commands = static_cast<u8>(p.commands - (p.commands < 255));
    places_[head].time = free_from;
    if (head == p.tail) p.room = free_from;
    head = after(p, head);
    p.head = head;
    p.ready = head == p.tail ? event_queue::never : places_[head].time;
    if (p.filler_waits) [[unlikely]]
      wake_filler(p, free_from);
  }
  static u32 after(const pipe& p, u32 at) { return at + 1 == p.end ? p.first : at + 1; }
  [[gnu::noinline]] void wake_filler(pipe& p, u64 at) {
    p.filler_waits = false;
    events_.note(p.filler, std::max(at, events_.now() + 1));
  }

  event_queue& events_;
  support::flat_vector<pipe>& pipes_;
  support::flat_vector<place>& places_;
  steady_readers& steady_readers_;
  support::flat_vector<u32>& commands_;
  steady_readers::part mine_;
  u64 inside_ = 0, waited_ = 0;
};

}  // namespace wsl::engines
