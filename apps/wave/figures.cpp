// SPDX-License-Identifier: MIT
#include "figures.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>
#include <stdexcept>
#include <wsl/support/svg.hpp>
#include <wsl/support/ticks.hpp>

namespace wave_app {
namespace {

using ranges::views::cartesian_product, ranges::views::iota;
using wsl::f32;
using wsl::f64;
using wsl::u32;
using wsl::u8;
using wsl::wave25::cells;
using wsl::wave25::point;
using wsl::wave25::problem;

// ---- pixels -------------------------------------------------------------------------------------

/// The amplitude at which colours are full: 99 % of those above a thousandth of the largest are smaller, so a
/// small wave in a large grid is seen as well.
f32 clip_of(const std::vector<f32>& numbers) {
  f32 largest = 0;
  for (const f32 v : numbers) largest = std::max(largest, std::abs(v));
  std::vector<f32> sizes;
  for (const f32 v : numbers)
    if (std::abs(v) > largest / 1000) sizes.push_back(std::abs(v));
  if (sizes.empty()) return 1;
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() * 99 / 100);
  std::nth_element(sizes.begin(), at, sizes.end());
  return *at;
}

/// Red for positive and blue for negative amplitudes, white at zero; `shade` darkens all of it, 1 for none.
void paint(f32 amplitude, f32 shade, u8* rgb) {
  const f32 rest = 1 - std::min(std::abs(amplitude), 1.f);
  const f32 red = amplitude < 0 ? rest : 1, blue = amplitude > 0 ? rest : 1;
  rgb[0] = static_cast<u8>(255 * shade * red);
  rgb[1] = static_cast<u8>(255 * shade * rest);
  rgb[2] = static_cast<u8>(255 * shade * blue);
}

/// Pixels, row by row from the top: amplitudes as parts of the clip, and how bright the paper is below them.
struct raster {
  int width, height;
  std::vector<f32> amplitudes, shades;
};

std::string png(const raster& r) {
  std::vector<u8> rgb(r.amplitudes.size() * 3);
  for (std::size_t i = 0; i < r.amplitudes.size(); ++i) paint(r.amplitudes[i], r.shades[i], &rgb[3 * i]);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<u32>(r.width), image.height = static_cast<u32>(r.height);
  image.format = PNG_FORMAT_RGB;
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = bytes.size();
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, rgb.data(), 0, nullptr))
    throw std::runtime_error(std::string("libpng: ") + image.message);
  bytes.resize(size);
  return bytes;
}

std::string base64(const std::string& bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) { return k < bytes.size() ? static_cast<u8>(bytes[k]) : u32{0}; };
    const u32 group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (int digit = 0; digit < 4; ++digit) out += digits[group >> (18 - 6 * digit) & 63];
  }
  for (std::size_t i = 0; i < (3 - bytes.size() % 3) % 3; ++i) out[out.size() - 1 - i] = '=';
  return out;
}

// ---- a figure: a picture with axes and a colour bar -----------------------------------------------

/// An axis: its label, and the coordinates of the picture's two ends.
struct axis {
  std::string name;
  f64 from, to;
};

