# SPDX-License-Identifier: MIT
# The source is the checkout that this port lies in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release) # headers have no debug form

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DWSL_BUILD_TESTS=OFF -DWSL_BUILD_EXAMPLES=OFF -DWSL_BUILD_APPS=OFF -DWSL_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/wsl)
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
