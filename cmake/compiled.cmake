# SPDX-License-Identifier: MIT
# The target wsl::compiled, for those who compile often: wsl::wsl, of which the engines, the run-time checker and the
# reports are compiled once for all programs that link it, with the flags of the project that uses it. It is
# optimised in every configuration: its users debug their own programs.
#   target_link_libraries(hello PRIVATE wsl::compiled)
if(NOT TARGET wsl_compiled)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/wsl_compiled/compiled.cpp CONTENT "#include <wsl/compiled.hpp>\n")
  add_library(wsl_compiled STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/wsl_compiled/compiled.cpp)
  add_library(wsl::compiled ALIAS wsl_compiled)
  target_link_libraries(wsl_compiled PUBLIC wsl::wsl)
  target_compile_definitions(wsl_compiled PUBLIC WSL_COMPILED)
  target_compile_options(wsl_compiled PRIVATE $<$<NOT:$<OR:$<CONFIG:Release>,$<CONFIG:RelWithDebInfo>>>:-O2>)
endif()
