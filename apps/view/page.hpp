// SPDX-License-Identifier: MIT
// The page that shows a layout, a trace of a run of it, or a dump: one HTML file that needs nothing else.
#pragma once
#include <string>

namespace view {

class stored_layout;
class trace_summary;
class dump_summary;

/// The text of the page.
std::string page_of(const stored_layout& l);
std::string page_of(const trace_summary& trace);
std::string page_of(const dump_summary& dump);

}  // namespace view
