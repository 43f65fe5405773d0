// SPDX-License-Identifier: MIT
// A shot that was interrupted goes on from its checkpoint, on other PEs and bit by bit as if nothing had
// happened. A checkpoint is written where its cells are, each process its own, so no one needs the memory for
// all of them. This program is one process; two of its lines are other ones on the ranks of mpirun.
#include <wsl/kernel/wave25.hpp>

#include <cstdio>
#include <filesystem>
using namespace wsl;

int main() {
  wave25::problem p{.size = {60, 40, 48}, .spacing = 10, .edge = wave25::border::cpml, .edge_width = 8};
  p.velocity = {2000};
  p.sources = {{.at = {20, 20, 10}, .peak_hz = 15, .delay = 0.08}};
  p.receivers = {{40, 20, 10}, wave25::point{305, 202, 104}};
  const std::string folder = (std::filesystem::temp_directory_path() / "wsl_checkpoint").string(),
                    checkpoint = folder + "/shot.checkpoint", field = folder + "/field.f32";
  std::filesystem::create_directories(folder);

  wave25::simulation whole{p};
  whole.run(200);

  {
    wave25::simulation first{p, {.wide = 2}};  // on ranks: first{p, {.wide = 2}, mpi::world()}
    first.run(130);
    // on ranks: mpi::joint_file file(mpi::world().who, checkpoint, checkpoint_size(first))
    support::scattered_file file(checkpoint, checkpoint_size(first));
    write_checkpoint(first, file), file.finish();
  }  // and it is gone
  wave25::simulation second{p, {.wide = 1, .high = 3}};
  read_checkpoint(second, support::file_reader(checkpoint));
  std::printf("going on after %lld steps\n", static_cast<long long>(second.time()));
  second.run(200 - second.time());
  const bool same = second.field() == whole.field() && second.trace(1) == whole.trace(1);
  std::printf("the run that was interrupted ends %s\n",
              same ? "bit for bit as the one that was not" : "elsewhere");

  // The field alone, as numbers of 32 bits, z fastest, then y: on ranks a joint_file, too.
  const grid::state_on_pes<f32> where = second.on_pes();
  support::scattered_file numbers(field, sizeof(f32) * p.size.count());
  grid::write(numbers, 0, where.blocks, where.field), numbers.finish();
  std::vector<f32> u(p.size.count());
  support::file_reader(field).read(0, u.data(), sizeof(f32) * u.size());
  std::printf("its field is %s in the file\n", u == whole.field() ? "the same" : "ANOTHER");

  p.velocity = {2100};
  wave25::simulation other{p};
  bool refused = false;
  try {
    read_checkpoint(other, support::file_reader(checkpoint));
  } catch (const std::invalid_argument&) { refused = true; }
  std::printf("a shot in other rock %s\n", refused ? "does not go on from it" : "GOES ON FROM IT");
  std::filesystem::remove_all(folder);
  return same && refused && u == whole.field() ? 0 : 1;
}
