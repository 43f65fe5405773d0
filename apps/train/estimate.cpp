// SPDX-License-Identifier: MIT
#include "estimate.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <wsl/layout/draw.hpp>
#include <wsl/ml/model/operations.hpp>
#include <wsl/ml/sparsity/masks.hpp>
#include <wsl/ml/train/memory_need.hpp>
#include <wsl/ml/train/pipelined/strips.hpp>
#include <wsl/ml/train/sparse_parameters.hpp>
#include <wsl/ml/train/streaming/grid_choice.hpp>
#include <wsl/ml/train/streaming/schedule.hpp>

#include "../memory.hpp"
#include "performance.hpp"
#include "ranks.hpp"

namespace train_app {
namespace {

namespace ml = wsl::ml;
using app::size_text;
using wsl::f64;
using wsl::i64;

/// A time in a readable unit.
std::string time_of(f64 seconds) {
  if (seconds < 1) return fmt::format("{:.3f} ms", 1e3 * seconds);
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{:.1f} minutes", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.1f} hours", seconds / 3600);
  return fmt::format("{:.1f} days", seconds / 86400);
}

/// A table of named lines.
class table {
 public:
  explicit table(const wsl::layout& plan) : text_(fmt::format("\n{}\n", wsl::draw(plan))) {}
  void line(const char* what, const std::string& value) { text_ += fmt::format("{:<28} {}\n", what, value); }
  void colors(const wsl::layout& plan) {
    int used = 0;
    for (int c = 0; c < plan.machine().colors; ++c) {
      const wsl::drawing::color_use use = wsl::drawing::use_of(plan, c);
      used += use.send > 0 && use.receive > 0;
    }
    line("colors", fmt::format("{} of {}", used, plan.machine().colors));
  }
  /// Adds the cycles, and whether `words` words fit into the memory of a PE.
  void machine(f64 cycles, i64 words) {
    const wsl::machine& m = wsl::wse2;
    line("cycles of a step, at least", fmt::format("{:.0f}, {} at {:.0f} MHz ({})", cycles,
                                                   time_of(cycles / m.clock_hz), m.clock_hz / 1e6, m.name));
    const i64 bytes = 4 * words, times = (bytes + m.memory - 1) / m.memory;
    line("memory of a PE",
         times <= 1
             ? fmt::format("the largest takes {} of the {} bytes of a PE of {}", bytes, m.memory, m.name)
             : fmt::format(
                   "the largest takes {}, {} times the memory of a PE of {}: a wafer would cut it into more",
                   of_words(words), times, m.name));
  }
  const std::string& text() const { return text_; }

  static std::string of_words(i64 words) { return size_text(4 * static_cast<f64>(words)); }

 private:
  std::string text_;
};

/// Numbers that are kept for each weight that is trained, with its gradient and itself. One that is frozen is
/// alone.
f64 numbers_of_weight(const ml::network& model, const ml::optimizer& rule) {
  const f64 trained = static_cast<f64>(model.trained_count()),
            frozen = static_cast<f64>(model.parameter_count()) - trained;
  return trained > 0 ? (ml::state_bytes(model, rule) / 4 - frozen) / trained : 2;
}
/// Multiply-adds of a token, forward and backward, for the work of stages without weights: attention.
f64 own_work(const ml::network& model, int length) {
  f64 sum = 0;
  for (const auto& s : model.stages())
    sum += model.tokens_for_each(s->output) * s->operations(-1, 0, model.width(s->output), length);
  return sum / 2;
}

/// The patterns with which sparse parameters begin, as far as they are known without weights: where these
/// decide, as many random places stand for them, and all where their number is not known.
class first_patterns {
 public:
  first_patterns(const ml::network& model, const ml::optimizer& rule, const ml::sparsity_settings& how)
      : how_(how.with_seed(1)), uses_(model.parameters().size()), patterns_(model.parameters().size()) {
    using init = ml::sparsity::init_method;
    if (!how_.are_given()) return;
    const auto groups = ml::sparse_groups(model, ml::updates_of(rule, model.parameters()), how_);
    for (std::size_t k = 0; k < groups.size(); ++k) {
      if (!groups[k]) continue;
      const ml::parameter& p = model.parameters()[k];
      ml::sparsity::group g = *groups[k];
      if (g.init_method == init::from_zeros) patterns_[k] = wsl::sparse_pattern::all(p.rows, p.columns);
      else {
        if (g.init_method != init::checkerboard) g.init_method = init::random;
        patterns_[k] = ml::sparsity::initial_pattern(g, p.name, p.rows, p.columns, {});
      }
      uses_[k].pattern = &patterns_[k];
      weights_ += p.size(), nonzeros_ += patterns_[k].count();
      // Of each weight its value, its gradient and what the optimizer keeps, and of each nonzero its column.
      const f64 numbers = 2 + static_cast<f64>(ml::kept_numbers(rule, {p})) / static_cast<f64>(p.size());
      saved_ +=
          4 * (numbers * static_cast<f64>(p.size()) - (numbers + 1) * static_cast<f64>(patterns_[k].count()));
    }
  }
  first_patterns(const first_patterns&) = delete;

