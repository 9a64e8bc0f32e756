# SPDX-License-Identifier: MIT
# Runs `gtel doctor` on a recorded machine and compares its output and exit status.
#   cmake -DPROGRAM=… -DTREE=… -DGOLDEN=… -DSTATUS=… [-DUPDATE=ON] [-DOUT=…]
#     [-DOPTIONS=…] [-DEMULATOR=…] [-DHAS_LIBRARIES=OFF] -P doctor.cmake
# HAS_LIBRARIES OFF: a build without the libraries of vendors has no lines about them. UPDATE
# writes the golden file instead: look at every line of the difference before committing.
include(${CMAKE_CURRENT_LIST_DIR}/options.cmake)
separate_arguments(EMULATOR)
execute_process(COMMAND ${EMULATOR} ${PROGRAM} doctor --root ${TREE} ${OPTIONS}
  OUTPUT_FILE ${OUT} ERROR_VARIABLE messages RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL STATUS OR messages)
  message(FATAL_ERROR "exit status ${status}, not ${STATUS}\n${messages}")
endif()
if(UPDATE)
  configure_file(${OUT} ${GOLDEN} COPYONLY)
  return()
endif()
if(DEFINED HAS_LIBRARIES AND NOT HAS_LIBRARIES)
  file(READ ${GOLDEN} text)
  string(REGEX REPLACE "\n  library [^\n]*(\n                [^\n]*)*" "" text "${text}")
  set(GOLDEN ${OUT}.golden)
  file(WRITE ${GOLDEN} "${text}")
endif()
include(${CMAKE_CURRENT_LIST_DIR}/compare.cmake)
