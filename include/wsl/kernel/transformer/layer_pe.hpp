// SPDX-License-Identifier: MIT
// The PE program of a layer whose weights stream through. Each column of PEs gets its rows of weights from
// the north, each row of PEs passes partial sums around a ring of its PEs:
//
//            w0   w1   w2   w3      rows of weights, from MemoryX, broadcast down their column
//            |    |    |    |
//   tokens  [ ]--[ ]--[ ]--[ ]     sums of outputs go round the row, until they are with their owner
//            |    |    |    |
//   tokens  [ ]--[ ]--[ ]--[ ]     keys and values go round the rows of a sequence
//            |    |    |    |
//            g0   g1   g2   g3      rows of gradients, summed on their way, to MemoryX
//
// A row of weights holds, of one input, the weights of as many outputs as a PE has features. A PE adds it to
// the sums of its tokens, each times the token's input: an fmac for each token. In a step of a product a PE
// does so for all its inputs and for the outputs of one owner, adds the sums of the PE before it, and sends
// them on. In the gradient of a product the outputs' gradients go round, and each row of the result is an
// fmac for each token, and is added to that of the PEs in the north on its way south.
#pragma once
#include "../../collective/folded_ring.hpp"
#include "../../program/counted.hpp"
#include "../../program/event.hpp"
#include "attention_tile.hpp"

namespace wsl::transformer {

inline constexpr color<f32> weight_rows{0};
inline constexpr folded_ring<f32> along_rows{1, folded_ring<f32>::axis::rows},
    along_sequences{4, folded_ring<f32>::axis::columns};
inline constexpr color<f32> gradient_rows[2]{{7}, {8}};  // by the parity of the row that sends

template <layer_shape shape>
class layer_pe {
  static constexpr int features = shape.features, tokens = shape.tokens, unit = features * tokens;
  static_assert(tokens > 0 && tokens % 2 == 0,
                "wsl: half of a PE's tokens are from the front of a sequence and half from the back: take an "
                "even number");
  static_assert(features > 0 && features % 2 == 0,
                "wsl: the features of a PE fill words of 8 bytes: take an even number");

 public:
  static layout plan(const machine& target, int columns, int rows, int sequences) {
    layout l{target, columns, rows * sequences};
    for (int x = 0; x < columns; ++x) l.place<layer_pe>(column(x));  // a wafer has eight input queues
    const int last = l.height() - 1;
    l.path(weight_rows, wsl::rows(0, last), north >> (ramp | south))
        .path(weight_rows, row(last), north >> ramp);
    along_rows.wire(l);
    l.claim_colors("folded_ring", along_sequences.first, 3, l.grid());
    for (color<f32> c : along_sequences.colors()) l.path(c, region{}, ramp >> ramp);
    along_sequences.wire(l, all, rows);
    for (int odd : {0, 1}) {
      l.path(gradient_rows[odd], wsl::rows(odd, edge, 2), ramp >> south);
      l.path(gradient_rows[odd], wsl::rows(odd + 1, edge, 2), north >> ramp);
    }
    return l.stream_in(weight_rows, row(0), north).stream_out(gradient_rows[last % 2], row(last), south);
  }

  /// This PE's part of the residual stream, which the host fills and fetches: the i-th feature of a token.
  f32& at(int i, int token) { return x_[i * tokens + token]; }

  /// All PEs begin a pass; `rows` is the number of PEs that share a sequence.
  void forward(pe& me, int rows) {
    static constexpr job all_jobs[]{{job::norm, 0},       {job::product, qkv}, {job::attention, 0},
                                    {job::product, join}, {job::norm, 1},      {job::product, up},
                                    {job::product, down}, {job::end, 0}};
    int coming = 4;
    for (const product_kinds& k : kinds_of)
      coming += parts(k.out) * (parts(k.in) * features * me.width() + 1);
    begin(me, rows, all_jobs, coming);
  }
  void backward(pe& me, int rows) {
    static constexpr job all_jobs[]{{job::gradient, down},   {job::transposed, down},  {job::gradient, up},
                                    {job::transposed, up},   {job::norm_back, 1},      {job::gradient, join},
                                    {job::transposed, join}, {job::attention_back, 0}, {job::gradient, qkv},
                                    {job::transposed, qkv},  {job::norm_back, 0},      {job::end, 0}};
    int coming = 0;
    for (const product_kinds& k : kinds_of) coming += parts(k.in) * parts(k.out) * features * me.width();
    begin(me, rows, all_jobs, coming);
  }

