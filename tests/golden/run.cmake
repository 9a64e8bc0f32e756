# SPDX-License-Identifier: MIT
# Runs the program on a recorded machine and compares its output byte for byte.
#   cmake -DPROGRAM=… -DTREE=… -DGOLDEN=… -DOUT=… -DCOUNT=… [-DSAYS=…] [-DOPTIONS=…] [-DWITHOUT=…]
#     [-DEMULATOR=…] [-DUPDATE=ON] -P run.cmake
# SAYS is a regular expression for what the program says beside its output; without it, that is
# nothing. WITHOUT is one for what is taken out of the output. UPDATE writes the golden file
# instead: look at every line of the difference.
include(${CMAKE_CURRENT_LIST_DIR}/options.cmake)
separate_arguments(EMULATOR)
execute_process(
  COMMAND ${EMULATOR} ${PROGRAM} --root ${TREE} --isolation none --stepped --interval 1s
    --count ${COUNT} ${OPTIONS}
  OUTPUT_FILE ${OUT} ERROR_VARIABLE messages RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL 0 OR (messages AND NOT SAYS) OR (SAYS AND NOT messages MATCHES "${SAYS}"))
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