class figure {
 public:
  /// `aspect` is the height of the picture for a width of 1.
  figure(const std::string& title, const axis& across, const axis& down, f64 aspect)
      : across_(across), down_(down) {
    plot_width_ = std::min(largest_plot, static_cast<int>(largest_plot_height / aspect));
    plot_height_ = static_cast<int>(plot_width_ * aspect + 0.5);
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\" font-size=\"14\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
        width, height());
    add("<text x=\"{}\" y=\"28\" font-size=\"17\">{}</text>\n", left, wsl::support::svg::escaped(title));
  }

  f64 x(f64 v) const { return left + (v - across_.from) / (across_.to - across_.from) * plot_width_; }
  f64 y(f64 v) const { return top + (v - down_.from) / (down_.to - down_.from) * plot_height_; }

  void note(const std::string& text) {
    add("<text x=\"{}\" y=\"50\" fill=\"#555555\">{}</text>\n", left, text);
  }
  void picture(const raster& r) {
    add("<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
        "href=\"data:image/png;base64,{}\"/>\n",
        left, top, plot_width_, plot_height_, base64(png(r)));
  }
  void line(const std::string& steps, const char* style) {
    add("<path d=\"{}\" fill=\"none\" {}/>\n", steps, style);
  }
  void text(f64 at_x, f64 at_y, const std::string& words, const char* style) {
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x(at_x), y(at_y), style, words);
  }
  void star(f64 at_x, f64 at_y) {
    std::string points;
    for (int i = 0; i < 10; ++i) {
      const f64 angle = i * std::acos(-1.) / 5, radius = i % 2 ? 4 : 10;
      points += fmt::format("{:.1f},{:.1f} ", x(at_x) + radius * std::sin(angle),
                            y(at_y) - radius * std::cos(angle));
    }
    add("<polygon points=\"{}\" fill=\"#ffd700\" stroke=\"black\"/>\n", points);
  }
  void triangle(f64 at_x, f64 at_y) {
    add("<path d=\"M{:.1f} {:.1f}l5 -9h-10z\" fill=\"#117733\" stroke=\"white\" stroke-width=\"0.5\"/>\n",
        x(at_x), y(at_y));
  }

  /// The frame, the marks of both axes, and the colour bar, whose ends are minus and plus `clip`.
  std::string finished(f32 clip) {
    const int bottom_of_plot = top + plot_height_, middle = left + plot_width_ / 2;
    add("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"black\"/>\n", left, top,
        plot_width_, plot_height_);
    for (const f64 v : wsl::support::ticks(across_.from, across_.to))
      add("<path d=\"M{0:.1f} {1}v6\" stroke=\"black\"/><text x=\"{0:.1f}\" y=\"{2}\" "
          "text-anchor=\"middle\">{3}</text>\n",
          x(v), bottom_of_plot, bottom_of_plot + 21, wsl::support::short_number(v));
    for (const f64 v : wsl::support::ticks(down_.from, down_.to))
      add("<path d=\"M{0} {1:.1f}h-6\" stroke=\"black\"/><text x=\"{2}\" y=\"{3:.1f}\" "
          "text-anchor=\"end\">{4}</text>\n",
          left, y(v), left - 9, y(v) + 5, wsl::support::short_number(v));
    add("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", middle, bottom_of_plot + 44,
        across_.name);
    const int centre = top + plot_height_ / 2;
    add("<text x=\"24\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 24 {0})\">{1}</text>\n",
        centre, down_.name);
    const int bar = left + plot_width_ + 24;
    add("<defs><linearGradient id=\"bar\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\"><stop offset=\"0\" "
        "stop-color=\"#ff0000\"/>"
        "<stop offset=\"0.5\" stop-color=\"#ffffff\"/><stop offset=\"1\" "
        "stop-color=\"#0000ff\"/></linearGradient></defs>\n");
    add("<rect x=\"{}\" y=\"{}\" width=\"18\" height=\"{}\" fill=\"url(#bar)\" stroke=\"black\"/>\n", bar,
        top, plot_height_);
    for (const int end : {-1, 0, 1})
      add("<text x=\"{}\" y=\"{}\">{}{:.2g}</text>\n", bar + 24,
          top + plot_height_ * (1 - end) / 2 +
              (end > 0   ? 10
               : end < 0 ? 0
                         : 5),
          end > 0 ? "+" : "", f64{clip} * end);
    add("<text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\" transform=\"rotate(-90 {0} {1})\">amplitude u, "
        "clipped</text>\n",
        bar + 94, centre);
    return out_ + "</svg>\n";
  }

 private:
  static constexpr int width = 960, left = 84, top = 66, bottom = 60, largest_plot = 720,
                       largest_plot_height = 640;
  int height() const { return top + plot_height_ + bottom; }

  template <class... X>
  void add(fmt::format_string<X...> form, X&&... x) {
    fmt::format_to(std::back_inserter(out_), form, std::forward<X>(x)...);
  }

  axis across_, down_;
  int plot_width_ = 0, plot_height_ = 0;
  std::string out_;
};

