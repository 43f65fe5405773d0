// SPDX-License-Identifier: MIT
#include "token.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "../files.hpp"

namespace cluster {

std::string random_word(std::size_t bytes) {
  std::string word;
  for (std::size_t k = 0; k < bytes; ++k) {
    unsigned char byte = 0;
    if (::getrandom(&byte, 1, 0) != 1) throw std::runtime_error("this computer gives no random numbers");
    constexpr const char* digits = "0123456789abcdef";
    word += digits[byte >> 4], word += digits[byte & 15];
  }
  return word;
}

std::string read_token(const std::filesystem::path& file) {
  struct stat about;
  if (::stat(file.c_str(), &about) != 0)
    throw std::runtime_error("there is no token " + file.string() + ": " + std::strerror(errno) +
                             "; --token names a copy of the file `token` in the manager's --state");
  if ((about.st_mode & 077) != 0)
    throw std::runtime_error(file.string() + " can be read by others: chmod 600 " + file.string());
  std::string word = app::read_file(file);
  while (!word.empty() && (word.back() == '\n' || word.back() == '\r' || word.back() == ' ')) word.pop_back();
  if (std::any_of(word.begin(), word.end(), [](unsigned char c) { return !std::isgraph(c); }))
    throw std::runtime_error(file.string() +
                             " holds no token: that is one word of 32 letters or more, in one line");
  if (word.size() < 32)
    throw std::runtime_error(file.string() + " holds no token: it has " + std::to_string(word.size()) +
                             " letters, not 32 or more");
  return word;
}

std::string token_of(const std::filesystem::path& file) {
  if (std::filesystem::exists(file)) return read_token(file);
  const std::string word = random_word(32), made = file.string() + ".unfinished";
  ::unlink(made.c_str());
  const int out = ::open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const std::string line = word + "\n";
  const bool written = out >= 0 &&
                       ::write(out, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
                       ::fsync(out) == 0;
  if (out >= 0) ::close(out);
  if (!written || ::rename(made.c_str(), file.c_str()) != 0)
    throw std::runtime_error("cannot write " + file.string() + ": " + std::strerror(errno));
  return word;
}

bool same_word(const std::string& a, const std::string& b) {
  unsigned differs = a.size() != b.size();
  for (std::size_t k = 0; k < a.size() && k < b.size(); ++k)
    differs |= static_cast<unsigned>(static_cast<unsigned char>(a[k]) ^ static_cast<unsigned char>(b[k]));
  return differs == 0;
}

bool is_loopback(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  in_addr number;
  const bool is_number = ::inet_pton(AF_INET, host.c_str(), &number) == 1;
  return host == "localhost" || host == "[::1]" || (is_number && host.starts_with("127."));
}

}  // namespace cluster