 private:
  struct job {
    enum kind : u8 { norm, product, attention, gradient, transposed, norm_back, attention_back, end } what;
    std::size_t which;
  };

  void begin(pe& me, int rows, const job* jobs, int coming) {
    rows_ = rows, next_ = jobs, coming_ = coming, now_ = 0;
    listen(me);
    proceed(me);
  }
  void proceed(pe& me) {
    job_ = *next_++;
    switch (job_.what) {
      case job::norm: return me.activate<&layer_pe::normalize>();
      case job::attention: return me.activate<&layer_pe::attend>();
      case job::gradient:
        if (job_.which == down) apply_gelu(me);
        if (job_.which == up) scale_norm(1);
        if (job_.which == qkv) scale_norm(0);
        return me.activate<&layer_pe::differentiate>();
      case job::product:
      case job::transposed: return me.activate<&layer_pe::multiply>();
      case job::norm_back: return me.activate<&layer_pe::normalize_back>();
      case job::attention_back: return me.activate<&layer_pe::attend_back>();
      case job::end: return;
    }
  }

  // ---- rows of weights and of gradients ----------------------------------------------------------------

  void listen(pe& me) {
    if (coming_-- > 0)
      me.async(mov(mem(rows_in_[now_]), fabin(weight_rows)), signals(arrived_), priority::high);
  }
  /// After `co_await arrived_`: the row that has come, while the next one comes.
  f32* take_row(pe& me) {
    f32* const row = rows_in_[now_];
    now_ = 1 - now_;
    listen(me);
    return row;
  }
  /// The row of gradients to be computed next, while the last one may be on its way: only after that has left
  /// can it be sent.
  f32* row_to_send() { return rows_out_[sending_ & 1]; }
  void send_row(pe& me) {
    const memory<f32> row = mem(rows_out_[sending_++ & 1]);
    under_way_ = true;
    const color<f32> out = gradient_rows[me.y() % 2], in = gradient_rows[1 - me.y() % 2];
    if (me.north_edge()) me.async(mov(fabout(out), row), signals(left_), priority::high);
    else me.async(add(fabout(out), row, fabin(in)), signals(left_), priority::high);
  }

  // ---- products ----------------------------------------------------------------------------------------

  color<f32> row_out(const pe& me) const { return along_rows.out(me.x(), me.width()); }
  color<f32> row_in(const pe& me) const { return along_rows.in(me.x(), me.width()); }

  task multiply(pe& me) {
    const bool forth = job_.what == job::product;
    const auto [in, out] = kinds_of[job_.which];
    const int inputs = features * parts(forth ? in : out), pieces = parts(forth ? out : in), n = me.width();
    const f32* const input = job_.which == join && forth ? o_
                             : forth                     ? work_
                             : out == vector_kind::model ? x_
                                                         : u_;
    for (int b = 0; b < pieces; ++b)
      for (int s = 0; s < n; ++s) {
        f32 *const sums = ring_ + (s % 2) * unit, *const before = ring_ + 2 * unit;
        if (s > 0) me.async(mov(numbers(before, unit), fabin(row_in(me))), signals(heard_), priority::high);
        mov(numbers(sums, unit), 0);
        for (counted<i16> i = i16{0}; i < static_cast<i16>(inputs); ++i) {
          co_await arrived_;
          const f32* const row = take_row(me);
          add_outer_product(sums, numbers(row, features), numbers(input + i.value() * tokens, tokens));
        }
        if (s > 0) {
          co_await heard_;
          add(numbers(sums, unit), numbers(sums, unit), numbers(before, unit));
          co_await sent_;
        }
        if (s < n - 1) {
          me.async(mov(fabout(row_out(me)), numbers(sums, unit)), signals(sent_), priority::high);
          continue;
        }
        if (forth) {
          co_await arrived_;
          const memory<f32> bias = numbers(take_row(me), features);
          for (int t = 0; t < tokens; ++t)
            add(numbers(sums + t * features, features), numbers(sums + t * features, features), bias);
        }
        keep(sums, b);
      }
    if (forth && job_.which == up) apply_gelu(me);
    if (!forth && job_.which == down) differentiate_gelu(me);
    proceed(me);
  }
  /// A piece of the result, (tokens, features), goes to where the next job needs it.
  void keep(f32* sums, int piece) {
    const auto turned = box(numbers(sums, unit), {features, tokens}, {1, features});
    const bool forth = job_.what == job::product;
    if (forth && job_.which == qkv && piece == 0) {
      mov(numbers(qkv_, unit), turned);
      mul(numbers(qkv_, unit), numbers(qkv_, unit), scale);
    } else if (forth && job_.which == qkv) mov(numbers(qkv_ + piece * unit, unit), numbers(sums, unit));
    else if (forth && job_.which == up) mov(numbers(u_ + piece * unit, unit), turned);
    else if (forth) add(numbers(x_, unit), numbers(x_, unit), turned);
    else if (job_.which == down) mov(numbers(work_ + piece * unit, unit), turned);
    else mov(numbers(d_, unit), turned);
  }