// ---- a slice of the grid --------------------------------------------------------------------------

/// The cells of a slice: column i and row j of the picture.
struct plane {
  const problem& p;
  slice where;
  std::vector<f32> velocities;  ///< column after column

  plane(const problem& of, const slice& at) : p(of), where(at) {
    velocities.resize(static_cast<std::size_t>(columns()) * static_cast<std::size_t>(rows()));
    const auto only = [](int i) { return wsl::grid::range{i, i + 1}; };
    f32* next = velocities.data();
    p.each_line({where.axis == 'x' ? only(where.at) : wsl::grid::range{0, p.size.x},
                 where.axis == 'y' ? only(where.at) : wsl::grid::range{0, p.size.y}},
                [&](int, int, const f32* line) {
                  if (where.axis == 'z') *next++ = line[where.at];
                  else next = std::copy_n(line, p.size.z, next);
                });
  }
  /// Where a cell of the slice lies among its numbers.
  std::size_t index(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(rows()) + static_cast<std::size_t>(j);
  }

  int columns() const { return where.axis == 'x' ? p.size.y : p.size.x; }
  int rows() const { return where.axis == 'z' ? p.size.y : p.size.z; }
  f64 velocity(int i, int j) const { return velocities[index(i, j)]; }
  /// The coordinates of a place in the picture, in m, and whether a cell lies in the slice.
  f64 column_of(const point& at) const { return where.axis == 'x' ? at.y : at.x; }
  f64 row_of(const point& at) const { return where.axis == 'z' ? at.y : at.z; }
  bool has(const cells& c) const {
    return where.at == (where.axis == 'x' ? c.x : where.axis == 'y' ? c.y : c.z);
  }
  axis across() const { return axis_of(where.axis == 'x' ? "y in m" : "x in m", columns()); }
  axis down() const { return axis_of(where.axis == 'z' ? "y in m" : "depth z in m", rows()); }

 private:
  /// Cell i has its middle at i times the spacing.
  axis axis_of(const char* name, int n) const { return {name, -0.5 * p.spacing, (n - 0.5) * p.spacing}; }
};

/// The interfaces of the model, where the velocity of neighbouring cells differs by more than 5 %, as
/// outlines; runs of edges are one line.
std::string interfaces(const plane& s, const figure& f) {
  const f64 h = s.p.spacing;
  std::string steps;
  const auto differ = [](f64 a, f64 b) { return std::abs(a - b) > 0.05 * std::min(a, b); };
  const auto run = [&](int n, auto edge, auto point) {
    for (int i = 0; i < n;) {
      int end = i;
      while (end < n && edge(end)) ++end;
      if (end > i) steps += 'M' + point(i) + 'L' + point(end);
      i = std::max(end, i + 1);
    }
  };
  for (int j = 0; j + 1 < s.rows(); ++j)
    run(
        s.columns(), [&](int i) { return differ(s.velocity(i, j), s.velocity(i, j + 1)); },
        [&](int i) { return fmt::format("{:.1f} {:.1f}", f.x((i - 0.5) * h), f.y((j + 0.5) * h)); });
  for (int i = 0; i + 1 < s.columns(); ++i)
    run(
        s.rows(), [&](int j) { return differ(s.velocity(i, j), s.velocity(i + 1, j)); },
        [&](int j) { return fmt::format("{:.1f} {:.1f}", f.x((i + 0.5) * h), f.y((j - 0.5) * h)); });
  return steps;
}

/// The velocity of each layer, at the left below its upper interface.
void label_layers(const plane& s, figure& f) {
  for (int j = 0; j < s.rows(); ++j)
    if (j == 0 || s.velocity(0, j) != s.velocity(0, j - 1))
      f.text(0, (j + 0.5) * s.p.spacing, fmt::format("{:g} m/s", s.velocity(0, j)),
             "dx=\"6\" dy=\"16\" paint-order=\"stroke\" stroke=\"white\" stroke-width=\"3\"");
}

