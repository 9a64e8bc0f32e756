# SPDX-License-Identifier: MIT
# Compares what one failing call costs on a recorded machine with a golden file.
#   cmake -DPROGRAM=… -DNAME=… -DSTRIDE=… -DOPTIONS=… -DGOLDEN=… -DOUT=… [-DUPDATE=ON]
#     -P costs.cmake
# UPDATE writes the golden file instead, unless a value was wrong: look at every line of the
# difference before committing.
execute_process(COMMAND ${PROGRAM} ${OUT} ${STRIDE} ${NAME} ${OPTIONS}
  OUTPUT_VARIABLE messages ERROR_VARIABLE messages RESULT_VARIABLE status TIMEOUT 110)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "exit status ${status}\n${messages}")
endif()
if(UPDATE)
  configure_file(${OUT} ${GOLDEN} COPYONLY)
  return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${OUT} ${GOLDEN} RESULT_VARIABLE differs
  ERROR_QUIET)
if(differs)
  execute_process(COMMAND diff -u ${GOLDEN} ${OUT} OUTPUT_VARIABLE difference)
  message(FATAL_ERROR "not as in ${GOLDEN}:\n${difference}")
endif()
