# SPDX-License-Identifier: MIT
# How the tests, examples and applications are compiled quickly.
#
# wsl_computes_long(<target>)
#   What computes long is optimised in every preset; the rest compiles twice as fast without.
#
# wsl_compiled_once(<target> [<compiled part>])
#   The library is headers, so every program compiles it anew: the front end reads some 300 headers, and the back end translates
#   engines, checks and reports, although they are the same in all programs. With WSL_COMPILE_ONCE (Clang and Ninja) the targets named
#   here share this work. A precompiled header takes in all headers of a floor, and Clang translates what they define, inline functions
#   and the templates that these use, into one object (-fpch-codegen), which the targets link. A program then costs what it defines
#   itself, a tenth to a fifth of before. The shared object is optimised, so that the programs need not be, whether they compute long or
#   not. The one difference that a program sees is that more headers are there. What it does not include is missed
#   only where it is compiled by itself (preset dev); and what it defines beside `using namespace wsl` needs names
#   that wsl does not have. Where that is not so ("reference to 'x' is ambiguous"), choose another name, or compile
#   the program by itself.
#   Otherwise the targets link wsl::compiled, as users' programs may, or another compiled part that is named,
#   and in Debug fmt's library, where it is there, in the place of its headers. What many sources of a target include
#   anyway is read once for them: a program sees no more by that than it includes.
#
# wsl_begins_with(<target> <header>...)
#   The same for a program of one source: it begins with the first of these headers that it includes anyway, directly or
#   not, precompiled for all programs with the same options.
option(WSL_COMPILE_ONCE "Compile the library once for all tests, examples and applications (Clang)" OFF)

function(wsl_computes_long target)
  if(NOT WSL_COMPILE_ONCE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O1>)
  endif()
endfunction()

function(wsl_compiled_once target)
  if(WSL_COMPILE_ONCE)
    wsl_highest_floor(floor ${target})
    target_precompile_headers(${target} REUSE_FROM wsl_precompiled_${floor})
    target_link_libraries(${target} PRIVATE wsl_once_${floor})
  else()
    target_link_libraries(${target} PUBLIC wsl::compiled ${ARGN}) # of a library, its users as well
    wsl_formats_by_library(${target})
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    if(count GREATER 2) # one or two are read as quickly
      list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
      wsl_common_headers(alike common ${sources})
      list(REMOVE_ITEM sources ${alike})
      set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
      target_precompile_headers(${target} PRIVATE ${common})
    endif()
  endif()
endfunction()

# Which of the precompiled headers a target takes: by what its sources include.
function(wsl_highest_floor floor target)
  get_target_property(sources ${target} SOURCES)
  set(all "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    if(EXISTS ${source})
      wsl_find_closure(${source})
      get_property(closure GLOBAL PROPERTY wsl_closure_${source})
      list(APPEND all ${closure})
    endif()
  endforeach()
  if(TARGET wsl_once_ml AND all MATCHES "(^|;)wsl/ml[./]")
    set(${floor} ml PARENT_SCOPE)
  elseif(TARGET wsl_once_kernel AND all MATCHES "(^|;)wsl/(linalg|kernel)[./]")
    set(${floor} kernel PARENT_SCOPE)
  else()
    set(${floor} core PARENT_SCOPE)
  endif()
endfunction()

# What is not installed takes fmt's library. The option comes after the definition that wsl::wsl gives.
function(wsl_formats_by_library target)
  if(TARGET fmt::fmt)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-UFMT_HEADER_ONLY>)
    target_link_libraries(${target} PRIVATE $<$<CONFIG:Debug>:fmt::fmt>)
  endif()
endfunction()

function(wsl_begins_with target)
  get_target_property(source ${target} SOURCES)
  cmake_path(ABSOLUTE_PATH source)
  wsl_find_closure(${source})
  get_property(closure GLOBAL PROPERTY wsl_closure_${source})
  foreach(header IN LISTS ARGN)
    if(header IN_LIST closure)
      get_target_property(libraries ${target} LINK_LIBRARIES)
      get_target_property(options ${target} COMPILE_OPTIONS)
      string(MD5 group "${header} ${libraries} ${options}")
      if(NOT TARGET wsl_begin_${group})
        file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/once/empty.cpp CONTENT "")
        add_library(wsl_begin_${group} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/once/empty.cpp)
        target_link_libraries(wsl_begin_${group} PRIVATE ${libraries})
        if(options)
          target_compile_options(wsl_begin_${group} PRIVATE ${options})
        endif()
        target_precompile_headers(wsl_begin_${group} PRIVATE <${header}>)
      endif()
      target_precompile_headers(${target} REUSE_FROM wsl_begin_${group})
      return()
    endif()
  endforeach()
