// SPDX-License-Identifier: MIT
// The word that a client must know: a file of a manager's state, which only its user can read.
#pragma once
#include <filesystem>
#include <string>

namespace cluster {

/// The token of a file, which is made if it is not there. Throws std::runtime_error if others can read it.
std::string token_of(const std::filesystem::path& file);
/// The same of a file that must be there.
std::string read_token(const std::filesystem::path& file);

/// Whether two words are the same, in a time that does not tell how much of them is.
bool same_word(const std::string& a, const std::string& b);

/// A new word of so many random bytes, in hexadecimal digits.
std::string random_word(std::size_t bytes);

/// Whether an address, HOST:PORT, can be reached from this computer only.
bool is_loopback(const std::string& address);

/// The key of the metadata that holds the token, and what stands before it there.
inline constexpr const char* token_key = "authorization";
inline constexpr const char* token_before = "Bearer ";

}  // namespace cluster
