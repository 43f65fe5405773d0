# SPDX-License-Identifier: MIT
# wsl_part(<target> [HEADERS <file>...] [PACKAGES <package>...] [LINKS <target>...])
#
# Declares a part of the library: an interface target `wsl_<name>` with the alias `wsl::<name>` (the target `wsl`
# is the part wsl::wsl) that needs the packages and links the targets. Each part is installed with an export of its
# own and a file wsl-part-<name>.cmake that finds its packages, so `find_package(wsl COMPONENTS <name>)` looks for
# the packages of the parts that were asked for and for no others.
function(wsl_part target)
  cmake_parse_arguments(PARSE_ARGV 1 part "" "" "HEADERS;PACKAGES;LINKS")
  string(REGEX REPLACE "^wsl_" "" name ${target})

  set(text "")
  foreach(package IN LISTS part_PACKAGES)
    separate_arguments(words UNIX_COMMAND "${package}") # a name, and COMPONENTS of which some are meant
    find_package(${words} REQUIRED GLOBAL)
    string(APPEND text "find_dependency(${package})\n")
  endforeach()
  set(parts ${part_LINKS})
  list(FILTER parts INCLUDE REGEX "^wsl_")
  foreach(other IN LISTS parts)
    string(REGEX REPLACE "^wsl_" "" other ${other})
    string(APPEND text "include(\"\${CMAKE_CURRENT_LIST_DIR}/wsl-part-${other}.cmake\")\n")
  endforeach()
  string(APPEND text "include(\"\${CMAKE_CURRENT_LIST_DIR}/wsl-${name}-targets.cmake\")\n")

  add_library(${target} INTERFACE)
  add_library(wsl::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(${target} INTERFACE ${part_LINKS})
  target_sources(${target} INTERFACE FILE_SET HEADERS BASE_DIRS include FILES ${part_HEADERS})

  if(WSL_INSTALL)
    include(GNUInstallDirs)
    set(where ${CMAKE_INSTALL_DATADIR}/cmake/wsl)
    file(WRITE ${PROJECT_BINARY_DIR}/wsl-part-${name}.cmake "${text}")
    install(FILES ${PROJECT_BINARY_DIR}/wsl-part-${name}.cmake DESTINATION ${where})
    install(TARGETS ${target} EXPORT wsl-${name}-targets FILE_SET HEADERS)
    install(EXPORT wsl-${name}-targets NAMESPACE wsl:: DESTINATION ${where})
  endif()
endfunction()
