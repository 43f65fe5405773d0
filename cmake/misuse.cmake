# SPDX-License-Identifier: MIT
# cmake -D compiler=<c++> -D include=<folder> -D headers=<file>
#   [-D correct=<file> -D beside=<folder> | -D source=<file>] -P misuse.cmake
#
# A misuse test compiles as it stands, and with WSL_MISUSE defined it does not: then the compiler says every regular
# expression that follows a "// says: " of the file.
#
# Without either: writes the file `headers` and beside it what it includes, precompiled, for the sources to begin with.
# With `correct`: compiles that file, which includes all misuse tests, from the folder `beside`, as they stand.
# With a source: checks what its misuse says.
set(ENV{LC_ALL} C) # messages in ASCII quotes
set(compile ${compiler} -std=c++20 -DFMT_HEADER_ONLY -I${include})

if(NOT DEFINED correct AND NOT DEFINED source)
  file(WRITE ${headers} "#include <wsl/wsl.hpp>\n")
  execute_process(COMMAND ${compile} -x c++-header ${headers} -o ${headers}.gch COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()
list(APPEND compile -fsyntax-only -include ${headers})

if(DEFINED correct)
  execute_process(COMMAND ${compile} -I${beside} ${correct} COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()

execute_process(COMMAND ${compile} -DWSL_MISUSE ${source} RESULT_VARIABLE failed ERROR_VARIABLE output)
if(NOT failed)
  message(FATAL_ERROR "the misuse compiles")
endif()

file(READ ${source} text)
set(promises 0)
while(text MATCHES "// says: ([^\n]+)(.*)")
  set(promise "${CMAKE_MATCH_1}")
  set(text "${CMAKE_MATCH_2}")
  math(EXPR promises "${promises} + 1")
  if(NOT output MATCHES "${promise}")
    message(NOTICE "${output}")
    message(FATAL_ERROR "the compiler does not say: ${promise}")
  endif()
endwhile()
if(promises EQUAL 0)
  message(FATAL_ERROR "the file promises no message: it has no line '// says: <regular expression>'")
endif()
