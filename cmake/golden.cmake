# SPDX-License-Identifier: MIT
# cmake -D program=<executable> -D expected=<NN_name.out> -D arguments=<NN_name.args> -D actual=<file> -P golden.cmake
#
# Runs an example, with the words of its .args file if there is one, and compares what it prints with what it
# printed when its .out file was recorded.
set(words "")
if(EXISTS ${arguments})
  file(READ ${arguments} words)
  string(REGEX MATCHALL "[^ \t\r\n]+" words "${words}")
endif()

execute_process(COMMAND ${program} ${words} RESULT_VARIABLE failed OUTPUT_FILE ${actual})
if(failed)
  execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${actual})
  message(FATAL_ERROR "the example failed: ${failed}")
endif()
if(NOT EXISTS ${expected})
  message(FATAL_ERROR "no recorded output: read ${actual}, and if it is right copy it to ${expected}")
endif()

execute_process(COMMAND diff -u --label recorded --label printed ${expected} ${actual} RESULT_VARIABLE differs)
if(differs)
  message(FATAL_ERROR "the example prints something else than ${expected} (- recorded, + printed)")
endif()
