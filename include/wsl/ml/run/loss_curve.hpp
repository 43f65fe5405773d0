// SPDX-License-Identifier: MIT
// The loss curve of a run: its points, kept as a table (CSV) that a resumed run reads back, and drawn as a
// picture (SVG) for a browser.
//   ml::loss_curve curve;
//   curve.add({.step = 100, .loss = 2.1, .rate = 1e-3});
//   support::write_whole_file("loss.svg", curve.svg("char GPT"));
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/scalar.hpp"
#include "../../support/svg.hpp"
#include "../../support/ticks.hpp"

namespace wsl::ml {

class loss_curve {
 public:
  struct point {
    i64 step = 0;
    f64 loss = 0, rate = 0;  ///< the loss of a training step, and its learning rate
    bool evaluated = false;  ///< true: the loss is that of the held-out data, and there is no rate
    /// the mean loss of the training steps since the point before; NaN if it is not known
    f64 mean = std::numeric_limits<f64>::quiet_NaN();
    friend bool operator==(const point& a, const point& b) {
      return a.step == b.step && a.loss == b.loss && a.rate == b.rate && a.evaluated == b.evaluated &&
             (a.mean == b.mean || (std::isnan(a.mean) && std::isnan(b.mean)));
    }
  };

  void add(const point& p) { points_.push_back(p); }
  const std::vector<point>& points() const { return points_; }
  /// Removes the points after a step, because a run resumes there from a checkpoint.
  void keep_until(i64 step) {
    std::erase_if(points_, [&](const point& p) { return p.step > step; });
  }

  std::string csv() const {
    std::string out = "step,kind,loss,learning_rate,mean_loss\n";
    for (const point& p : points_)
      out += fmt::format("{},{},{},{},{}\n", p.step, p.evaluated ? "eval" : "train", digits(p.loss),
                         p.evaluated ? "" : digits(p.rate), std::isnan(p.mean) ? "" : digits(p.mean));
    return out;
  }
  /// Reads what `csv` wrote, or a table of before without the column mean_loss. Throws std::invalid_argument
  /// that names the first line that has another form.
  static loss_curve from_csv(std::string_view text) {
    loss_curve c;
    int line = 0;
    while (!text.empty()) {
      const std::size_t stop = std::min(text.find('\n'), text.size());
      if (line++ > 0) c.points_.push_back(from_line(text.substr(0, stop), line));
      text.remove_prefix(std::min(stop + 1, text.size()));
    }
    return c;
  }

  /// A picture with steps to the right and the loss upward: the mean training loss as a line, that of the
  /// steps at the points as a pale line behind it, the held-out loss as a line with dots. The legend gives
  /// the last value of each. Without means the loss of the steps is the line.
  std::string svg(const std::string& title) const {
    using namespace support::svg;
    frame f{points_};
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\"" +
                      attribute("viewBox", fmt::format("0 0 {} {}", int{frame::width}, int{frame::height})) +
                      " font-family=\"sans-serif\" font-size=\"13\">\n" +
                      rectangle({0, 0}, {frame::width, frame::height}, 0, painted("#ffffff", "none", 0)) +
                      label({frame::left, 24}, title, attribute("font-weight", "bold"));
    for (const f64 v : support::ticks(f.least, f.most)) {
      const int y = f.y(v);
      out += outline(to('M', {frame::left, y}) + to('L', {frame::width - frame::right, y}),
                     painted("none", "#dddddd", 1));
      out += label({frame::left - 8, y + 4}, support::short_number(v), attribute("text-anchor", "end"));
    }
    for (const f64 v : support::ticks(0, static_cast<f64>(f.last)))
      out += label({f.x(static_cast<i64>(v)), frame::height - frame::bottom + 20}, support::short_number(v),
                   attribute("text-anchor", "middle"));
    out += label({(frame::left + frame::width - frame::right) / 2, frame::height - 6}, "step",
                 attribute("text-anchor", "middle"));
    const support::svg::point middle{18, (frame::top + frame::height - frame::bottom) / 2};
    out += label(middle, "loss",
                 attribute("text-anchor", "middle") +
                     attribute("transform", "rotate(-90 18 " + std::to_string(middle.y) + ")"));
    const std::string training = dark_tint(4).hex();
    const bool means = has(kind::mean);
    out += series(f, kind::step, means ? "#bbbbbb" : training);
    if (means) out += series(f, kind::mean, training);
    out += series(f, kind::evaluation, dark_tint(1).hex());
    out += label(
        {frame::width - frame::right, 24},
        (means ? legend("training loss, mean", kind::mean) + ", " + legend("of one batch (pale)", kind::step)
               : legend("training loss", kind::step)) +
            (has(kind::evaluation) ? ", " + legend("held-out loss (dots)", kind::evaluation) : ""),
        attribute("text-anchor", "end"));
    return out + "</svg>\n";
  }

