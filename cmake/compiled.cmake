# SPDX-License-Identifier: MIT
# The targets wsl::compiled, wsl::ml_compiled, wsl::ml_data_compiled and wsl::tokenizer_compiled, for those who
# compile often: wsl::wsl, wsl::ml, wsl::ml_data and wsl::tokenizer, of which the engines, the run-time checker and the
# reports, the networks and the trainers, the readers and writers of files, and the work of tokenizers are compiled
# once for all programs that link them, with the flags of the project that uses them. They are optimised in every configuration: their users debug their own
# programs.
#   target_link_libraries(hello PRIVATE wsl::compiled)

# Defines the target wsl_<name>: the part `of` of the library with what `header` compiles once, which a program that
# defines `macro` only declares.
function(wsl_compiled_part name of header macro)
  if(TARGET wsl_${name} OR NOT TARGET ${of})
    return()
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/wsl_${name}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include <${header}>\n")
  add_library(wsl_${name} STATIC EXCLUDE_FROM_ALL ${source})
  add_library(wsl::${name} ALIAS wsl_${name})
  target_link_libraries(wsl_${name} PUBLIC ${of} ${ARGN})
  target_compile_definitions(wsl_${name} PUBLIC ${macro})
  target_compile_options(wsl_${name} PRIVATE $<$<NOT:$<OR:$<CONFIG:Release>,$<CONFIG:RelWithDebInfo>>>:-O2>)
endfunction()
wsl_compiled_part(compiled wsl::wsl wsl/compiled.hpp WSL_COMPILED)
wsl_compiled_part(ml_compiled wsl::ml wsl/ml/compiled.hpp WSL_ML_COMPILED wsl::compiled)
wsl_compiled_part(ml_data_compiled wsl::ml_data wsl/ml/data/compiled.hpp WSL_ML_DATA_COMPILED wsl::ml_compiled)
wsl_compiled_part(tokenizer_compiled wsl::tokenizer wsl/ml/tokenizer/compiled.hpp WSL_TOKENIZER_COMPILED
  wsl::ml_data_compiled)
