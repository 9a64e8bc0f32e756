# SPDX-License-Identifier: MIT
# Packages for Windows: a ZIP, an installer, and what winget wants to know of the ZIP. Texts end
# their lines as the editors of Windows do.

# gtel_windows_text(FROM TO [WHAT BY]...): the text FROM of the sources, in the package as TO, with
# the words WHAT replaced.
function(gtel_windows_text from to)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${from})
  file(READ ${PROJECT_SOURCE_DIR}/${from} text)
  while(ARGN)
    list(POP_FRONT ARGN what by)
    string(FIND "${text}" "${what}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "${from} has no ${what}")
    endif()
    string(REPLACE "${what}" "${by}" text "${text}")
  endwhile()
  file(CONFIGURE OUTPUT ${here}/${to} CONTENT "${text}" @ONLY NEWLINE_STYLE CRLF)
  install(FILES ${here}/${to} DESTINATION . COMPONENT program)
endfunction()
gtel_windows_text(contrib/docs/windows.md README.txt)
gtel_windows_text(LICENSE LICENSE.txt)
set(folder "C:\\Program Files")
gtel_windows_text(plugins/execd/gpu.conf gpu.conf
  "gpu.conf\n# A package has a link there: cp --remove-destination makes it a file of yours.\n"
  "gpu.conf\n"
  "/etc/telegraf/telegraf.d/gpu.conf" "${folder}\\Telegraf\\telegraf.d\\gpu.conf"
  "\"/usr/local/bin/gtel\"" "'${folder}\\gtel\\gtel.exe'"
  "by container and user too" "by user too"
  "--process-tags=container,user" "--process-tags=user")

set(CPACK_PACKAGE_NAME gtel)
set(CPACK_PACKAGE_VENDOR "the gtel authors")
set(CPACK_SYSTEM_NAME windows-x86_64)
set(CPACK_MONOLITHIC_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_COMMANDS "\"${CMAKE_COMMAND}\" --build \"${PROJECT_BINARY_DIR}\"")
set(CPACK_GENERATOR ZIP)

# NSIS.template.in in that folder takes the place of CPack's.
set(CPACK_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/windows)
set(CPACK_NSIS_MODIFY_PATH OFF)

# winget's three texts, beside the ZIP: one of them has its sum.
set(GTEL_RELEASE_URL "https://gtel.invalid/releases" CACHE STRING
  "Where a release can be fetched: the folder of its ZIP")
file(GLOB templates ${CMAKE_CURRENT_SOURCE_DIR}/winget/*.in)
configure_file(winget.cmake.in ${here}/winget.cmake @ONLY)
set(CPACK_POST_BUILD_SCRIPTS ${here}/winget.cmake)
include(CPack)
