// SPDX-License-Identifier: MIT
// Input workers make the batches of processes that do not open the data. A process asks one of them for a
// batch ahead of time, by its place in the data and its size, on which alone it depends; so nothing has to be
// undone when a run ends early or goes on elsewhere. Which worker makes a batch follows from that place, too.
// All processes need the same batch at about the same time: it is made once, kept until each has had it, and
// each gets the features of its own wafers; ids and classes, on which losses and the rows of tables depend,
// go to all.
//
//   process of the fabric          input worker
//   batches: thread of a batch ->  request (which data, where, how many)
//                              <-  head (bytes), then the numbers
#pragma once
#include <atomic>
#include <csignal>
#include <cstdint>
#include <deque>
#include <future>
#include <list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <wsl/ml/data/batches.hpp>
#include <wsl/mpi.hpp>

namespace train_app::ranks {

namespace ml = wsl::ml;
using wsl::i32;
using wsl::i64;
using wsl::u64;

/// A pause between two looks for messages, which becomes longer as nothing comes.
class patience {
 public:
  void pause() {
    const timespec nap{0, next_};
    nanosleep(&nap, nullptr);
    next_ = std::min(2 * next_, longest);
  }
  void restart() { next_ = shortest; }

 private:
  static constexpr long shortest = 20'000, longest = 500'000;  // nanoseconds
  long next_ = shortest;
};

struct input_request {
  enum class kind { batch, example, end } what = kind::end;
  int reply_tag = 0;
  u64 data = 0;               ///< its number among those of the run
  ml::batch_request of = {};  ///< a batch
  i64 which = 0, epoch = 0;
  u64 key = 0;  ///< an example
};
/// Precedes the numbers, or the sentence of an exception.
struct input_reply {
  u64 bytes = 0;
  bool has_failed = false;
};

inline constexpr int request_tag = 1, first_reply_tag = 2;

/// Sends or receives bytes in pieces, whose sizes MPI counts with ints.
class pieces {
 public:
  void send(std::span<const std::byte> bytes, int to, int tag, MPI_Comm group) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), most)))
      MPI_Isend(bytes.data(), size_of(bytes), MPI_BYTE, to, tag, group, &open_.emplace_back());
  }
  void receive(std::span<std::byte> bytes, int from, int tag, MPI_Comm group) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), most)))
      MPI_Irecv(bytes.data(), size_of(bytes), MPI_BYTE, from, tag, group, &open_.emplace_back());
  }
  bool done() {
    int yes = 0;
    MPI_Testall(static_cast<int>(open_.size()), open_.data(), &yes, MPI_STATUSES_IGNORE);
    return yes;
  }
  void wait() {
    for (patience p; !done();) p.pause();
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 30;
  static int size_of(std::span<const std::byte> bytes) {
    return static_cast<int>(std::min(bytes.size(), most));
  }
  std::vector<MPI_Request> open_;
};

template <class T>
void put_numbers(wsl::mpi::message& m, std::span<const T> x) {
  m.put(x.size()), m.put(x);
}
template <class T>
std::vector<T> take_numbers(wsl::mpi::message& m) {
  std::vector<T> x(m.take<std::size_t>());
  m.take(x.data(), x.size() * sizeof(T));
  return x;
}

/// The shape of a dataset.
inline void put(wsl::mpi::message& m, const ml::dataset& d) {
  m.put(d.count), m.put(d.length), m.put(d.width), m.put(d.named.size());
  for (const ml::named_field& x : d.named) m.put(x.name), m.put(x.count);
}
inline ml::dataset take_dataset(wsl::mpi::message& m) {
  ml::dataset d;
  d.count = m.take<i64>(), d.length = m.take<int>(), d.width = m.take<int>();
  for (std::size_t n = m.take<std::size_t>(); n > 0; --n) {
    std::string name = m.take_text();
    d.named.push_back({std::move(name), m.take<int>()});
  }
  return d;
}

