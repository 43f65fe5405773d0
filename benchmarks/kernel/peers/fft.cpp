// SPDX-License-Identifier: MIT
// fft on 128^3 complex numbers beside FFTW with a measured plan, on as many threads. The lower bound: 5 N
// log2 N = 220 million operations are 0.5 ms of two cores at 240 GFLOP/s; 16 MB are read and written twice,
// at 200 GB/s of the last cache 0.35 ms; each number crosses the fabric once, half of them to another PE.
#include <fftw3.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>
#include <wsl/kernel/fft.hpp>

#include "../part.hpp"

using namespace wsl;

namespace {

constexpr int side = 128, times = 20;
constexpr f64 operations = 5.0 * side * side * side * 21;  // log2 side^3 = 21

int threads() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  return wanted ? std::max(1, std::atoi(wanted))
                : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

struct contest {
  struct plan {
    fftwf_plan made;
    plan(std::vector<fft::number>& from, std::vector<fft::number>& to) {
      if (!fftwf_init_threads()) throw std::runtime_error("FFTW has no threads");
      fftwf_plan_with_nthreads(threads());
      made = fftwf_plan_dft_3d(side, side, side, reinterpret_cast<fftwf_complex*>(from.data()),
                               reinterpret_cast<fftwf_complex*>(to.data()), FFTW_FORWARD, FFTW_MEASURE);
    }
    plan(const plan&) = delete;
    ~plan() { fftwf_destroy_plan(made); }
  };

  std::vector<fft::number> x = std::vector<fft::number>(side * side * side), ours = x, theirs = x;
  fft::transform t{{side, side, side}};
  plan fftw{x, theirs};  // measuring spoils x

  contest() {
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = {static_cast<f32>(i * 7919 % 1000) / 500 - 1, static_cast<f32>(i * 104729 % 1009) / 504.5f - 1};
  }
  /// Both transforms are as far apart as rounding lets them be.
  void check() const {
    f64 difference = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      difference += std::norm(std::complex<f64>(ours[i]) - std::complex<f64>(theirs[i]));
      size += std::norm(std::complex<f64>(theirs[i]));
    }
    const f64 error = std::sqrt(difference / size);
    if (!(error <= 1e-6)) throw std::runtime_error("fft and FFTW differ by " + std::to_string(error));
  }
};

double rate(const std::function<void()>& run) {
  return times * operations / bench::seconds([&] {
           for (int i = 0; i < times; ++i) run();
         }) /
         1e9;
}

const bool entered = bench::enter("fft", [] {
  const auto both = std::make_shared<contest>();
  const fft::decomposition& parts = both->t.distribution();
  return bench::part{std::to_string(side) + "^3 complex numbers, f32; " + std::to_string(parts.wide) + " x " +
                         std::to_string(parts.high) + " PEs, FFTW with a measured plan",
                     "GFLOP/s",
                     {{"wsl", [both] { return rate([&] { both->t.forward(both->ours, both->x); }); }},
                      {"FFTW", [both] { return rate([&] { fftwf_execute(both->fftw.made); }); }}},
                     [both] { both->check(); }};
});

}  // namespace
