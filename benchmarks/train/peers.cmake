# SPDX-License-Identifier: MIT
# Plain loops are at their best: compiled for this computer, free to reorder sums, with OpenMP.
find_package(OpenMP COMPONENTS CXX)
if(OpenMP_CXX_FOUND)
  target_link_libraries(bench_train PRIVATE OpenMP::OpenMP_CXX)
else()
  message(STATUS "train: without OpenMP, the loops run on one thread")
endif()
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/loops.cpp TARGET_DIRECTORY bench_train PROPERTIES COMPILE_OPTIONS "-O3;-march=native;-ffast-math")
