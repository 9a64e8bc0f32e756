# SPDX-License-Identifier: MIT
# Installs one component into a scratch folder and looks whether its files are there.
#   cmake -DBUILD=… -DOUT=… -DCOMPONENT=… -DFILES=NAME,NAME… -P install.cmake
file(REMOVE_RECURSE ${OUT})
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env DESTDIR=${OUT}
    ${CMAKE_COMMAND} --install ${BUILD} --component ${COMPONENT}
  OUTPUT_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "cmake --install: exit status ${status}")
endif()
file(GLOB_RECURSE installed ${OUT}/*)
string(REPLACE "," ";" files "${FILES}")
foreach(file IN LISTS files)
  set(found ${installed})
  list(FILTER found INCLUDE REGEX "/${file}$")
  if(NOT found)
    message(SEND_ERROR "component ${COMPONENT} lacks ${file}: ${installed}")
  endif()
endforeach()
foreach(plugin IN LISTS installed) # the sample names the folder that they are in
  if(plugin MATCHES "^${OUT}(/.*)/gpu_intel\\.so$")
    file(GLOB_RECURSE sample ${OUT}/*/gpu.conf)
    file(STRINGS ${sample} lines REGEX "PluginDir \"${CMAKE_MATCH_1}\"")
    if(NOT lines)
      message(SEND_ERROR "${sample} does not name ${CMAKE_MATCH_1}")
    endif()
  endif()
endforeach()
file(REMOVE_RECURSE ${OUT})
