// SPDX-License-Identifier: MIT
// A pipe is a bounded queue through which words take time: a link with the next router's buffer, a ramp with its queue, or a straight
// run of links and routers where nothing can get in the way. Words carry the time from which they can be taken, free places the
// time from which they can be filled, so that who fills a pipe and who empties it may be looked at in any order within a cycle.
#pragma once
#include "calendar.hpp"

namespace wsl::engines {

/// Words one behind the other, in a ring of places.
struct pipe {
  u32 first = 0, end = 0;             ///< its places in the arena
  u32 head = 0, tail = 0, size = 0;   ///< places of the first word and of the next
  u32 filler = 0, reader = 0;         ///< actors
  u16 latency = 1;                    ///< cycles from when a word is put in until it can be taken
  u16 credit = 1;                     ///< cycles from when a word is taken until its place can be filled
  u16 links = 0;                      ///< between routers that it runs over
  bool to_pe = false;
  bool filler_waits = false;
  u8 ports = 0;                       ///< where the words go from here, if to a router: its ports, ...
  u8 targets = 0;                     ///< ... how many pipes (0 before a gate), ...
  u8 color = 0;
  u32 target = 0;                     ///< ... the only one, or where the list of several starts; before a gate, the gated lane
  u32 enough = 0;                     ///< a reader that rests lets this many words come together, ...
  u16 late = 0;                       ///< ... but wants to be told so long after one has come
  u64 words = 0;                      ///< that were put in

  static constexpr u16 any = 0xffff;  ///< however late
  bool full() const { return size == places(); }
  u32 places() const { return end - first; }
};

class pipes {
 public:
  static constexpr u32 none = ~u32{0};

  explicit pipes(agenda& when) : when_(&when) {}

  /// A pipe without places.
  u32 add(const pipe& p) {
    pipes_.push_back(p);
    return static_cast<u32>(pipes_.size() - 1);
  }
  void open(u32 which, int capacity) {
    pipe& p = pipes_[which];
    p.first = p.head = p.tail = places_needed_;
    places_needed_ = p.end = p.first + static_cast<u32>(capacity);
  }
  /// When all pipes are there.
  void settle() { places_ = flat_vector<place>(places_needed_); }

  std::size_t size() const { return pipes_.size(); }
  /// Words that are in some pipe.
  u64 inside() const { return inside_; }
  /// Cycles in all that words could be taken and were not.
  u64 waited() const { return waited_; }
  pipe& operator[](u32 p) { return pipes_[p]; }
  const pipe& operator[](u32 p) const { return pipes_[p]; }

  /// When its first word can be taken; never if it is empty.
  u64 ready_at(const pipe& p) const { return p.size ? places_[p.head].time : agenda::never; }
  u32 first_bits(const pipe& p) const { return places_[p.head].bits; }
  bool first_is_control(const pipe& p) const { return places_[p.head].control; }
  bool all_data(const pipe& p) const {
    bool all = true;
    for (u32 n = 0, at = p.head; n < p.size; ++n, at = after(p, at)) all = all && !places_[at].control;
    return all;
  }
  /// Its first data words that can be taken at `now`, up to `most`, go to `words`; they stay in the pipe.
  u32 peek(const pipe& p, u64 now, u32 most, u32* words) const {
    u32 n = 0;
    for (u32 at = p.head; n < most && n < p.size; at = after(p, at)) {
      const place& l = places_[at];
      if (l.time > now || l.control) break;
      words[n++] = l.bits;
    }
    return n;
  }

  /// When its next place can be filled. Where no place is free its filler is noted for when one is.
  u64 room_at(pipe& p) {
    if (!p.full()) return places_[p.tail].time;
    p.filler_waits = true;
    return agenda::never;
  }
  /// Places that can be filled at `now`, up to `most`.
  u32 room(const pipe& p, u64 now, u32 most) const {
    const u32 free = p.end - p.first - p.size;
    u32 n = 0;
    for (u32 at = p.tail; n < most && n < free && places_[at].time <= now; at = after(p, at)) ++n;
    return n;
  }

  void put(pipe& p, u32 bits, bool control, u64 ready) {
    ++inside_;
    fill(p, {ready, bits, control});
  }
  void take(pipe& p, u64 now) {
    --inside_;
    empty(p, now);
  }
  /// From one pipe to the next.
  [[gnu::always_inline]] void pass(pipe& from, pipe& to, u64 now) {
    const place& l = places_[from.head];
    fill(to, {now + to.latency, l.bits, l.control});
    empty(from, now);
  }

 private:
  struct place {
    u64 time = 0;  ///< of a word: from when it can be taken; of a free place: from when it can be filled
    u32 bits = 0;
    bool control = false;
  };
  [[gnu::always_inline]] void fill(pipe& p, place word) {
    places_[p.tail] = word;
    p.tail = after(p, p.tail);
    ++p.size, ++p.words;
    if (p.size > p.enough) [[likely]] when_->note(p.reader, word.time);
    else gather(p, word);
  }
  // The reader is looked at before the last place is taken. A control wavelet ends its rest.
  [[gnu::noinline]] void gather(pipe& p, const place& word) {
    if (word.control) p.enough = 0;
    if (word.control || p.size == p.enough) when_->note(p.reader, word.time - p.latency + 1);
    else if (p.late != pipe::any) when_->note(p.reader, word.time + p.late);
  }
  [[gnu::always_inline]] void empty(pipe& p, u64 now) {
    place& l = places_[p.head];
    waited_ += now - l.time;
    l.time = now + p.credit;
    p.head = after(p, p.head);
    --p.size;
    if (p.filler_waits) [[unlikely]] wake_filler(p, now + p.credit);
  }
  static u32 after(const pipe& p, u32 at) { return at + 1 == p.end ? p.first : at + 1; }
  [[gnu::noinline]] void wake_filler(pipe& p, u64 at) {
    p.filler_waits = false;
    when_->note(p.filler, std::max(at, when_->now() + 1));
  }

  agenda* when_;
  flat_vector<pipe> pipes_;
  flat_vector<place> places_;
  u32 places_needed_ = 0;
  u64 inside_ = 0, waited_ = 0;
};

}  // namespace wsl::engines
