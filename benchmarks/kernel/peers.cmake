# SPDX-License-Identifier: MIT
# The peers are at their best: compiled for this computer, with OpenMP.
wsl_peers_at_their_best(kernel -march=native wave_loop.cpp heat_loop.cpp lookup_loops.cpp bicgstab_loop.cpp peer_threads.cpp)

# peers/<part>.cpp is a part that needs a library; the program says which of them it was built without.
find_path(fftw_INCLUDE fftw3.h)
find_library(fftw_LIBRARY fftw3f)
find_library(fftw_threads_LIBRARY fftw3f_threads)
if(fftw_INCLUDE AND fftw_LIBRARY AND fftw_threads_LIBRARY)
  target_sources(bench_kernel PRIVATE ${CMAKE_CURRENT_LIST_DIR}/peers/fft.cpp)
  target_include_directories(bench_kernel SYSTEM PRIVATE ${fftw_INCLUDE})
  target_link_libraries(bench_kernel PRIVATE ${fftw_threads_LIBRARY} ${fftw_LIBRARY})
endif()

find_path(openblas_INCLUDE cblas.h)
find_library(openblas_LIBRARY openblas)
if(openblas_INCLUDE AND openblas_LIBRARY)
  target_sources(bench_kernel PRIVATE ${CMAKE_CURRENT_LIST_DIR}/peers/tlr.cpp ${CMAKE_CURRENT_LIST_DIR}/peers/dgemm.cpp)
  target_include_directories(bench_kernel SYSTEM PRIVATE ${openblas_INCLUDE})
  target_link_libraries(bench_kernel PRIVATE ${openblas_LIBRARY})
endif()

find_package(Eigen3 QUIET)
if(TARGET Eigen3::Eigen)
  target_sources(bench_kernel PRIVATE ${CMAKE_CURRENT_LIST_DIR}/peers/sparse.cpp ${CMAKE_CURRENT_LIST_DIR}/peers/eigen_sparse.cpp)
  target_link_libraries(bench_kernel PRIVATE Eigen3::Eigen)
  wsl_peers_at_their_best(kernel "-O3;-march=native" peers/eigen_sparse.cpp)
endif()
