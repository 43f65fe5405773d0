# SPDX-License-Identifier: MIT
# cmake -D compiler=<c++> -D include=<folder> -D headers=<file>
#   [-D correct=<file> -D beside=<folder> | -D source=<file>] -P misuse.cmake
#
# Without either: writes the file `headers` and beside it what it includes, precompiled, for the sources to begin with.
# With `correct`: compiles that file, which includes all tests of faults, from the folder `beside`, as they stand.
# With a source: checks what the compiler says of its faulty half. A test of a fault compiles as it stands, and with WSL_MISUSE
# defined it does not. What the compiler says then is promised in lines of the file:
#   // says: <regular expression>                   somewhere in the output
#   // says in <n> lines: <regular expression>      in its first n lines
#   // lines: <n>                                   the output has at most so many
#   // options: <option>...                         more options of the compiler for the second half, which then begins
#                                                   without the precompiled library
set(ENV{LC_ALL} C) # messages in ASCII quotes
set(compile ${compiler} -std=c++20 -DFMT_HEADER_ONLY -I${include})

if(NOT DEFINED correct AND NOT DEFINED source)
  file(WRITE ${headers} "#include <wsl/wsl.hpp>\n")
  execute_process(COMMAND ${compile} -x c++-header ${headers} -o ${headers}.gch COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()
list(APPEND compile -fsyntax-only)
set(with_library -include ${headers})

if(DEFINED correct)
  execute_process(COMMAND ${compile} ${with_library} -I${beside} ${correct} COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()

file(READ ${source} text)
if(text MATCHES "// options: ([^\n]+)")
  list(APPEND compile ${CMAKE_MATCH_1})
  set(with_library "")
endif()
execute_process(COMMAND ${compile} ${with_library} -DWSL_MISUSE ${source} RESULT_VARIABLE failed ERROR_VARIABLE output)
if(NOT failed)
  message(FATAL_ERROR "the faulty half compiles")
endif()

if(text MATCHES "// lines: ([0-9]+)")
  set(allowed ${CMAKE_MATCH_1})
  string(REGEX REPLACE "[^\n]" "" ends "${output}")
  string(LENGTH "${ends}" lines)
  if(lines GREATER allowed)
    message(NOTICE "${output}")
    message(FATAL_ERROR "the compiler prints ${lines} lines instead of ${allowed} at most")
  endif()
endif()

set(promises 0)
while(text MATCHES "// says( in ([0-9]+) lines)?: ([^\n]+)(.*)")
  set(promise "${CMAKE_MATCH_3}")
  set(text "${CMAKE_MATCH_4}")
  set(place "${CMAKE_MATCH_1}")
  set(where "${output}")
  if(place)
    string(REPEAT "[^\n]*\n?" ${CMAKE_MATCH_2} first_lines)
    string(REGEX MATCH "^${first_lines}" where "${output}")
  endif()
  math(EXPR promises "${promises} + 1")
  if(NOT where MATCHES "${promise}")
    message(NOTICE "${output}")
    message(FATAL_ERROR "the compiler does not say${place}: ${promise}")
  endif()
endwhile()
if(promises EQUAL 0)
  message(FATAL_ERROR "the file promises no message: it has no line '// says: <regular expression>'")
endif()
