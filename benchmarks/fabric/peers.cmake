# SPDX-License-Identifier: MIT
# What the relay is compared with, where it is installed; scripts/setup.sh benchmarks installs it.
find_package(TBB QUIET)
if(TARGET TBB::tbb)
  target_sources(bench_fabric PRIVATE ${CMAKE_CURRENT_LIST_DIR}/peers/tbb.cpp)
  target_link_libraries(bench_fabric PRIVATE TBB::tbb)
else()
  message(STATUS "wavelets: without oneTBB")
endif()

find_path(CAF_INCLUDE caf/all.hpp)
find_library(CAF_CORE caf_core)
if(CAF_INCLUDE AND CAF_CORE)
  target_sources(bench_fabric PRIVATE ${CMAKE_CURRENT_LIST_DIR}/peers/caf.cpp)
  target_include_directories(bench_fabric SYSTEM PRIVATE ${CAF_INCLUDE})
  target_link_libraries(bench_fabric PRIVATE ${CAF_CORE})
else()
  message(STATUS "wavelets: without CAF")
endif()