/// The frame in which the absorbing border damps the field.
std::string absorbing_frame(const plane& s, const figure& f) {
  const f64 inset = (s.p.edge_width - 0.5) * s.p.spacing;
  const f64 right = (s.columns() - 1) * s.p.spacing - inset, low = (s.rows() - 1) * s.p.spacing - inset;
  return fmt::format("M{0:.1f} {1:.1f}H{2:.1f}V{3:.1f}H{0:.1f}Z", f.x(inset), f.y(inset), f.x(right),
                     f.y(low));
}

/// Brighter paper for slower cells, so that the model is seen behind the wave.
raster picture_of(const std::vector<f32>& numbers, const plane& s) {
  raster r{s.columns(), s.rows(), {}, {}};
  const f64 slowest = s.p.slowest(), fastest = s.p.fastest();
  for (const auto [j, i] : cartesian_product(iota(0, s.rows()), iota(0, s.columns()))) {
    r.amplitudes.push_back(numbers[s.index(i, j)]);
    const f64 speed = fastest > slowest ? (s.velocity(i, j) - slowest) / (fastest - slowest) : 0;
    r.shades.push_back(static_cast<f32>(1 - 0.14 * speed));
  }
  return r;
}

void divide(std::vector<f32>& numbers, f32 by) {
  for (f32& v : numbers) v /= by;
}

// ---- a seismogram ---------------------------------------------------------------------------------

/// Receivers on a line with equal distances have coordinates in m; others are numbered.
struct spread {
  std::string name = "receiver";
  f64 first = 0, step = 1;
};
spread spread_of(const problem& p) {
  const auto along = [&](f64 point::* coordinate, const char* name) -> spread {
    const auto at = [&](std::size_t i) { return p.receivers[i].position(p.spacing); };
    const f64 step = p.receivers.size() > 1 ? at(1).*coordinate - at(0).*coordinate : 0;
    for (std::size_t i = 0; i < p.receivers.size(); ++i) {
      point expected = at(0);
      expected.*coordinate += static_cast<f64>(i) * step;
      const point here = at(i);
      if (!(step > 0) ||
          std::hypot(here.x - expected.x, here.y - expected.y, here.z - expected.z) > 1e-3 * step)
        return {};
    }
    return {name, at(0).*coordinate, step};
  };
  if (const spread x = along(&point::x, "receiver, x in m"); x.name != "receiver") return x;
  return along(&point::y, "receiver, y in m");
}

/// Half of the median of the traces' largest amplitudes: a receiver beside the source does not make all
/// others pale, and reflections are seen behind the direct wave.
f32 clip_of_traces(const std::vector<std::vector<f32>>& traces) {
  std::vector<f32> peaks;
  for (const auto& trace : traces) {
    const auto [low, high] = std::minmax_element(trace.begin(), trace.end());
    peaks.push_back(std::max(std::abs(*low), std::abs(*high)));
  }
  const auto middle = peaks.begin() + static_cast<std::ptrdiff_t>(peaks.size() / 2);
  std::nth_element(peaks.begin(), middle, peaks.end());
  return *middle > 0 ? *middle / 2 : 1;
}

/// A trace as a line around its receiver's position; the clip reaches most of the way to the next receiver.
std::string wiggle(const std::vector<f32>& trace, f64 at, f64 reach, f64 dt, const figure& f) {
  const std::size_t every = trace.size() / 640 + 1;
  std::string steps;
  for (std::size_t t = 0; t < trace.size(); t += every)
    steps +=
        fmt::format("{}{:.1f} {:.1f}", t ? 'L' : 'M', f.x(at + std::clamp(trace[t], -1.5f, 1.5f) * reach),
                    f.y(static_cast<f64>(t + 1) * dt));
  return steps;
}

}  // namespace

cells nearest_cell(const wsl::wave25::point& at, const problem& p) {
  const auto along = [&](f64 x, int n) {
    return std::clamp(static_cast<int>(std::lround(x / p.spacing)), 0, n - 1);
  };
  return {along(at.x, p.size.x), along(at.y, p.size.y), along(at.z, p.size.z)};
}