  task differentiate(pe& me) {
    const auto [in, out] = kinds_of[job_.which];
    const int inputs = features * parts(in), n = me.width();
    const f32* const input = job_.which == join ? o_ : work_;
    f32* const outputs = out == vector_kind::model ? x_ : u_;
    for (int b = 0; b < parts(out); ++b) {
      f32* const own = outputs + b * unit;
      mov(numbers(ring_, unit), box(numbers(own, unit), {tokens, features}, {1, tokens}));
      for (int s = 0; s < n; ++s) {
        f32 *const here = ring_ + (s % 2) * unit, *const next = ring_ + (1 - s % 2) * unit;
        if (s < n - 1) {
          me.async(mov(numbers(next, unit), fabin(row_in(me))), signals(heard_), priority::high);
          me.async(mov(fabout(row_out(me)), numbers(here, unit)), signals(sent_), priority::high);
        }
        for (counted<i16> i = i16{0}; i < static_cast<i16>(inputs); ++i) {
          const memory<f32> row = numbers(row_to_send(), features);
          const f32* const factors = input + i.value() * tokens;
          mul(row, numbers(here, features), factors[0]);
          add_columns(row, here + features, features, numbers(factors + 1, tokens - 1));
          if (under_way_) co_await left_;
          send_row(me);
        }
        if (s < n - 1) {
          co_await heard_;
          co_await sent_;
        }
      }
      add_tokens(own, row_to_send());
      co_await left_;
      send_row(me);
    }
    co_await left_;
    under_way_ = false;
    proceed(me);
  }
  /// row(i) = the sum over the tokens of of(i, :)
  void add_tokens(f32* of, f32* row) {
    const auto sum = box(numbers(row, features), {tokens, features}, {0, 1});
    mov(numbers(row, features), 0);
    add(sum, sum, box(numbers(of, unit), {tokens, features}, {1, tokens}));
  }

  // ---- norms -------------------------------------------------------------------------------------------

  /// A number for each token, for all features.
  static auto each_token(f32* of) { return box(numbers(of, tokens), {features, tokens}, {0, 1}); }
  void add_features(f32* of, f32* to) {
    mov(numbers(to, tokens), 0);
    add(each_token(to), each_token(to), numbers(of, unit));
  }
  /// The sums that the PEs of a row have put together, in the order of the ring, so that all find the same.
  void add_gathered(pe& me, f32* to, int count) {
    mov(numbers(to, count), numbers(ring_, count));
    for (int p = 1; p < me.width(); ++p)
      add(numbers(to, count), numbers(to, count), numbers(ring_ + p * count, count));
    mul(numbers(to, count), numbers(to, count), 1.f / static_cast<f32>(me.width() * features));
  }
  void exchange(pe& me, int step, int count) {
    const int n = me.width(), place = along_rows.place(me.x(), n);
    const auto part = [&](int p) { return numbers(ring_ + (p + n) % n * count, count); };
    me.async(mov(part(place - step), fabin(row_in(me))), signals(heard_), priority::high);
    me.async(mov(fabout(row_out(me)), part(place - step + 1)), signals(sent_), priority::high);
  }

  task normalize(pe& me) {
    const std::size_t which = job_.which;
    f32* const deviation = normal_[which];
    for (f32* to : {gain_[which], offset_[which]}) {
      co_await arrived_;
      mov(numbers(to, features), numbers(take_row(me), features));
    }
    f32* const own = ring_ + along_rows.place(me.x(), me.width()) * tokens;
    add_features(x_, own);
    for (int s = 1; s < me.width(); ++s) {
      exchange(me, s, tokens);
      co_await heard_;
      co_await sent_;
    }
    add_gathered(me, means_, tokens);
    sub(numbers(deviation, unit), numbers(x_, unit), each_token(means_));
    mul(numbers(work_, unit), numbers(deviation, unit), numbers(deviation, unit));
    add_features(work_, own);
    for (int s = 1; s < me.width(); ++s) {
      exchange(me, s, tokens);
      co_await heard_;
      co_await sent_;
    }
    f32* const inverse = inverse_[which];
    add_gathered(me, inverse, tokens);
    for (int t = 0; t < tokens; ++t) inverse[t] = 1 / std::sqrt(inverse[t] + static_cast<f32>(norm_epsilon));
    me.spend(kernel::vector_work(me.machine()).sums(1, tokens).quotients(2 * tokens).cycles());
    mul(numbers(deviation, unit), numbers(deviation, unit), each_token(inverse));
    scale_norm(which);
    proceed(me);
  }
  /// The normalized numbers times their gains, plus their offsets.
  void scale_norm(std::size_t which) {
    for (int i = 0; i < features; ++i)
      fmac(numbers(work_ + i * tokens, tokens), offset_[which][i],
           numbers(normal_[which] + i * tokens, tokens), gain_[which][i]);
  }

