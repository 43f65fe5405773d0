// SPDX-License-Identifier: MIT
#include "ranks.hpp"

#include <unistd.h>

#include <optional>
#include <stdexcept>
#include <wsl/mpi.hpp>

#include "input_workers.hpp"
#include "machine_of.hpp"

namespace train_app::ranks {
namespace {

namespace mpi = wsl::mpi;
using ml::role;

/// None for a program that was started as any other: it does not need MPI.
const std::optional<mpi::spread_over>& world() {
  static const std::optional<mpi::spread_over> all =
      mpi::launched() ? std::optional(mpi::world()) : std::nullopt;
  return all;
}

/// The processes by their roles.
struct company {
  std::vector<role> of_fabric;  ///< in the order of its ranks
  mpi::ranks all;               ///< the fabric's ranks, and then the input workers
  mpi::spread_over mine;        ///< those of the fabric, or the input workers
  int inputs = 0;
  bool is_input = false, is_apart = false;
  std::vector<ml::dataset> data = {};  ///< of the run, in an input worker
  std::optional<input_client> client = {};
  std::optional<mpi::ranks> of_requests = {};  ///< as `all`; its messages are those of batches
};
std::optional<company>& roles() {
  static std::optional<company> all;
  return all;
}
const mpi::ranks& group() {
  if (!roles()) return world()->who;
  return roles()->is_apart ? roles()->mine.who : roles()->all;
}
int fabric_size() { return roles()->all.size() - roles()->inputs; }

std::string name_of_computer() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

int rank() { return world() ? group().rank() : 0; }
int size() { return world() ? group().size() : 1; }
bool root() { return rank() == 0 && !(roles() && roles()->is_input); }

bool has_mpi() { return true; }
std::string take_roles(const std::vector<role>& all) {
  const int me = world()->rank();
  const role mine = all[static_cast<std::size_t>(me)];
  const bool is_input = mine == role::input;
  // The first wafer has the memory where nobody else has it.
  const role of_memory = ml::count_of(role::memoryx, all) ? role::memoryx : role::wafer;
  const int memory = static_cast<int>(std::find(all.begin(), all.end(), of_memory) - all.begin());
  const auto place = [&](int rank) {
    const bool reads = all[static_cast<std::size_t>(rank)] == role::input;
    return rank == memory ? 0 : 1 + rank + (reads ? static_cast<int>(all.size()) : 0);
  };
  std::vector<role> of_fabric{of_memory};
  for (int k = 0; k < static_cast<int>(all.size()); ++k)
    if (const role r = all[static_cast<std::size_t>(k)]; k != memory && r != role::input)
      of_fabric.push_back(r);
  const mpi::spread_over without_memory{mpi::ranks(world()->who.group())};
  roles().emplace(company{of_fabric, without_memory.split(0, place(me)).who,
                          world()->split(is_input, place(me)), ml::count_of(role::input, all), is_input});
  roles()->of_requests.emplace(without_memory.split(0, place(me)).who);
  std::vector<std::string> names;
  std::string text;
  for (int k = 0; k < static_cast<int>(all.size()); ++k) {
    names.emplace_back(ml::name_of(all[static_cast<std::size_t>(k)]));
    text += (k ? "; " : "") + names.back() + ": rank " + std::to_string(k) + " on " +
            world()->who.broadcast(name_of_computer(), k);
  }
  mpi::name_ranks(names);
  int threads = 0;
  MPI_Query_thread(&threads);
  if (roles()->inputs > 0 && threads < MPI_THREAD_MULTIPLE)
    throw std::runtime_error(
        "input workers need an MPI that several threads may call (MPI_THREAD_MULTIPLE), and this one is "
        "none: "
        "leave input out of --roles");
  return text;
}

bool have_inputs() { return roles() && roles()->inputs > 0; }
bool reads_data() { return !have_inputs() || roles()->is_input; }

void where_data_are_read(const std::function<void()>& read) {
  if (!have_inputs()) return read();
  std::string why;
  bool has_failed = false;
  if (roles()->is_input) try {
      read();
    } catch (const std::bad_alloc&) {
      has_failed = true, why = "an input worker has not enough memory for the data: take smaller files";
    } catch (const std::exception& e) { has_failed = true, why = e.what(); }
  const mpi::ranks& all = roles()->all;
  // Counted from the end, so that the largest is the first that has failed.
  const u64 failed = all.largest(has_failed ? static_cast<u64>(all.size() - all.rank()) : 0);
  if (failed) throw std::runtime_error(all.broadcast(why, all.size() - static_cast<int>(failed)));
}

void tell(std::string& text) {
  if (have_inputs()) {
    const std::string of_first = roles()->all.broadcast(text, fabric_size());
    if (!reads_data()) text = of_first;
  }
}

void tell(ml::dataset& data) {
  if (!have_inputs()) return;
  mpi::message m;
  if (reads_data()) put(m, data);
  std::size_t size = m.size();
  roles()->all.broadcast(size, fabric_size());
  m.resize(size);
  roles()->all.broadcast(m.bytes(), fabric_size());
  if (reads_data()) return;
  data = take_dataset(m);
  data.get = [](i64, const ml::example&) {
    throw std::logic_error("an example of data that another process reads was asked for before the run");
  };
}

void take_data(const std::vector<ml::dataset*>& all) {
  if (!have_inputs()) return;
  if (roles()->is_input) {
    for (const ml::dataset* d : all) roles()->data.push_back(*d);
    where_data_are_read([&] {
      for (const ml::dataset* d : all)
        roles()->mine.who.require_same(d->count ? ml::fingerprint_of(*d) : 0, "set of data");
    });
  } else {
    where_data_are_read([] {});
    roles()->client.emplace(roles()->of_requests->group(), fabric_size(), roles()->inputs);
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    tell(*all[k]);
    if (!reads_data())
      all[k]->get = [k](i64 which, const ml::example& to) { roles()->client->example(k, which, to); };
  }
}

ml::batch_maker maker_of(std::size_t data) {
  if (reads_data()) return {};
  return [data](const ml::batch_request& what) { return roles()->client->batch(data, what); };
}
int prefetch() { return ml::batch_settings{}.prefetch * (have_inputs() ? roles()->inputs : 1); }

apart::apart() {
  if (roles()) roles()->is_apart = true;
}
apart::~apart() {
  if (roles() && roles()->client) roles()->client->end();
}
bool apart::serves() const {
  if (!have_inputs() || !roles()->is_input) return false;
  input_server(roles()->of_requests->group(), fabric_size(), std::move(roles()->data)).serve();
  return true;
}

std::unique_ptr<machine> streaming(wsl::ml::network n, const wsl::ml::optimizer& rule,
                                   const wsl::ml::streaming_settings& how) {
  using streaming_machine = machine_of<wsl::ml::trainer>;
  if (size() == 1) return std::make_unique<streaming_machine>(std::move(n), rule, how);
  if (!roles()) return std::make_unique<streaming_machine>(std::move(n), rule, how, *world());
  wsl::ml::streaming_settings with_roles = how;
  with_roles.roles = roles()->of_fabric;
  return std::make_unique<streaming_machine>(std::move(n), rule, with_roles, roles()->mine);
}
wsl::layout streaming_plan(const wsl::ml::wafer_grid& grid) { return wsl::ml::trainer::plan(grid); }
wsl::i64 sum(wsl::i64 mine) {
  return size() > 1 ? static_cast<wsl::i64>(group().sum(static_cast<wsl::u64>(mine))) : mine;
}
void share(std::span<wsl::i64> numbers) {
  if (size() > 1) group().broadcast(std::as_writable_bytes(numbers), 0);
}
bool first_to_say(const std::string& sentence) {
  if (!world() || world()->size() == 1) return true;
  return (roles() ? roles()->all : world()->who).first_to_say(sentence);
}
void require_same(wsl::u64 number, const std::string& what) {
  if (size() > 1) group().require_same(number, what);
}

}  // namespace train_app::ranks
