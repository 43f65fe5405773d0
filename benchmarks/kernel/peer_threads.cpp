// SPDX-License-Identifier: MIT
#include "peer_threads.hpp"

#include <omp.h>

#include "part.hpp"

namespace bench {

double seconds_on_one_thread(const std::function<void()>& f) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const double took = seconds(f);
  omp_set_num_threads(threads);
  return took;
}

}  // namespace bench
