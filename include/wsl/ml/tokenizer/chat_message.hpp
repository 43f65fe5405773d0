// SPDX-License-Identifier: MIT
// A message of a chat: whose it is, and its text.
#pragma once
#include <string>

namespace wsl::ml {

struct chat_message {
  std::string role, content;  ///< roles are system (which only the first may have), user and assistant
};

}  // namespace wsl::ml
