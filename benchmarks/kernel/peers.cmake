# SPDX-License-Identifier: MIT
# The peers are at their best: compiled for this computer, with OpenMP.
find_package(OpenMP COMPONENTS CXX)
if(OpenMP_CXX_FOUND)
  target_link_libraries(bench_kernel PRIVATE OpenMP::OpenMP_CXX)
else()
  message(STATUS "kernels: without OpenMP, the loops run on one thread")
endif()
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/wave_loop.cpp TARGET_DIRECTORY bench_kernel PROPERTIES COMPILE_OPTIONS -march=native)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/lookup_loops.cpp TARGET_DIRECTORY bench_kernel PROPERTIES COMPILE_OPTIONS -march=native)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/bicgstab_loop.cpp TARGET_DIRECTORY bench_kernel PROPERTIES COMPILE_OPTIONS -march=native)