/// A batch with the features of a part of it.
inline void put(wsl::mpi::message& m, const ml::loaded_batch& b, const ml::batch_part& part) {
  m.put(b.sequences), m.put(b.length);
  put_numbers(m, std::span<const i32>(b.ids)), put_numbers(m, std::span<const i32>(b.targets));
  m.put(b.by_name.size());
  for (const ml::loaded_batch::named& x : b.by_name)
    m.put(x.name), put_numbers(m, std::span<const i32>(x.numbers));
  const std::size_t each = b.sequences ? b.features.size() / static_cast<std::size_t>(b.sequences) : 0,
                    first = static_cast<std::size_t>(part.begin_in(b.sequences)),
                    end = static_cast<std::size_t>(part.end_in(b.sequences));
  m.put(b.features.size()), m.put(first * each);
  put_numbers(m, std::span<const wsl::f32>(b.features).subspan(first * each, (end - first) * each));
}
inline ml::loaded_batch take_batch(wsl::mpi::message& m) {
  ml::loaded_batch b;
  b.sequences = m.take<int>(), b.length = m.take<int>();
  b.ids = take_numbers<i32>(m), b.targets = take_numbers<i32>(m);
  for (std::size_t n = m.take<std::size_t>(); n > 0; --n) {
    std::string name = m.take_text();
    b.by_name.push_back({std::move(name), take_numbers<i32>(m)});
  }
  b.features.resize(m.take<std::size_t>());
  const std::size_t first = m.take<std::size_t>(), count = m.take<std::size_t>();
  m.take(b.features.data() + first, count * sizeof(wsl::f32));
  return b;
}

/// In a process of the fabric: asks input workers.
class input_client {
 public:
  /// Of the ranks of a group those from `first` on are input workers.
  input_client(MPI_Comm group, int first, int workers) : group_(group), first_(first), workers_(workers) {}

  ml::loaded_batch batch(u64 data, const ml::batch_request& of) const {
    // Batches that follow each other are those of different workers.
    const i64 number = of.at.example / std::max<i64>(1, of.size) + of.at.epoch;
    input_request r{.what = input_request::kind::batch, .data = data, .of = of};
    wsl::mpi::message m = ask(static_cast<int>(number % workers_), r);
    return take_batch(m);
  }
  void example(u64 data, i64 which, const ml::example& to) const {
    input_request r{
        .what = input_request::kind::example, .data = data, .which = which, .epoch = to.epoch, .key = to.key};
    wsl::mpi::message m = ask(static_cast<int>(which % workers_), r);
    const ml::loaded_batch b = take_batch(m);
    std::ranges::copy(b.ids, to.ids.begin()), std::ranges::copy(b.targets, to.targets.begin());
    std::ranges::copy(b.features, to.features.begin());
    for (std::size_t k = 0; k < b.by_name.size(); ++k)
      std::ranges::copy(b.by_name[k].numbers, to.named[k].begin());
  }
  /// The last message of this process.
  void end() const {
    const input_request r;
    for (int k = 0; k < workers_; ++k) MPI_Send(&r, sizeof r, MPI_BYTE, first_ + k, request_tag, group_);
  }

 private:
  wsl::mpi::message ask(int worker, input_request& r) const {
    static std::atomic<unsigned> calls{0};
    constexpr unsigned tags = 30'000;  // every MPI has as many
    r.reply_tag = first_reply_tag + static_cast<int>(calls++ % tags);
    const int from = first_ + worker;
    input_reply head;
    pieces of_head, of_body;
    of_head.receive(std::as_writable_bytes(std::span(&head, 1)), from, r.reply_tag, group_);
    MPI_Send(&r, sizeof r, MPI_BYTE, from, request_tag, group_);
    of_head.wait();
    wsl::mpi::message body;
    body.reset(head.bytes);
    of_body.receive(body.bytes(), from, r.reply_tag, group_);
    of_body.wait();
    if (head.has_failed) throw std::runtime_error(body.take_text());
    return body;
  }

  MPI_Comm group_;
  int first_, workers_;
};

/// In an input worker: answers.
class input_server {
 public:
  input_server(MPI_Comm group, int others, std::vector<ml::dataset> data) : group_(group), others_(others) {
    for (ml::dataset& d : data) data_.push_back(std::make_shared<const ml::dataset>(std::move(d)));
  }

