// SPDX-License-Identifier: MIT
// Memory for arrays of many megabytes, which the operating system may map in large pages: what visits them in
// no order then misses the TLB far less often.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace wsl::support {

/// Bytes of a large page, to which such memory is aligned, and from which on an array is worth it.
inline constexpr std::size_t large_page = std::size_t{1} << 21, large_array = 2 * large_page;

/// Allocates this many bytes, with the alignment of a large page. Throws std::bad_alloc.
inline void* new_in_large_pages(std::size_t bytes) {
  void* const memory = ::operator new(bytes, std::align_val_t{large_page});
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: without large pages the array is only slower
#endif
  return memory;
}
inline void delete_in_large_pages(void* memory) { ::operator delete(memory, std::align_val_t{large_page}); }

/// Memory for an array, in large pages if it is worth it. Throws std::bad_alloc.
inline void* new_array(std::size_t bytes, std::size_t alignment) {
  return bytes >= large_array ? new_in_large_pages(bytes)
                              : ::operator new(bytes, std::align_val_t{alignment});
}
/// Of as many bytes as it was made for.
inline void delete_array(void* memory, std::size_t bytes, std::size_t alignment) {
  if (bytes >= large_array) delete_in_large_pages(memory);
  else ::operator delete(memory, std::align_val_t{alignment});
}

}  // namespace wsl::support
