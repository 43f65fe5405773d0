# SPDX-License-Identifier: MIT
# The warnings of the tests, examples and benchmarks. They are errors here and are never exported: what a user of
# the library is warned about is the user's choice.
add_library(wsl_warnings INTERFACE)
target_compile_options(wsl_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  # Not where users build the trainers: GCC's optimiser warns of overflows that are not there, depending on
  # what it inlines.
  $<$<NOT:$<CONFIG:Release>>:-Werror>
  # GCC 12 finds overlaps and overflows in std::string's operator+ that are not there (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-stringop-overflow>)
