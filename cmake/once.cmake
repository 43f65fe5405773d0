# SPDX-License-Identifier: MIT
# How the tests, examples and applications are compiled quickly.
#
# wsl_computes_long(<target>)
#   What computes long is optimised in every preset; the rest compiles twice as fast without.
#
# wsl_compiled_once(<target> [<compiled part>])
#   The library is headers, so every program compiles it anew: the front end reads some 300 headers, and the back end translates
#   engines, checks and reports, although they are the same in all programs. With WSL_COMPILE_ONCE (Clang and Ninja) the targets named
#   here share this work. A precompiled header takes in all headers, and Clang translates what they define, inline functions and the
#   templates that these use, into one object (-fpch-codegen), which the targets link. A program then costs what it defines itself, a
#   fifth of before. The shared object is optimised, so that the programs need not be, whether they compute long or not.
#   The one difference that a program sees is that all headers are there. What it does not include is missed
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
    target_precompile_headers(${target} REUSE_FROM wsl_precompiled)
    target_link_libraries(${target} PRIVATE wsl_once)
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

# The owner of the precompiled header; CMake wants it to have a source.
set(once ${PROJECT_BINARY_DIR}/once)
file(CONFIGURE OUTPUT ${once}/empty.cpp CONTENT "")
add_library(wsl_precompiled OBJECT EXCLUDE_FROM_ALL ${once}/empty.cpp)
target_link_libraries(wsl_precompiled PRIVATE wsl::wsl wsl_warnings)
# With a sanitizer the shared object takes minutes, for which all programs wait: it has what their tests need, with the
# thread sanitizer those that start threads.
set(for_training ON)
set(precompiled_headers ${headers})
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  set(for_training OFF)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
    list(FILTER precompiled_headers EXCLUDE REGEX "/wsl/kernel[./]")
  endif()
endif()
target_precompile_headers(wsl_precompiled PRIVATE ${precompiled_headers})
foreach(part IN ITEMS ml ml_data tokenizer pictures)
  if(for_training AND TARGET wsl::${part})
    target_link_libraries(wsl_precompiled PRIVATE wsl::${part})
    string(REPLACE "ml_data" "data" headers_of_part ${part}_headers)
    target_precompile_headers(wsl_precompiled PRIVATE ${${headers_of_part}})
  endif()
endforeach()
target_compile_options(wsl_precompiled PRIVATE -fpch-codegen)

# Its code. No program waits for it before it is linked: a library with this object as its source would be waited for to begin with.
string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" flags_of_type)
separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${${flags_of_type}}")
set(precompiled ${PROJECT_BINARY_DIR}/CMakeFiles/wsl_precompiled.dir/cmake_pch.hxx.pch)
add_custom_command(OUTPUT ${once}/once.o
  COMMAND ${CMAKE_CXX_COMPILER} ${flags} -O1 -ffunction-sections -fdata-sections -c ${precompiled} -o ${once}/once.o
  DEPENDS ${precompiled}
  COMMENT "Compiling the library once"
  VERBATIM)
add_custom_target(wsl_once_code DEPENDS ${once}/once.o)
add_library(wsl_once INTERFACE)
target_link_libraries(wsl_once INTERFACE ${once}/once.o wsl::wsl $<TARGET_NAME_IF_EXISTS:wsl::ml>
  $<TARGET_NAME_IF_EXISTS:wsl::ml_data> $<TARGET_NAME_IF_EXISTS:wsl::tokenizer> $<TARGET_NAME_IF_EXISTS:wsl::pictures>)
target_link_options(wsl_once INTERFACE -Wl,--gc-sections,--as-needed) # of which a program takes what it uses
# GNU gold takes less than half the time of GNU ld.
find_program(GOLD ld.gold)
if(GOLD)
  target_link_options(wsl_once INTERFACE -fuse-ld=gold)
endif()
set_target_properties(wsl_once PROPERTIES INTERFACE_LINK_DEPENDS ${once}/once.o)
