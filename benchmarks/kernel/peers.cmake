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

# peers/<part>.cpp is a part that needs a library.
find_path(fftw_INCLUDE fftw3.h)
find_library(fftw_LIBRARY fftw3f)
find_library(fftw_threads_LIBRARY fftw3f_threads)
if(fftw_INCLUDE AND fftw_LIBRARY AND fftw_threads_LIBRARY)
  target_sources(bench_kernel PRIVATE ${CMAKE_CURRENT_LIST_DIR}/peers/fft.cpp)
  target_include_directories(bench_kernel SYSTEM PRIVATE ${fftw_INCLUDE})
  target_link_libraries(bench_kernel PRIVATE ${fftw_threads_LIBRARY} ${fftw_LIBRARY})
else()
  message(STATUS "kernels: without FFTW, no fft")
endif()
