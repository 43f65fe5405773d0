# SPDX-License-Identifier: MIT
# Finds hwloc, as the target libhwloc::libhwloc.
if(TARGET libhwloc::libhwloc)
  set(libhwloc_FOUND TRUE)
  return()
endif()
include(FindPackageHandleStandardArgs)
find_path(libhwloc_INCLUDE_DIR hwloc.h)
find_library(libhwloc_LIBRARY NAMES hwloc)
mark_as_advanced(libhwloc_INCLUDE_DIR libhwloc_LIBRARY)
find_package_handle_standard_args(libhwloc REQUIRED_VARS libhwloc_LIBRARY libhwloc_INCLUDE_DIR)
if(libhwloc_FOUND)
  add_library(libhwloc::libhwloc UNKNOWN IMPORTED)
  set_target_properties(libhwloc::libhwloc PROPERTIES IMPORTED_LOCATION ${libhwloc_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${libhwloc_INCLUDE_DIR})
endif()
