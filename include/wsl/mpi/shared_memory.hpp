// SPDX-License-Identifier: MIT
// Memory that the ranks of one computer share, as an MPI window: each rank writes into its own part and reads
// all parts. The buffers of channels are allocated from it, so that a word for another rank is written once
// and read in place. A part begins with the rank's doorbell and the ring of its arrays.
#pragma once
#include <mpi.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "../engine/threaded/partition.hpp"
#include "doorbell.hpp"
#include "piece_ring.hpp"

namespace wsl::mpi {

class shared_memory {
 public:
  /// Collective. If there is no second rank on this computer, or the system has no room, there is no such
  /// memory.
  explicit shared_memory(MPI_Comm group) {
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(group, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    int neighbours = 0, all = 0;
    MPI_Comm_size(here, &neighbours);
    MPI_Comm_size(group, &all);
    parts_.resize(static_cast<std::size_t>(all));
    int first_here = 0;
    MPI_Comm_rank(group, &first_here);
    MPI_Comm_set_errhandler(here, MPI_ERRORS_RETURN);
    if (neighbours > 1 &&
        MPI_Win_allocate_shared(size, sizeof(u32), MPI_INFO_NULL, here, &mine_, &window_) == MPI_SUCCESS) {
      find_parts(group, here, neighbours);
      MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
      // before the reduction, after which others may ring
      used_ = reinterpret_cast<std::byte*>(new (place_of_head(mine_)) head + 1) -
              reinterpret_cast<std::byte*>(mine_);
      MPI_Allreduce(MPI_IN_PLACE, &first_here, 1, MPI_INT, MPI_MIN, here);
    }
    first_beside_.resize(parts_.size());
    MPI_Allgather(&first_here, 1, MPI_INT, first_beside_.data(), 1, MPI_INT, group);
    MPI_Comm_free(&here);
  }
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;

  /// Collective, after the last read.
  void release() {
    if (window_ == MPI_WIN_NULL) return;
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

  /// A buffer of `words` words in this rank's part; null if there is none left.
  u32* take(int words) {
    const std::scoped_lock alone(mutex_);
    std::vector<u32*>& free = words == engines::small_buffer ? small_ : large_;
    if (!free.empty()) {
      u32* buffer = free.back();
      free.pop_back();
      return buffer;
    }
    const auto bytes = static_cast<std::ptrdiff_t>(sizeof(u32)) * words;
    if (window_ == MPI_WIN_NULL || used_ + bytes > size) return nullptr;
    return mine_ + std::exchange(used_, used_ + bytes) / static_cast<std::ptrdiff_t>(sizeof(u32));
  }
  void give(u32* buffer, int words) {
    const std::scoped_lock alone(mutex_);
    (words == engines::small_buffer ? small_ : large_).push_back(buffer);
  }

  /// Whether a buffer belongs to this rank's part and the given rank can read it.
  bool seen_by(int rank, const u32* buffer) const {
    return parts_[static_cast<std::size_t>(rank)] && buffer >= mine_ &&
           buffer < mine_ + size / static_cast<MPI_Aint>(sizeof(u32));
  }
  /// Whether any two ranks have memory in common.
  bool common(int one, int other) const {
    return first_beside_[static_cast<std::size_t>(one)] == first_beside_[static_cast<std::size_t>(other)];
  }
  /// Whether all ranks have memory in common.
  bool common() const {
    for (const int first : first_beside_)
      if (first != first_beside_[0]) return false;
    return true;
  }
  /// The bell of a rank of this computer, null if they have no memory in common.
  detail::doorbell* bell(int rank) const {
    head* const h = head_of(rank);
    return h ? &h->bell : nullptr;
  }
  /// The ring of a rank of this computer, null if they have no memory in common.
  detail::piece_ring* ring(int rank) const {
    head* const h = head_of(rank);
    return h ? &h->ring : nullptr;
  }
  u32 place_of(const u32* buffer) const { return static_cast<u32>(buffer - mine_); }
  u32* at(int rank, u32 place) const { return parts_[static_cast<std::size_t>(rank)] + place; }

  /// A memory fence between a write and the message that announces it, and between this message and the read.
  void order() const {
    if (window_ != MPI_WIN_NULL) MPI_Win_sync(window_);
  }

 private:
  static constexpr MPI_Aint size = MPI_Aint{1} << 24;  // bytes of one rank's part

  /// What each part begins with.
  struct head {
    detail::doorbell bell;
    detail::piece_ring ring;
  };
  head* head_of(int rank) const {
    u32* const part = parts_[static_cast<std::size_t>(rank)];
    return part ? std::launder(reinterpret_cast<head*>(place_of_head(part))) : nullptr;
  }
  /// The first place of a part that is aligned. Parts begin at the same place of a page in all processes.
  static std::byte* place_of_head(u32* part) {
    void* at = part;
    std::size_t room = static_cast<std::size_t>(size);
    return static_cast<std::byte*>(std::align(alignof(head), sizeof(head), at, room));
  }

  void find_parts(MPI_Comm group, MPI_Comm here, int neighbours) {
    MPI_Group of_all, of_here;
    MPI_Comm_group(group, &of_all);
    MPI_Comm_group(here, &of_here);
    for (int k = 0; k < neighbours; ++k) {
      int rank = 0, unit = 0;
      MPI_Aint bytes = 0;
      u32* part = nullptr;
      MPI_Group_translate_ranks(of_here, 1, &k, of_all, &rank);
      MPI_Win_shared_query(window_, k, &bytes, &unit, &part);
      parts_[static_cast<std::size_t>(rank)] = part;
    }
    MPI_Group_free(&of_all);
    MPI_Group_free(&of_here);
  }

  MPI_Win window_ = MPI_WIN_NULL;
  u32* mine_ = nullptr;
  std::vector<u32*> parts_;        ///< the parts by rank; null for ranks of another computer
  std::vector<int> first_beside_;  ///< for each rank, the first rank that has memory in common with it
  std::ptrdiff_t used_ = 0;        ///< the number of bytes in use
  std::vector<u32*> small_, large_;
  std::mutex mutex_;
};

/// The buffers that one fabric has taken from it.
class shared_buffers final : public engines::buffer_source {
 public:
  explicit shared_buffers(shared_memory* from) : from_(from) {}
  shared_buffers(const shared_buffers&) = delete;
  shared_buffers& operator=(const shared_buffers&) = delete;
  ~shared_buffers() {
    for (const auto& [buffer, words] : taken_) from_->give(buffer, words);
  }
  u32* take(int words) override {
    u32* buffer = from_ ? from_->take(words) : nullptr;
    const std::scoped_lock alone(mutex_);
    if (buffer) taken_.push_back({buffer, words});
    return buffer;
  }

 private:
  shared_memory* from_;
  std::vector<std::pair<u32*, int>> taken_;
  std::mutex mutex_;
};

}  // namespace wsl::mpi
