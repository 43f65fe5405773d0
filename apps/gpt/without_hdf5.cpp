// SPDX-License-Identifier: MIT
// The trainers as they are built without libhdf5.
#include <stdexcept>

#include "hdf5_input.hpp"

namespace gpt_app {

hdf5_corpus read_hdf5_corpus(const hdf5_corpus_words&) {
  throw std::invalid_argument(
      "the data are HDF5, and this program was built without libhdf5: install it (on Debian libhdf5-dev) and "
      "build "
      "again, or give tokens (.bin) or text");
}

}  // namespace gpt_app
