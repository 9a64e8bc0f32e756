# SPDX-License-Identifier: MIT
# Included: the file OUT must be the file GOLDEN, byte for byte.
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${OUT} ${GOLDEN} RESULT_VARIABLE differs
  ERROR_QUIET)
if(differs)
  execute_process(COMMAND diff -u ${GOLDEN} ${OUT} OUTPUT_VARIABLE difference)
  message(FATAL_ERROR "not as in ${GOLDEN}:\n${difference}")
endif()
