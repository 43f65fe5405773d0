# SPDX-License-Identifier: MIT
# The files by which others find an installed copy: the CMake package and wsl.pc. Neither holds an absolute path,
# so the installed tree may be moved. Each part installs its own targets (see part.cmake).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/wsl)
configure_package_config_file(cmake/wsl-config.cmake.in wsl-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may break; the files do not depend on the machine.
write_basic_package_version_file(wsl-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/wsl-config.cmake ${PROJECT_BINARY_DIR}/wsl-config-version.cmake
  cmake/compiled.cmake cmake/Findlibhdf5.cmake cmake/Findlibhwloc.cmake DESTINATION ${package_dir})

set(pc_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix /prefix/${pc_dir} /prefix)
configure_file(cmake/wsl.pc.in wsl.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/wsl.pc DESTINATION ${pc_dir})