std::vector<f32> cells_of_slice(const std::vector<f32>& field, const cells& size, const slice& where) {
  const auto along = [&](char axis, int n) {
    return where.axis == axis ? iota(where.at, where.at + 1) : iota(0, n);
  };
  std::vector<f32> numbers;
  for (const auto [x, y, z] : cartesian_product(along('x', size.x), along('y', size.y), along('z', size.z)))
    numbers.push_back(field[size.index({x, y, z})]);
  return numbers;
}

std::string picture_of_slice(const std::vector<f32>& numbers, const problem& p, const slice& where,
                             f32 clip) {
  const plane s(p, where);
  const raster r = picture_of(numbers, s);
  const f32 full = clip > 0 ? clip : clip_of(r.amplitudes);
  const int side = std::max(1, 480 / std::max(r.width, r.height));
  raster large{r.width * side, r.height * side, {}, {}};
  for (const auto [j, i] : cartesian_product(iota(0, large.height), iota(0, large.width))) {
    const auto from = static_cast<std::size_t>(j / side * r.width + i / side);
    large.amplitudes.push_back(r.amplitudes[from] / full), large.shades.push_back(r.shades[from]);
  }
  return png(large);
}

std::string figure_of_slice(const std::vector<f32>& numbers, const problem& p, const slice& where,
                            const std::string& title) {
  const plane s(p, where);
  raster r = picture_of(numbers, s);
  const f32 clip = clip_of(r.amplitudes);
  divide(r.amplitudes, clip);
  figure f(fmt::format("{}, slice {} = {:g} m", title, where.axis, where.at * p.spacing), s.across(),
           s.down(), f64(s.rows()) / s.columns());
  f.picture(r);
  f.line(interfaces(s, f), "stroke=\"black\" stroke-width=\"1.2\"");
  if (p.velocity.size() > 1 && p.is_layered() && where.axis != 'z') label_layers(s, f);
  if (p.edge != wsl::wave25::border::reflects)
    f.line(absorbing_frame(s, f), "stroke=\"#555555\" stroke-dasharray=\"5 4\"");
  for (const auto& receiver : p.receivers)
    if (const auto at = receiver.position(p.spacing); s.has(nearest_cell(at, p)))
      f.triangle(s.column_of(at), s.row_of(at));
  for (const auto& source : p.sources)
    if (const auto at = source.position(p.spacing); s.has(nearest_cell(at, p)))
      f.star(s.column_of(at), s.row_of(at));
  f.note("star: source; triangles: receivers; lines: interfaces of the model; dashed: absorbing border");
  return f.finished(clip);
}

std::string figure_of_traces(const std::vector<std::vector<f32>>& traces, const problem& p) {
  const std::size_t samples = traces.front().size();
  const int count = static_cast<int>(traces.size());
  const f64 dt = p.time_step();
  std::vector<f32> all;
  for (std::size_t t = 0; t < samples; ++t)
    for (const auto& trace : traces) all.push_back(trace[t]);
  const f32 clip = clip_of_traces(traces);
  divide(all, clip);
  const spread at = spread_of(p);
  figure f(fmt::format("seismogram of {} receiver{}, {} samples every {:.4g} ms", count, count > 1 ? "s" : "",
                       samples, 1e3 * dt),
           {at.name, at.first - 0.5 * at.step, at.first + (count - 0.5) * at.step},
           {"time in s", 0.5 * dt, (static_cast<f64>(samples) + 0.5) * dt}, 0.8);
  std::vector<f32> shades(all.size(), 1.f);
  f.picture({count, static_cast<int>(samples), std::move(all), std::move(shades)});
  for (int i = 0; i < count && count <= 64; ++i) {
    std::vector<f32> trace = traces[static_cast<std::size_t>(i)];
    divide(trace, clip);
    f.line(wiggle(trace, at.first + i * at.step, 0.7 * at.step, dt, f),
           "stroke=\"black\" stroke-width=\"0.7\"");
  }
  f.note("colours and wiggles are clipped at half of the median of the traces' largest amplitudes");
  return f.finished(clip);
}

}  // namespace wave_app
