# SPDX-License-Identifier: MIT
# Records a library that plays a recorded machine, and plays both: what answered was recorded.
#   cmake -DPROGRAM=… -DRECORD=… -DPROXY=… -DPLAYER=… -DTREE=… -DOUT=… -P proxy.cmake
execute_process(COMMAND ${CMAKE_COMMAND} -E env GTEL_PLAY=${TREE} GTEL_NVML_REAL=${PLAYER}
    GTEL_NVML_RECORD=${OUT}.calls ${RECORD} ${PROXY} 4
  OUTPUT_QUIET ERROR_VARIABLE messages RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL 0 OR messages)
  message(FATAL_ERROR "record: exit status ${status}\n${messages}")
endif()
# The files of the machine, up to its library, and the recorded answers.
file(READ ${TREE} machine)
string(FIND "${machine}" "\nlibrary " end)
string(SUBSTRING "${machine}" 0 ${end} files)
file(READ ${OUT}.calls calls)
file(WRITE ${OUT}.tree "${files}\n${calls}")
foreach(name IN ITEMS original recorded)
  if(name STREQUAL "original")
    set(tree ${TREE})
  else()
    set(tree ${OUT}.tree)
  endif()
  execute_process(COMMAND ${PROGRAM} --root ${tree} --isolation none --stepped --interval 1s
      --count 4
    OUTPUT_FILE ${OUT}.${name} ERROR_VARIABLE messages RESULT_VARIABLE status TIMEOUT 60)
  if(NOT status EQUAL 0 OR messages)
    message(FATAL_ERROR "${tree}: exit status ${status}\n${messages}")
  endif()
endforeach()
# The proxy replaces uuids.
file(READ ${OUT}.original text)
string(REGEX REPLACE "GPU-[0-9a-f-]+" "GPU-00000000-1111-2222-3333-000000000000" text "${text}")
file(WRITE ${OUT}.original "${text}")
execute_process(COMMAND diff -u ${OUT}.original ${OUT}.recorded OUTPUT_VARIABLE difference
  RESULT_VARIABLE differs)
if(differs)
  message(FATAL_ERROR "the recorded machine says something else:\n${difference}")
endif()
