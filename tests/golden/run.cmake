# SPDX-License-Identifier: MIT
# Runs the program on a recorded machine and compares its output byte for byte.
#   cmake -DPROGRAM=… -DTREE=… -DGOLDEN=… -DOUT=… -DCOUNT=… [-DSAYS=…] [-DOPTIONS=…] [-DWITHOUT=…]
#     [-DEMULATOR=…] [-DUPDATE=ON] -P run.cmake
# SAYS has regular expressions for what the lines of its messages begin with, each line's, in order,
# with | between; without it, there are no messages. WITHOUT is one for what is taken out of the
# output. UPDATE writes the golden file instead: look at every line of the difference.
include(${CMAKE_CURRENT_LIST_DIR}/options.cmake)
separate_arguments(EMULATOR)
execute_process(
  COMMAND ${EMULATOR} ${PROGRAM} --root ${TREE} --isolation none --stepped --interval 1s
    --count ${COUNT} ${OPTIONS}
  OUTPUT_FILE ${OUT} ERROR_VARIABLE messages RESULT_VARIABLE status TIMEOUT 60)
if(SAYS)
  string(REPLACE "|" "[^\n]*\n" says "${SAYS}")
  string(APPEND says "[^\n]*\n")
endif()
if(NOT status EQUAL 0 OR NOT messages MATCHES "^${says}$")
  message(FATAL_ERROR "exit status ${status}\n${messages}")
endif()
if(WITHOUT)
  file(READ ${OUT} text)
  string(REGEX REPLACE "${WITHOUT}" "" text "${text}")
  file(WRITE ${OUT} "${text}")
endif()
if(UPDATE)
  configure_file(${OUT} ${GOLDEN} COPYONLY)
  return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/compare.cmake)
