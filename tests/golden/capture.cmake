# SPDX-License-Identifier: MIT
# Captures a recorded machine and plays both: what was saved is what is read.
#   cmake -DPROGRAM=… -DTREE=… -DOUT=… -P capture.cmake
execute_process(COMMAND ${PROGRAM} capture ${OUT}.tree --root ${TREE} --interval 1s --count 3
  ERROR_VARIABLE messages RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "capture: exit status ${status}\n${messages}")
endif()
foreach(machine IN ITEMS ${TREE} ${OUT}.tree)
  execute_process(
    COMMAND ${PROGRAM} --root ${machine} --isolation none --stepped --interval 1s --count 3
    OUTPUT_VARIABLE lines ERROR_VARIABLE messages RESULT_VARIABLE status TIMEOUT 60)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${machine}: exit status ${status}\n${messages}")
  endif()
  string(MD5 name ${machine})
  file(WRITE ${OUT}.${name}.lp "${lines}")
  list(APPEND files ${OUT}.${name}.lp)
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${files} RESULT_VARIABLE differs
  ERROR_QUIET)
if(differs)
  execute_process(COMMAND diff -u ${files} OUTPUT_VARIABLE difference)
  message(FATAL_ERROR "the captured machine says something else:\n${difference}")
endif()