endfunction()

if(NOT WSL_COMPILE_ONCE)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  message(FATAL_ERROR "WSL_COMPILE_ONCE needs Clang, but the compiler is ${CMAKE_CXX_COMPILER_ID}")
endif()

# Clang takes from a precompiled header all specializations of a template when it first needs one of them, so a program
# begins the quicker the less is precompiled. There are three precompiled headers, each with what is below its own floor
# as well: `core` for the language, the engines and the collectives, `kernel`, and `ml`, in which there is no kernel.
#
# wsl_once_set(<name> HEADERS <header>... LINKS <target>...)
set(once ${PROJECT_BINARY_DIR}/once)
file(CONFIGURE OUTPUT ${once}/empty.cpp CONTENT "")
string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" flags_of_type)
separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${${flags_of_type}}")
find_program(GOLD ld.gold)
function(wsl_once_set name)
  cmake_parse_arguments(PARSE_ARGV 1 set "" "" "HEADERS;LINKS")
  # The owner of the precompiled header; CMake wants it to have a source.
  set(owner wsl_precompiled_${name})
  add_library(${owner} OBJECT EXCLUDE_FROM_ALL ${once}/empty.cpp)
  target_link_libraries(${owner} PRIVATE ${set_LINKS} wsl_warnings)
  target_compile_options(${owner} PRIVATE -fpch-codegen)
  target_precompile_headers(${owner} PRIVATE ${set_HEADERS})
  # Its code. No program waits for it before it is linked: a library with this object as its source would be waited for to
  # begin with.
  set(precompiled ${PROJECT_BINARY_DIR}/CMakeFiles/${owner}.dir/cmake_pch.hxx.pch)
  set(code ${once}/${name}.o)
  add_custom_command(OUTPUT ${code}
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} -O1 -ffunction-sections -fdata-sections -c ${precompiled} -o ${code}
    DEPENDS ${precompiled}
    COMMENT "Compiling the library once (${name})"
    VERBATIM)
  add_custom_target(wsl_once_${name}_code DEPENDS ${code})
  add_library(wsl_once_${name} INTERFACE)
  target_link_libraries(wsl_once_${name} INTERFACE ${code} ${set_LINKS})
  target_link_options(wsl_once_${name} INTERFACE -Wl,--gc-sections,--as-needed) # of which a program takes what it uses
  if(GOLD) # takes less than half the time of GNU ld
    target_link_options(wsl_once_${name} INTERFACE -fuse-ld=gold)
  endif()
  set_target_properties(wsl_once_${name} PROPERTIES INTERFACE_LINK_DEPENDS ${code})
endfunction()

# What tests and applications include beside the library takes as long to read as the rest of most of them.
set(beside_headers <chrono> <condition_variable>)
set(beside "")
find_package(Catch2 2 QUIET)
if(WSL_BUILD_TESTS AND Catch2_FOUND)
  list(APPEND beside Catch2::Catch2)
  list(APPEND beside_headers <catch2/catch.hpp>)
endif()
find_package(CLI11 QUIET)
if(WSL_BUILD_APPS AND CLI11_FOUND AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  list(APPEND beside CLI11::CLI11)
  list(APPEND beside_headers <CLI/CLI.hpp>)
endif()

set(core_headers ${headers})
list(FILTER core_headers EXCLUDE REGEX "/wsl/(linalg|kernel)[./]")
set(linalg_headers ${headers})
list(FILTER linalg_headers INCLUDE REGEX "/wsl/linalg[./]")
wsl_once_set(core HEADERS ${core_headers} ${beside_headers} LINKS wsl::wsl ${beside})
# With a sanitizer the code takes minutes: there is that of the tests which run with it, with the thread sanitizer those
# that start threads.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  wsl_once_set(kernel HEADERS ${headers} ${beside_headers} LINKS wsl::wsl ${beside})
endif()
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=" AND TARGET wsl::ml)
  set(headers_with_ml ${core_headers} ${linalg_headers})
  set(parts_with_ml wsl::wsl)
  foreach(part IN ITEMS ml ml_data tokenizer pictures)
    if(TARGET wsl::${part})
      string(REPLACE "ml_data" "data" headers_of_part ${part}_headers)
      list(APPEND headers_with_ml ${${headers_of_part}})
      list(APPEND parts_with_ml wsl::${part})
    endif()
  endforeach()
  wsl_once_set(ml HEADERS ${headers_with_ml} ${beside_headers} LINKS ${parts_with_ml} ${beside})
endif()
