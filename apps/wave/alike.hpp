// SPDX-License-Identifier: MIT
// What all processes do alike, such as reading options and files, and what may fail on one of them alone: a
// file that its computer has not, or may not read, or less memory.
#pragma once
#include <functional>

namespace wave_app {

/// Does a part that is not collective. If it throws on one process, all throw std::invalid_argument with its
/// sentence, which names the process and its computer unless the part has failed on all. With `are_several`
/// collective; otherwise this process is alone.
void do_alike(bool are_several, const std::function<void()>& part);

}  // namespace wave_app
