// SPDX-License-Identifier: MIT
// wsl-view: shows a layout, a traced run, or the dump of one as a page for the browser (`wsl-view layout`,
// `wsl-view trace`, `wsl-view dump`), and writes a layout as a skeleton in CSL (`wsl-view csl`).
#include <cstdio>
#include <functional>
#include <wsl/layout/draw/census.hpp>
#include <wsl/layout/draw/csl.hpp>

#include "../command_line.hpp"
#include "../files.hpp"
#include "dump_summary.hpp"
#include "page.hpp"
#include "stored_layout.hpp"
#include "trace_summary.hpp"

namespace view {
namespace {

std::string layout_text(const std::string& file) {
  if (!std::filesystem::is_regular_file(file))
    throw std::invalid_argument(file + " is no file; a program writes one with save_layout(l, \"" + file +
                                "\")");
  if (std::filesystem::file_size(file) > stored_layout::most_bytes)
    throw std::invalid_argument(file + " is larger than 32 MiB, as no layout file is");
  std::string text = app::read_file(file);
  if (text.starts_with("WSLDUMP"))
    throw std::invalid_argument(file + " is a dump: wsl-view dump and wsl-debug show it");
  if (text.starts_with("wsltrace"))
    throw std::invalid_argument(file + " is a trace: wsl-view trace shows it");
  return text;
}

/// The page must not replace what it shows.
void require_other(const std::string& out, const std::string& shown) {
  std::error_code none;
  if (std::filesystem::equivalent(out, shown, none))
    throw std::invalid_argument("--out names " + out + ", which is what is shown: name another file");
}

void write_page(const std::string& file, const std::string& page) {
  app::write_file(file, page);
  std::printf("%s: %.2f MB; open it in a browser\n", file.c_str(), static_cast<double>(page.size()) / 1e6);
}

std::function<int()> declare_layout(CLI::App& app) {
  struct options {
    std::string file, out;
  };
  const auto o = std::make_shared<options>();
  app.add_option("FILE", o->file, "a layout file")->required();
  app.add_option("-o,--out", o->out, "the page")->required();
  return [o] {
    require_other(o->out, o->file);
    const stored_layout l(layout_text(o->file), o->file);
    write_page(o->out, page_of(l));
    return 0;
  };
}

std::function<int()> declare_trace(CLI::App& app) {
  struct options {
    std::string file, out, cycles;
    long long details = static_cast<long long>(trace_options{}.most_details);
  };
  const auto o = std::make_shared<options>();
  app.add_option("FILE", o->file, "a trace of the timed engine, a file .wtrace")->required();
  app.add_option("-o,--out", o->out, "the page")->required();
  app.add_option("--cycles", o->cycles, "only these cycles, as FROM:TO");
  app.add_option("--details", o->details,
                 "single tasks, stalls and wavelets are in the page if they are at most so many; 0 for none")
      ->check(CLI::NonNegativeNumber);
  return [o] {
    require_other(o->out, o->file);
    trace_options how;
    how.most_details = static_cast<std::size_t>(o->details);
    if (!o->cycles.empty()) how.only(o->cycles);
    const trace_summary s(o->file, how);
    write_page(o->out, page_of(s));
    std::printf("%s\n", s.sentence().c_str());
    return 0;
  };
}

std::function<int()> declare_dump(CLI::App& app) {
  struct options {
    std::string file, out;
  };
  const auto o = std::make_shared<options>();
  app.add_option("FILE", o->file, "a dump, which a program writes with WSL_DUMP=FILE")->required();
  app.add_option("-o,--out", o->out, "the page")->required();
  return [o] {
    require_other(o->out, o->file);
    const dump_summary s(o->file);
    write_page(o->out, page_of(s));
    std::printf("%s\n", s.sentence().c_str());
    return 0;
  };
}

std::function<int()> declare_csl(CLI::App& app) {
  struct options {
    std::string file, out;
  };
  const auto o = std::make_shared<options>();
  app.add_option("FILE", o->file, "a layout file")->required();
  app.add_option("-o,--out", o->out, "a new folder for layout.csl and the programs")->required();
  return [o] {
    const stored_layout l(layout_text(o->file), o->file);
    const std::vector<wsl::csl_file> files = wsl::csl_skeleton(l.plan());
    app::require_free(o->out, "--out");
    app::make_folder(o->out);
    for (const wsl::csl_file& f : files) app::write_file(std::filesystem::path(o->out) / f.name, f.text);
    std::printf("%s: layout.csl and %s\n", o->out.c_str(),
                wsl::support::counted(files.size() - 1, "program").c_str());
    return 0;
  };
}

int run(int argc, char** argv) {
  CLI::App app("Shows layouts, traces and dumps in the browser", "wsl-view");
  app.require_subcommand(0, 1)->allow_extras();
  std::function<int()> chosen;
  const auto command = [&](const char* name, const char* what, auto declare) {
    CLI::App* one = app.add_subcommand(name, what)->allow_extras();
    one->callback([&chosen, run = declare(*one)] { chosen = run; });
  };
  command("layout", "a page of a layout: its programs, routes and memory", declare_layout);
  command("trace", "a page of a run: what PEs and links did, and who waits for whom", declare_trace);
  command("dump", "a page of a dump: which PEs wait and for whom, what they hold", declare_dump);
  command("csl", "a layout as a skeleton in CSL", declare_csl);
  int status = 0;
  if (!app::parse(app, argc, argv, "command", status)) return status;
  if (!chosen)
    throw std::invalid_argument(
        "what is there to show? wsl-view layout FILE -o page.html, for instance; see --help");
  return chosen();
}

}  // namespace
}  // namespace view

int main(int argc, char** argv) {
  return app::run("wsl-view", [&] { return view::run(argc, argv); });
}
