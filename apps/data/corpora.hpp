// SPDX-License-Identifier: MIT
// The commands that prepare corpora of text: deduplicate, normalize, shuffle and statistics.
#pragma once
#include <functional>

namespace CLI {
class App;
}

namespace data_app {

/// Adds the commands to an application. The one that is chosen is put into `chosen`, to be called when the
/// whole command line is read; `chosen` lives at least as long as the application.
void declare_corpora(CLI::App& to, std::function<void()>& chosen);

}  // namespace data_app
