# SPDX-License-Identifier: MIT
# Finds the C library of HDF5, as the target libhdf5::libhdf5, in projects without C as well, where CMake's own module does not work.
if(TARGET libhdf5::libhdf5)
  set(libhdf5_FOUND TRUE)
  return()
endif()
include(FindPackageHandleStandardArgs)
# Installed by a package manager, with targets of its own.
find_package(HDF5 CONFIG QUIET)
foreach(target IN ITEMS HDF5::HDF5 hdf5::hdf5-shared hdf5::hdf5-static hdf5::hdf5)
  if(TARGET ${target} AND NOT TARGET libhdf5::libhdf5)
    add_library(libhdf5::libhdf5 INTERFACE IMPORTED)
    target_link_libraries(libhdf5::libhdf5 INTERFACE ${target})
    set(libhdf5_target ${target})
  endif()
endforeach()
if(TARGET libhdf5::libhdf5)
  find_package_handle_standard_args(libhdf5 REQUIRED_VARS libhdf5_target)
  return()
endif()

# Debian keeps the library without MPI apart.
find_path(libhdf5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(libhdf5_LIBRARY NAMES hdf5_serial hdf5)
mark_as_advanced(libhdf5_INCLUDE_DIR libhdf5_LIBRARY)
find_package_handle_standard_args(libhdf5 REQUIRED_VARS libhdf5_LIBRARY libhdf5_INCLUDE_DIR)
if(libhdf5_FOUND)
  add_library(libhdf5::libhdf5 UNKNOWN IMPORTED)
  set_target_properties(libhdf5::libhdf5 PROPERTIES IMPORTED_LOCATION ${libhdf5_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${libhdf5_INCLUDE_DIR})
endif()