  task normalize_back(pe& me) {
    const std::size_t which = job_.which;
    f32* const normal = normal_[which];
    mul(numbers(work_, unit), numbers(d_, unit), numbers(normal, unit));
    add_tokens(work_, row_to_send());
    send_row(me);
    add_tokens(d_, row_to_send());
    co_await left_;
    send_row(me);
    mul(numbers(d_, unit), numbers(d_, unit),
        box(numbers(gain_[which], features), {features, tokens}, {1, 0}));
    mul(numbers(work_, unit), numbers(d_, unit), numbers(normal, unit));
    f32* const own = ring_ + along_rows.place(me.x(), me.width()) * 2 * tokens;
    add_features(d_, own);
    add_features(work_, own + tokens);
    for (int s = 1; s < me.width(); ++s) {
      exchange(me, s, 2 * tokens);
      co_await heard_;
      co_await sent_;
    }
    add_gathered(me, means_, 2 * tokens);
    sub(numbers(d_, unit), numbers(d_, unit), each_token(means_));
    mul(numbers(work_, unit), numbers(normal, unit), each_token(means_ + tokens));
    sub(numbers(d_, unit), numbers(d_, unit), numbers(work_, unit));
    mul(numbers(d_, unit), numbers(d_, unit), each_token(inverse_[which]));
    add(numbers(x_, unit), numbers(x_, unit), numbers(d_, unit));
    co_await left_;
    under_way_ = false;
    proceed(me);
  }

  // ---- attention ---------------------------------------------------------------------------------------

  /// The place of this PE on the ring of its sequence's rows, and the row whose block visits in a step.
  int row_of(const pe& me) const { return me.y() % rows_; }
  int visitor(const pe& me, int step) const {
    const int place = along_sequences.place(row_of(me), rows_);
    return along_sequences.pe_at((place - step + rows_) % rows_, rows_);
  }
  color<f32> sequence_out(const pe& me) const { return along_sequences.out(row_of(me), rows_); }
  color<f32> sequence_in(const pe& me) const { return along_sequences.in(row_of(me), rows_); }

  task attend(pe& me) {
    f32 *here = work_, *next = ring_, *const sums = u_;
    mov(numbers(here, 2 * unit), numbers(qkv_ + unit, 2 * unit));
    tile_.begin(numbers(sums, unit));
    for (int s = 0; s < rows_; ++s) {
      if (s < rows_ - 1) {
        me.async(mov(numbers(next, 2 * unit), fabin(sequence_in(me))), signals(heard_), priority::high);
        me.async(mov(fabout(sequence_out(me)), numbers(here, 2 * unit)), signals(sent_), priority::high);
      }
      tile_.add(me, row_of(me), visitor(me, s), rows_, qkv_, here, here + unit, sums);
      me.spend(tile_.take_charge());
      if (s < rows_ - 1) {
        co_await heard_;
        co_await sent_;
        std::swap(here, next);
      }
    }
    tile_.end(me, sums);
    me.spend(tile_.take_charge());
    mov(numbers(o_, unit), box(numbers(sums, unit), {features, tokens}, {1, features}));
    proceed(me);
  }

