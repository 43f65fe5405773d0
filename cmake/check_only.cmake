# SPDX-License-Identifier: MIT
# With WSL_CHECK_ONLY every source is checked and nothing is translated or linked: all errors and nearly all warnings
# of a compiler, in half the time of a build. Programs and libraries are empty files, which nothing can run.
option(WSL_CHECK_ONLY "Check all sources instead of compiling them (Ninja and Makefiles)" OFF)
if(NOT WSL_CHECK_ONLY)
  return()
endif()

set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/check_only)
set(CMAKE_CXX_LINK_EXECUTABLE "${CMAKE_COMMAND} -E touch <TARGET>")
set(CMAKE_CXX_ARCHIVE_CREATE "${CMAKE_COMMAND} -E touch <TARGET>")
set(CMAKE_CXX_ARCHIVE_APPEND "")
set(CMAKE_CXX_ARCHIVE_FINISH "")
