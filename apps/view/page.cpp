// SPDX-License-Identifier: MIT
#include "page.hpp"

#include <zlib.h>

#include <stdexcept>
#include <string_view>

#include "dump_summary.hpp"
#include "page_files.hpp"
#include "stored_layout.hpp"
#include "trace_summary.hpp"

namespace view {
namespace {

/// JSON in which nothing ends a script of HTML.
std::string in_html(std::string_view json) {
  std::string text;
  for (const char c : json) {
    if (c == '<') text += "\\u003c";
    else text += c;
  }
  return text;
}

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  constexpr int quick = 4;
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uLong>(bytes.size()), quick) != Z_OK)
    throw std::bad_alloc();
  packed.resize(size);
  return packed;
}

std::string base64(std::string_view bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(bytes.size() / 3 * 4 + 4);
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    unsigned three = 0;
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8 | (k + j < bytes.size() ? static_cast<unsigned char>(bytes[k + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j)
      text += k + j <= bytes.size() ? digits[three >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string data_element(const char* id, const char* type, const std::string& text) {
  return std::string("<script id=\"") + id + "\" type=\"" + type + "\">" + text + "</script>\n";
}

void put(std::string& page, std::string_view mark, const std::string& text) {
  page.replace(page.find(mark), mark.size(), text);
}

std::string page_with(const std::string& data) {
  std::string page = page_html;
  // the last mark first: what is put in may have marks of its own
  put(page, "<!-- script -->", "\"use strict\";\n" + page_scripts);
  put(page, "<!-- data -->", data);
  put(page, "<!-- style -->", page_style);
  return page;
}
std::string layout_element(const std::string& json) {
  return data_element("layout-data", "application/json", in_html(json));
}
/// What a page has besides a layout: JSON, and numbers.
template <class Summary>
std::string elements_of(const std::string& kind, const Summary& s) {
  return data_element((kind + "-meta").c_str(), "application/json", in_html(s.meta())) +
         data_element((kind + "-data").c_str(), "text/plain", base64(deflated(s.bytes())));
}

}  // namespace

std::string page_of(const stored_layout& l) { return page_with(layout_element(l.json())); }
std::string page_of(const trace_summary& trace) {
  return page_with(layout_element(trace.layout().json()) + elements_of("trace", trace));
}
std::string page_of(const dump_summary& dump) {
  return page_with(layout_element(dump.layout_json()) + elements_of("dump", dump));
}

}  // namespace view