 private:
  /// The coordinates of a step and a loss in the picture.
  struct frame {
    static constexpr int width = 720, height = 400, left = 60, right = 20, top = 40, bottom = 44;
    i64 last = 1;
    f64 least = 0, most = 1;

    explicit frame(const std::vector<point>& points) {
      bool first = true;
      for (const point& p : points) {
        for (const f64 loss : {p.loss, p.mean}) {
          if (!std::isfinite(loss)) continue;
          last = std::max(last, p.step);
          least = first ? loss : std::min(least, loss), most = first ? loss : std::max(most, loss);
          first = false;
        }
      }
      if (most - least < 1e-9) least -= 0.5, most += 0.5;
    }
    int x(i64 step) const {
      return left + static_cast<int>(std::lround(static_cast<f64>(step) / static_cast<f64>(last) *
                                                 (width - left - right)));
    }
    int y(f64 loss) const {
      return height - bottom -
             static_cast<int>(std::lround((loss - least) / (most - least) * (height - top - bottom)));
    }
  };

  /// The lines of the picture.
  enum class kind { step, mean, evaluation };
  /// The loss of a point in a line; NaN if the line has none there.
  static f64 loss_in(const point& p, kind k) {
    if (p.evaluated != (k == kind::evaluation)) return std::numeric_limits<f64>::quiet_NaN();
    return k == kind::mean ? p.mean : p.loss;
  }
  bool has(kind k) const {
    return std::any_of(points_.begin(), points_.end(),
                       [&](const point& p) { return std::isfinite(loss_in(p, k)); });
  }
  /// The legend of a line: its name, and its last value.
  std::string legend(const char* name, kind k) const {
    const auto last = std::find_if(points_.rbegin(), points_.rend(),
                                   [&](const point& p) { return std::isfinite(loss_in(p, k)); });
    return last == points_.rend() ? name : std::string(name) + " " + support::short_number(loss_in(*last, k));
  }
  std::string series(const frame& f, kind k, const std::string& color) const {
    std::string steps, dots;
    for (const point& p : points_) {
      if (!std::isfinite(loss_in(p, k))) continue;
      const support::svg::point at{f.x(p.step), f.y(loss_in(p, k))};
      steps += support::svg::to(steps.empty() ? 'M' : 'L', at);
      if (k == kind::evaluation) dots += support::svg::circle(at, 4, support::svg::attribute("fill", color));
    }
    return support::svg::outline(steps, support::svg::painted("none", color, 2)) + dots;
  }
  static std::string digits(f64 x) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, x).ptr};
  }
  static point from_line(std::string_view line, int number) {
    std::string_view part[5];
    for (std::size_t i = 0; i < 5; ++i) {
      part[i] = line.substr(0, line.find(','));
      line.remove_prefix(std::min(part[i].size() + 1, line.size()));
    }
    point p{.evaluated = part[1] == "eval"};
    const auto read = [&](std::string_view from, auto& to) {
      return std::from_chars(from.data(), from.data() + from.size(), to).ptr == from.data() + from.size() &&
             !from.empty();
    };
    const bool good = line.empty() && (p.evaluated || part[1] == "train") && read(part[0], p.step) &&
                      read(part[2], p.loss) && (p.evaluated || read(part[3], p.rate)) &&
                      (part[4].empty() || (!p.evaluated && read(part[4], p.mean)));
    if (!good)
      throw std::invalid_argument(fmt::format(
          "wsl: line {} of the loss curve is not step,kind,loss,learning_rate,mean_loss", number));
    return p;
  }

  std::vector<point> points_;
};

}  // namespace wsl::ml
