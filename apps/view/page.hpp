// SPDX-License-Identifier: MIT
// The page that shows a layout, and a trace of a run of it: one HTML file that needs nothing else.
#pragma once
#include <string>

namespace view {

class stored_layout;
class trace_summary;

/// The text of the page; without a trace if that is null.
std::string page_of(const stored_layout& l, const trace_summary* trace);

}  // namespace view