  const std::vector<ml::sparse_use>& uses() const { return uses_; }
  i64 weights() const { return weights_; }
  i64 nonzeros() const { return nonzeros_; }
  /// The bytes of the state that zeros do not take.
  f64 saved() const { return saved_; }

 private:
  ml::sparsity_settings how_;
  std::vector<ml::sparse_use> uses_;
  std::vector<wsl::sparse_pattern> patterns_;
  i64 weights_ = 0, nonzeros_ = 0;
  f64 saved_ = 0;
};

}  // namespace

std::string estimate(const ml::network& model, const ml::streaming_settings& how, const estimate_of& what) {
  const first_patterns sparse(model, what.rule, how.sparsity);
  const ml::wafer_grid grid = ml::choose_grid(model, how, what.sequences, what.length);
  const wsl::layout plan = ranks::streaming_plan(grid);
  const auto words_of = [&](i64 weights) {
    return static_cast<i64>(ml::words_of(how.precision, static_cast<std::size_t>(weights)));
  };
  // The first column has what the others have, and the gradients of shared parameters.
  const ml::column_cut cut(model, grid.columns);
  const ml::recomputation blocks(model, how.recompute);
  const ml::streaming_schedule schedule(model, cut, 0, grid.rows, true, nullptr, {}, 1, &blocks, false,
                                        &sparse.uses());
  const i64 passes = ml::micro_batch::count(what.sequences, grid.wafers, how.micro_batch_size,
                                            ml::sequences_together(model)),
            of_pass = (what.sequences / grid.wafers + passes - 1) / passes;
  const ml::rows_of_wafers rows(cut, {grid.rows, grid.columns, 1}, static_cast<int>(of_pass), what.length);
  i64 tokens = 0;  // of the row with the most
  f64 of_others = 0;
  for (int row = 0; row < grid.rows; ++row) {
    tokens = std::max<i64>(tokens, rows.tokens_of(row).count());
    for (const auto& s : model.stages())
      of_others = std::max(of_others, ml::numbers_shared(cut, rows, row, 0, *s));
  }
  const f64 of_token =
      blocks.most<f64>(model, [&](int v) { return model.tokens_for_each(v) * cut.width(v, 0); });
  const i64 activations = static_cast<i64>(2 * (static_cast<f64>(tokens) * of_token + of_others));
  i64 out = 0, back = 0, largest_widened = 0;
  f64 cycles = own_work(model, what.length) * static_cast<f64>(tokens) / grid.columns;
  for (const ml::weight_transfer& t : schedule.transfers()) {
    if (!t.is_tile()) continue;
    const i64 numbers = static_cast<i64>(t.size()),
              comes = t.carries_weights ? static_cast<i64>(t.words(how.precision)) : 0,
              goes = t.returns_gradient ? static_cast<i64>(t.gradients()) : 0;
    const f64 density = static_cast<f64>(t.kept()) / static_cast<f64>(numbers);
    if (how.precision != ml::precision::f32 && !t.of->reads_operands(t.which))
      largest_widened = std::max(largest_widened, numbers);
    // A third of a tile's work is in the forward pass.
    const f64 work = static_cast<f64>(tokens) * model.tokens_for_each(t.of->output) *
                     t.of->operations(t.which, t.rows, t.columns, what.length) / 2 * (t.backward ? 2 : 1) /
                     3 * density;
    cycles += std::max(work, static_cast<f64>(comes + goes));
    out += passes * grid.columns * comes, back += passes * grid.columns * goes;
  }
  // Two tiles and four gradients may wait for each server; a tile in use may be widened to f32.
  const i64 largest_tile = static_cast<i64>(schedule.max_gradients()),
            tiles_in = 2 * grid.rows * words_of(largest_tile) + largest_widened,
            gradients_out = 4 * grid.rows * largest_tile;
  table of(plan);
  const int workers = grid.rows * grid.columns;
  of.line("placement", fmt::format("{} x {} PEs: {} x {} workers on {} wafer{}, {} servers of the memory",
                                   plan.width(), plan.height(), grid.rows, grid.columns, grid.wafers,
                                   grid.wafers > 1 ? "s" : "", workers));
  of.colors(plan);
  of.line(
      "a worker",
      fmt::format("{}, with those beside it{}; {} of activations and their gradients",
                  rows.cuts_sequences()
                      ? fmt::format("{} tokens of sequences of {}", tokens, what.length)
                      : fmt::format("{} sequences of {} tokens", tokens / what.length, what.length),
                  passes > 1 ? fmt::format(", {} times a step", passes) : "", table::of_words(activations)));
  of.line("",
          fmt::format("{} for weight tiles that come as {}, {} for gradients that go",
                      table::of_words(tiles_in), ml::name_of(how.precision), table::of_words(gradients_out)));
  of.line("a server", fmt::format("{} of parameters, gradients and what the optimizer keeps",
                                  table::of_words(static_cast<i64>(
                                      (ml::state_bytes(model, what.rule) - sparse.saved()) / 4 / workers))));
  if (sparse.weights())
    of.line("sparse weights",
            fmt::format("{} of {} are there at first, {:.3g} %", sparse.nonzeros(), sparse.weights(),
                        100 * static_cast<f64>(sparse.nonzeros()) / static_cast<f64>(sparse.weights())));
  of.line("weights out, a step", table::of_words(out));
  of.line("gradients in, a step", table::of_words(back));
  of.machine(static_cast<f64>(passes) * cycles, activations + tiles_in + gradients_out);
  return of.text();
}