  task attend_back(pe& me) {
    f32 *here = work_, *next = ring_;
    f32 *const of_queries = u_, *const gradient = u_ + unit, *const queries = u_ + 2 * unit;
    const auto by_token = [](f32* of) { return box(numbers(of, unit), {tokens, features}, {1, tokens}); };
    mov(numbers(here, 2 * unit), numbers(qkv_ + unit, 2 * unit));
    mov(numbers(here + 2 * unit, 2 * unit), 0);
    mov(numbers(of_queries, unit), 0);
    mov(numbers(gradient, unit), by_token(d_));
    mov(numbers(queries, unit), by_token(qkv_));
    tile_.begin_derivative(d_, o_);
    // After as many steps as there are rows, a block is home.
    for (int s = 0; s < rows_; ++s) {
      if (rows_ > 1) {
        me.async(mov(numbers(next, 4 * unit), fabin(sequence_in(me))), signals(heard_), priority::high);
        me.async(mov(fabout(sequence_out(me)), numbers(here, 2 * unit)), signals(sent_), priority::high);
      }
      tile_.add_derivative(me, row_of(me), visitor(me, s), rows_, {qkv_, d_, queries, gradient, of_queries},
                           here);
      me.spend(tile_.take_charge());
      if (rows_ > 1) {
        co_await sent_;
        me.async(mov(fabout(sequence_out(me)), numbers(here + 2 * unit, 2 * unit)), signals(sent_),
                 priority::high);
        co_await heard_;
        co_await sent_;
        std::swap(here, next);
      }
    }
    const auto by_feature = [](f32* of) { return box(numbers(of, unit), {features, tokens}, {1, features}); };
    mov(numbers(d_, unit), by_feature(of_queries));
    mul(numbers(u_, unit), numbers(d_, unit), scale);
    mov(numbers(u_ + unit, unit), by_feature(here + 2 * unit));
    mov(numbers(u_ + 2 * unit, unit), by_feature(here + 3 * unit));
    proceed(me);
  }

  // ---- the activation, gelu(u) = u sigmoid(z) with z = u (slope + cubic u^2) -----------------------------

  static constexpr f32 slope = 1.5957691216f, cubic = slope * 0.044715f;  // 2 sqrt(2 / pi)
  static f32 sigmoid(f32 z) { return 1 / (1 + std::exp(-z)); }

  void apply_gelu(pe& me) {
    for (int k = 0; k < 4 * unit; ++k) work_[k] = u_[k] * sigmoid(u_[k] * (slope + cubic * u_[k] * u_[k]));
    me.spend(kernel::vector_work(me.machine())
                 .products(4, 4 * unit)
                 .sums(2, 4 * unit)
                 .exponentials(4 * unit)
                 .quotients(4 * unit)
                 .cycles());
  }
  /// u becomes the gradient of what went into the activation; `work_` has that of what came out.
  void differentiate_gelu(pe& me) {
    for (int k = 0; k < 4 * unit; ++k) {
      const f32 u = u_[k], s = sigmoid(u * (slope + cubic * u * u));
      u_[k] = work_[k] * (s + u * s * (1 - s) * (slope + 3 * cubic * u * u));
    }
    me.spend(kernel::vector_work(me.machine())
                 .products(8, 4 * unit)
                 .sums(4, 4 * unit)
                 .exponentials(4 * unit)
                 .quotients(4 * unit)
                 .cycles());
  }

  static inline const f32 scale = 1 / std::sqrt(static_cast<f32>(features));

  // Two operands of a product are read in the same cycle if they are 4 bytes apart, modulo 8: the sums and
  // what travels begin at a multiple of 8, and what they are multiplied with 4 bytes behind one.
  alignas(8) f32 work_[std::size_t{4 * unit}]{}, ring_[std::size_t{4 * unit}]{};
  attention_tile<shape> tile_;
  alignas(8) f32 apart_ = 0;
  f32 rows_in_[2][std::size_t{features}]{}, rows_out_[2][std::size_t{features}]{};
  f32 x_[std::size_t{unit}]{}, d_[std::size_t{unit}]{}, o_[std::size_t{unit}]{};
  f32 normal_[2][std::size_t{unit}]{}, qkv_[std::size_t{3 * unit}]{}, u_[std::size_t{4 * unit}]{};
  f32 gain_[2][std::size_t{features}]{}, offset_[2][std::size_t{features}]{};
  f32 inverse_[2][std::size_t{tokens}]{}, means_[std::size_t{2 * tokens}]{};
  event arrived_, heard_, sent_, left_;
  job job_{job::end, 0};
  const job* next_ = nullptr;
  int rows_ = 1, coming_ = 0, now_ = 0, sending_ = 0;
  bool under_way_ = false;  // a row of gradients

 public:
  using tasks =
      task_list<launch<&layer_pe::forward>, launch<&layer_pe::backward>, local<&layer_pe::multiply>,
                local<&layer_pe::differentiate>, local<&layer_pe::normalize>,
                local<&layer_pe::normalize_back>, local<&layer_pe::attend>, local<&layer_pe::attend_back>,
                reads<weight_rows>, ring_entries<along_rows>, ring_entries<along_sequences>,
                reads<gradient_rows[0], gradient_rows[1]>, sends<gradient_rows[0], gradient_rows[1]>>;
};

}  // namespace wsl::transformer
