// SPDX-License-Identifier: MIT
// The file of a dump: 32 bytes that say what follows, and the contents, packed by zlib. Programs that include
// this header are linked with zlib (-lz).
//
//   bytes  0 - 7   "WSLDUMP" and a line feed
//          8 - 11  the version of the format, 1
//         12 - 15  the CRC-32 of the contents
//         16 - 23  the number of bytes of the contents
//         24 - 31  the number of bytes that follow: the contents, packed
#pragma once
#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "../support/whole_file.hpp"
#include "contents.hpp"

namespace wsl::debug {

namespace file_format {

inline constexpr std::string_view magic = "WSLDUMP\n";
inline constexpr u32 version = 1;
inline constexpr std::size_t header_bytes = 32;
/// zlib packs no more than so many bytes into one.
inline constexpr u64 best_ratio = 1032;

struct header {
  u32 version = file_format::version, crc = 0;
  u64 bytes = 0, packed = 0;
};
inline u32 crc_of(std::string_view bytes) {
  return static_cast<u32>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Packs the bytes into the file, piece by piece, so that they are not in memory twice.
template <class Write>
void pack(std::string_view bytes, Write write) {
  z_stream z{};
  if (::deflateInit(&z, Z_BEST_SPEED) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_streamp)> ends(&z, &::deflateEnd);
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::string out(piece, '\0');
  for (std::size_t at = 0;;) {
    const std::size_t n = std::min(piece, bytes.size() - at);
    const bool last = at + n == bytes.size();
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + at));
    z.avail_in = static_cast<uInt>(n);
    do {
      z.next_out = reinterpret_cast<Bytef*>(out.data());
      z.avail_out = static_cast<uInt>(piece);
      ::deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
      write(std::string_view(out).substr(0, piece - z.avail_out));
    } while (z.avail_out == 0);
    if (last) return;
    at += n;
  }
}

/// The `bytes` bytes that are packed; throws file_error if there are others.
inline std::string unpacked(std::string_view packed, u64 bytes) {
  z_stream z{};
  if (::inflateInit(&z) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_streamp)> ends(&z, &::inflateEnd);
  std::string all(static_cast<std::size_t>(bytes), '\0');
  constexpr std::size_t most = std::size_t{1} << 30;
  std::size_t in = 0, out = 0;
  char beyond;  // where zlib finds no room, bytes that are too many would go
  for (int result = Z_OK; result != Z_STREAM_END;) {
    const std::size_t n = std::min(most, packed.size() - in), room = std::min(most, all.size() - out);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in));
    z.avail_in = static_cast<uInt>(n);
    z.next_out = reinterpret_cast<Bytef*>(room ? all.data() + out : &beyond);
    z.avail_out = room ? static_cast<uInt>(room) : 1;
    result = ::inflate(&z, Z_NO_FLUSH);
    in += n - z.avail_in;
    if (room == 0 && z.avail_out == 0) throw support::file_error("there is more in it than it says");
    out += room ? room - z.avail_out : 0;
    const bool moved = z.avail_in < n || (room && z.avail_out < room);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if ((result != Z_OK && result != Z_STREAM_END) || (result == Z_OK && !moved))
      throw support::file_error("zlib cannot unpack it: it was changed, or its disk fails; write it again");
  }
  if (out != all.size() || in != packed.size()) throw support::file_error("its size is not what it says");
  return all;
}

}  // namespace file_format

/// Writes a state into a file, which appears when it is complete. Throws support::file_error.
inline void write_dump(machine_state& all, const std::string& file) {
  const std::string bytes = contents_of(all);
  file_format::header head{.crc = file_format::crc_of(bytes), .bytes = bytes.size(), .packed = 0};
  std::string packed;
  file_format::pack(bytes, [&](std::string_view piece) { packed += piece; });
  head.packed = packed.size();
  support::whole_file to(file);
  to.write(file_format::magic.data(), file_format::magic.size());
  to.write(&head, sizeof head);
  static_assert(sizeof head + file_format::magic.size() == file_format::header_bytes);
  to.write(packed);
  to.finish();
}

/// The state in the bytes of a file. Throws support::file_error, whose text does not name the file.
inline machine_state state_of_dump(std::string_view bytes) {
  using namespace file_format;
  if (bytes.starts_with("wsltrace")) throw support::file_error("it is a trace: wsl-view trace shows it");
  if (bytes.starts_with('{'))
    throw support::file_error("it is a layout, which wsl-view layout shows, or a trace for Perfetto");
  if (!bytes.starts_with(magic.substr(0, std::min(magic.size(), bytes.size()))) || bytes.empty())
    throw support::file_error("it is no dump: a dump begins with WSLDUMP; WSL_DUMP=file writes one");
  if (bytes.size() < header_bytes) throw support::file_error("it ends in its first 32 bytes: it is cut off");
  header head;
  std::memcpy(&head, bytes.data() + magic.size(), sizeof head);
  if (head.version != file_format::version)
    throw support::file_error("it has version " + std::to_string(head.version) +
                              " of the format, and this wsl reads version 1: use the wsl that wrote it");
  const std::string_view packed = bytes.substr(header_bytes);
  if (packed.size() != head.packed)
    throw support::file_error("it says that " + std::to_string(head.packed) +
                              " bytes follow its first 32, and " + std::to_string(packed.size()) +
                              " do: it is cut off, or was changed; write it again");
  if (head.bytes / best_ratio > packed.size())
    throw support::file_error("it says that it unpacks to " + std::to_string(head.bytes) +
                              " bytes, which so few bytes cannot: it was changed");
  const std::string contents = unpacked(packed, head.bytes);
  if (crc_of(contents) != head.crc)
    throw support::file_error("its checksum is wrong: it was changed, or its disk fails");
  return state_of_contents(contents);
}

/// Reads a dump. Throws support::file_error with the file's name and a remedy.
inline machine_state read_dump(const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    throw support::file_error("wsl: cannot read " + file + ": " + why);
  };
  struct stat about{};
  if (::stat(file.c_str(), &about) != 0) refuse(std::strerror(errno));
  if (!S_ISREG(about.st_mode)) refuse("it is no regular file");  // opening a pipe would wait for a writer
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(std::fopen(file.c_str(), "rb"), &std::fclose);
  if (!from) refuse(std::strerror(errno));
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  if (std::fread(bytes.data(), 1, bytes.size(), from.get()) != bytes.size())
    refuse("its size changes while it is read");
  try {
    return state_of_dump(bytes);
  } catch (const support::file_error& e) { refuse(e.what()); }
  return {};
}

}  // namespace wsl::debug
