# SPDX-License-Identifier: MIT
# Captures a recorded machine and plays both: what was saved is what is read, also by the doctor.
#   cmake -DPROGRAM=… -DTREE=… -DOUT=… -DCOUNT=… -P capture.cmake
file(REMOVE ${OUT}.tree)
execute_process(COMMAND ${PROGRAM} capture ${OUT}.tree --root ${TREE} --interval 1s --count ${COUNT}
  ERROR_VARIABLE messages RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "capture: exit status ${status}\n${messages}")
endif()

# What its head says: when, of which machine, and how to play it.
file(STRINGS ${OUT}.tree head LIMIT_COUNT 12)
file(STRINGS ${TREE} wall REGEX "^wall ")
if(NOT wall AND NOT head MATCHES "# Captured by gtel [^ ;]+ on 2026-01-01\\.;.*;wall 1767225600;?")
  message(FATAL_ERROR "another time: ${head}")
endif()
if(NOT head MATCHES ";# To play it: gtel --root FILE --stepped --interval 1000ms;")
  message(FATAL_ERROR "another interval: ${head}")
endif()
file(STRINGS ${TREE} cards REGEX "/drm/card[0-9]")
if(cards AND "${head}${messages}" MATCHES ": a GPU: no source")
  message(FATAL_ERROR "there is a GPU: ${head}")
endif()

# play(NAME MACHINE word…): what the program says of a machine, in the file ${OUT}.NAME.
function(play name machine)
  execute_process(COMMAND ${PROGRAM} ${ARGN} --root ${machine}
    OUTPUT_FILE ${OUT}.${name} ERROR_VARIABLE messages RESULT_VARIABLE status TIMEOUT 60)
  if(status GREATER 1) # 1: the doctor found something to fix
    message(FATAL_ERROR "${machine}: exit status ${status}\n${messages}")
  endif()
  file(READ ${OUT}.${name} said)
  string(REGEX REPLACE "uuid=\"[0-9a-f]+\"" "uuid=another" said "${said}") # a capture replaces it
  file(WRITE ${OUT}.${name} "${said}")
endfunction()

function(compare kind)
  play(${kind}.original ${TREE} ${ARGN})
  play(${kind}.captured ${OUT}.tree ${ARGN})
  set(files ${OUT}.${kind}.original ${OUT}.${kind}.captured)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${files} RESULT_VARIABLE differs
    ERROR_QUIET)
  if(differs)
    execute_process(COMMAND diff -u ${files} OUTPUT_VARIABLE difference)
    message(FATAL_ERROR "the captured machine says something else:\n${difference}")
  endif()
endfunction()

compare(lp --isolation none --stepped --interval 1s --count ${COUNT})
# The doctor looks after whole intervals: at times that were captured.
compare(doctor doctor --interval 1s)