/// The words of the copy in 16 bits that a PE of a pipeline has of its parameters.
i64 copy_in(ml::precision as, i64 parameters) {
  return as == ml::precision::f32 ? 0
                                  : static_cast<i64>(ml::words_of(as, static_cast<std::size_t>(parameters)));
}
std::string estimate(const ml::network& model, const ml::pipeline_settings& how, const estimate_of& what) {
  const ml::strips strips(model, how.strips);
  const wsl::layout plan = pipeline_plan(strips.count(), how.replicas);
  const int sequences = what.sequences / how.replicas,  // of a replica
      micro = how.micro_batch_size ? (sequences + how.micro_batch_size - 1) / how.micro_batch_size
                                   : std::min(sequences, 4 * strips.count());
  const i64 tokens = i64{sequences} * what.length;
  table of(plan);
  of.line("placement", fmt::format("{}{} strips, {} micro-batches of {} sequences of {} tokens",
                                   how.replicas > 1 ? fmt::format("{} replicas of ", how.replicas) : "",
                                   strips.count(), micro, (sequences + micro - 1) / micro, what.length));
  of.colors(plan);
  f64 all = 0, busiest = 0;
  for (int x = 0; x < strips.count(); ++x) all += strips[x].work, busiest = std::max(busiest, strips[x].work);
  i64 largest = 0;
  for (int x = 0; x < strips.count(); ++x) {
    const ml::strip& s = strips[x];
    i64 parameters = 0, trained = 0, activations = 0;
    for (const ml::stage_part& p : s.parts) {
      const i64 size = p.which < 0 ? 0 : static_cast<i64>(p.size());
      parameters += size, trained += p.frozen ? 0 : size;
    }
    for (const ml::value_width& w : s.widths) {
      const int own = model.axes()[static_cast<std::size_t>(w.axis)].length;  // 0: as the batch has it
      activations += i64{sequences} * (own ? own : what.length) * w.all;
    }
    const i64 words = static_cast<i64>(numbers_of_weight(model, what.rule) * static_cast<f64>(trained)) +
                      (parameters - trained) + 2 * activations + copy_in(how.precision, parameters);
    largest = std::max(largest, words);
    of.line(x ? "" : "strips",
            fmt::format("{} .. {}: {:.1f} % of the work, {} with its activations", s.parts.front().of->name,
                        s.parts.back().of->name, 100 * s.work / all, table::of_words(words)));
  }
  // The busiest strip works all the time except while the pipeline fills and drains.
  const f64 of_micro = busiest / 2 * static_cast<f64>(tokens) / micro;
  of.machine(of_micro * (micro + strips.count() - 1), largest);
  return of.text();
}