  /// Returns when every process of the fabric has said that it is at its end.
  void serve() {
    // The first process of the run decides when it ends, and tells this one.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) std::signal(signal, SIG_IGN);
    const wsl::mpi::detail::waiting others;
    patience nothing_to_do;
    int gone = 0;
    while (gone < others_ || !open_.empty()) {
      bool moved = false;
      input_request r;
      for (int from = 0; receive(r, from); moved = true)
        if (r.what == input_request::kind::end) ++gone;
        else begin(r, from);
      for (auto a = open_.begin(); a != open_.end();) {
        if (!a->is_sent && a->of->made.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
          send(*a), moved = true;
        if (a->is_sent && a->sends.done()) a = open_.erase(a), moved = true;
        else ++a;
      }
      if (moved) nothing_to_do.restart();
      else nothing_to_do.pause();
    }
  }

 private:
  /// What is made once, for all that ask for it.
  struct kept {
    input_request by;
    std::shared_future<ml::loaded_batch> made;
    int taken = 0;  ///< the processes that have asked
  };
  struct answer {
    int to = 0;
    input_request by;
    std::shared_ptr<kept> of;
    bool is_sent = false;
    input_reply head = {};
    wsl::mpi::message body = {};
    pieces sends = {};
  };

  bool receive(input_request& r, int& from) const {
    int has_come = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, request_tag, group_, &has_come, &status);
    if (!has_come) return false;
    from = status.MPI_SOURCE;
    MPI_Recv(&r, sizeof r, MPI_BYTE, from, request_tag, group_, MPI_STATUS_IGNORE);
    return true;
  }
  static bool is_same(const input_request& a, const input_request& b) {
    return a.what == input_request::kind::batch && b.what == a.what && a.data == b.data &&
           a.of.at == b.of.at && a.of.size == b.of.size && a.of.shuffle == b.of.shuffle &&
           a.of.part.of == b.of.part.of;
  }
  void begin(const input_request& r, int from) {
    auto at = std::find_if(kept_.begin(), kept_.end(), [&](const auto& k) { return is_same(k->by, r); });
    if (at == kept_.end()) {
      const auto k = std::make_shared<kept>(kept{r, {}});
      k->made = std::async(std::launch::async, [r, d = data_.at(r.data)] {
                  return r.what == input_request::kind::batch ? whole_batch(*d, r.of) : example(*d, r);
                }).share();
      kept_.push_back(k);
      // One that not all have asked for is made again for those who come later.
      if (kept_.size() > most_kept) kept_.pop_front();
      at = std::prev(kept_.end());
    }
    const std::shared_ptr<kept> of = *at;
    if (++of->taken == others_ || r.what == input_request::kind::example) kept_.erase(at);
    open_.push_back({.to = from, .by = r, .of = of});
  }
  static ml::loaded_batch whole_batch(const ml::dataset& d, ml::batch_request of) {
    of.part.first = 0, of.part.end = of.part.of;
    return ml::batch_of(d, of);
  }
  static ml::loaded_batch example(const ml::dataset& d, const input_request& r) {
    const auto length = static_cast<std::size_t>(d.length), width = static_cast<std::size_t>(d.width);
    ml::loaded_batch b;
    b.sequences = 1, b.length = d.length;
    std::vector<std::span<i32>> rooms;
    for (const ml::named_field& x : d.named)
      b.by_name.push_back({x.name, std::vector<i32>(static_cast<std::size_t>(x.count))});
    for (ml::loaded_batch::named& x : b.by_name) rooms.push_back(x.numbers);
    if (d.named.empty()) b.targets.resize(length);
    if (width) b.features.resize(length * width);
    else if (d.named.empty()) b.ids.resize(length);
    d.get(r.which, {b.ids, b.features, b.targets, rooms, r.key, r.epoch});
    return b;
  }
  void send(answer& a) {
    const auto fail = [&](const std::string& why) {
      a.head.has_failed = true;
      a.body.put(why);
    };
    try {
      const ml::loaded_batch& b = a.of->made.get();
      const bool is_whole = a.by.what == input_request::kind::example;
      put(a.body, b, is_whole ? ml::batch_part{} : a.by.of.part);
    } catch (const std::bad_alloc&) {
      fail("an input worker has not enough memory for a batch: take a smaller batch, or name more of them");
    } catch (const std::exception& e) { fail(e.what()); }
    a.of = nullptr, a.is_sent = true, a.head.bytes = a.body.size();
    a.sends.send(std::as_bytes(std::span(&a.head, 1)), a.to, a.by.reply_tag, group_);
    a.sends.send(a.body.bytes(), a.to, a.by.reply_tag, group_);
  }

  static constexpr std::size_t most_kept = 8;

  MPI_Comm group_;
  int others_;
  std::vector<std::shared_ptr<const ml::dataset>> data_;
  std::deque<std::shared_ptr<kept>> kept_;
  std::list<answer> open_;
};

}  // namespace train_app::ranks
