// SPDX-License-Identifier: MIT
#include <dnnl.hpp>
#include <map>
#include <tuple>

#include "../contest.hpp"

// Those of the OpenMP that oneDNN was linked with, where it was.
extern "C" {
[[gnu::weak]] void omp_set_num_threads(int);
[[gnu::weak]] int omp_get_num_procs();
}

namespace {

void use_threads(int n) {
  if (omp_set_num_threads) omp_set_num_threads(n);
}
void in_f32(const bench::product& p) {
  dnnl_sgemm('N', 'N', p.m, p.n, p.k, 1, p.a, p.k, p.b, p.n, 0, p.c, p.n);
}

/// The matmul primitive on bf16, made once for each shape.
class bf16_matmul {
 public:
  explicit bf16_matmul(const bench::product& p)
      : a_(memory_of(p.m, p.k, dnnl::memory::data_type::bf16)),
        b_(memory_of(p.k, p.n, dnnl::memory::data_type::bf16)),
        c_(memory_of(p.m, p.n, dnnl::memory::data_type::f32)),
        multiply_(primitive()) {}

  void operator()(const bench::product& p) {
    a_.set_data_handle(const_cast<wsl::bf16*>(p.a_bf16));
    b_.set_data_handle(const_cast<wsl::bf16*>(p.b_bf16));
    c_.set_data_handle(p.c);
    multiply_.execute(stream_, {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}});
    stream_.wait();
  }

 private:
  dnnl::memory memory_of(int rows, int columns, dnnl::memory::data_type type) {
    return {{{rows, columns}, type, dnnl::memory::format_tag::ab}, engine_, DNNL_MEMORY_NONE};
  }
  dnnl::matmul primitive() {
#if DNNL_VERSION_MAJOR >= 3
    return dnnl::matmul::primitive_desc(engine_, a_.get_desc(), b_.get_desc(), c_.get_desc());
#else
    return dnnl::matmul::primitive_desc({a_.get_desc(), b_.get_desc(), c_.get_desc()}, engine_);
#endif
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::memory a_, b_, c_;
  dnnl::matmul multiply_;
};

const bool added[] = {bench::enter(bench::event::whole, "oneDNN",
                                   [](const bench::product& p) {
                                     if (omp_get_num_procs) use_threads(omp_get_num_procs());
                                     in_f32(p);
                                   }),
                      bench::enter(bench::event::formats, "oneDNN f32",
                                   [](const bench::product& p) {
                                     use_threads(1);
                                     in_f32(p);
                                   }),
                      bench::enter(bench::event::formats, "oneDNN bf16", [](const bench::product& p) {
                        use_threads(1);
                        static std::map<std::tuple<int, int, int>, bf16_matmul> of_shape;
                        of_shape.try_emplace({p.m, p.k, p.n}, p).first->second(p);
                      })};

}  // namespace