memory_need memory_of(const ml::network& model, const ml::optimizer& rule, const ml::streaming_settings& how,
                      int sequences, int length, f64 there) {
  const int passes = ml::micro_batch::count(sequences, how.num_csx, how.micro_batch_size,
                                            ml::sequences_together(model)),
            at_once = std::min(
                sequences, ((sequences + how.num_csx - 1) / how.num_csx + passes - 1) / passes * how.num_csx);
  const ml::wafer_grid grid{std::max(1, how.workers / how.columns), how.columns, how.num_csx};
  const ml::column_cut cut(model, how.columns);
  return {.parameters = model.parameter_count(),
          .batch = sequences,
          .at_once = at_once,
          .state = ml::state_bytes(model, rule),
          .activations = at_once * ml::activation_bytes(model, cut, length, how.recompute) +
                         ml::prefix_bytes(model, cut, grid, at_once, length),
          .there = there,
          .folder = how.memory_folder};
}

memory_need memory_of(const ml::network& model, const ml::optimizer& rule, int sequences, int length,
                      f64 there) {
  return memory_of(model, rule, {.columns = 1}, sequences, length, there);
}

int micro_batch_for(const ml::network& model, const ml::optimizer& rule, const ml::wafer_grid& grid,
                    const common_params& p, int length) {
  // A tenth is left for data, tiles on their way, and the program.
  const f64 state = p.run.memory_folder.empty() ? ml::state_bytes(model, rule) : 0;
  const int together = ml::sequences_together(model),
            most = ml::micro_batch_that_fits(model, grid, together * p.train_input.batch_size, length,
                                             0.9 * p.run.on.memory - state, p.run.recompute);
  return std::max(together, most / together * together);
}

std::string text_of(const memory_need& x) {
  return fmt::format(
      "memory: {} for parameters, gradients and what the optimizer keeps{}, {} for the activations of {}{} "
      "samples; there are {}",
      size_text(x.state), x.folder.empty() ? "" : " in files", size_text(x.activations),
      x.at_once < x.batch ? fmt::format("{} of ", x.at_once) : "", x.batch, size_text(x.there));
}

namespace {

/// The bytes that the disk of a memory has room for. Throws std::invalid_argument if its folder cannot be
/// used, or has no room for the state.
f64 room_for(const memory_need& x) {
  struct statvfs disk{};
  const bool is_usable =
      statvfs((x.folder + "/").c_str(), &disk) == 0 && access(x.folder.c_str(), W_OK | X_OK) == 0;
  if (!is_usable)
    throw std::invalid_argument(fmt::format("runconfig.memory_folder {}: {}: name a folder on a disk with {}",
                                            x.folder, std::strerror(errno), size_text(x.state)));
  const f64 room = static_cast<f64>(disk.f_bavail) * static_cast<f64>(disk.f_frsize);
  if (room < x.state)
    throw std::invalid_argument(fmt::format(
        "runconfig.memory_folder {} has room for {}, and the memory takes {}: make room, or name another "
        "folder",
        x.folder, size_text(room), size_text(x.state)));
  return room;
}

}  // namespace

void require_memory(const memory_need& x) {
  if (x.in_memory() > x.there)
    throw std::invalid_argument(fmt::format(
        "training would take about {} for {} parameters{} and {} for the activations of a {} of {} samples; "
        "this computer has {}: take a smaller batch_size or model, micro_batch_size auto, a memory_folder on "
        "a disk for the parameters, or only `compile` it",
        size_text(x.state), x.parameters, x.folder.empty() ? "" : " on disk", size_text(x.activations),
        x.at_once < x.batch ? "micro-batch" : "batch", x.at_once, size_text(x.there)));
  if (!x.folder.empty() && ranks::root()) room_for(x);
}

std::string disk_text(const ml::network& model, const ml::optimizer& rule, const ml::streaming_settings& how,
                      const memory_need& x, int length) {
  const f64 room = room_for(x);
  const ml::state_traffic moved = ml::traffic_of_step(model, rule, how, x.batch);
  const f64 computing =
      ml::operations_per_token(model, length) * x.batch * length / measured_peak(how.threads) +
      (moved.read + moved.written) / ml::worker_rates{}.bytes;
  const disk_speed speed = measured_disk(x.folder);
  // Pages that the memory can cache are not read again; those that a step changes are written in any case.
  const bool is_cached = x.state <= app::memory_with_files() - x.activations;
  const f64 moving = (is_cached ? 0 : moved.read / speed.read) + moved.written / speed.write;
  return fmt::format(
      "memory on disk: {} in {}, which has room for {}; a step reads {}{} and writes {}, of a disk with {}/s "
      "and {}/s, and takes about {}",
      size_text(x.state), x.folder, size_text(room), size_text(moved.read),
      is_cached ? ", which main memory can cache," : "", size_text(moved.written), size_text(speed.read),
      size_text(speed.write), time_of(moving + computing));
}

}  // namespace train_app
