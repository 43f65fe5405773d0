// SPDX-License-Identifier: MIT
// A large array of zeros in memory that the operating system may map in large pages: loops over many
// megabytes then miss the TLB far less often.
#pragma once
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace wsl::support {

class huge_array {
 public:
  huge_array() = default;
  explicit huge_array(std::size_t n) : data_(allocate(n)), size_(n) {}

  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t page = std::size_t{1} << 21;

  static float* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(float), alignment = bytes < page ? 64 : page;
    const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, whole);
    if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    // a hint: without large pages the array is only slower
    if (alignment == page) madvise(memory, whole, MADV_HUGEPAGE);
#endif
    std::memset(memory, 0, whole);
    return static_cast<float*>(memory);
  }

  struct release {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::unique_ptr<float, release> data_;
  std::size_t size_ = 0;
};

}  // namespace wsl::support
