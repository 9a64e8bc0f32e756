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
include(${CMAKE_CURRENT_LIST_DIR}/compare.cmake)
