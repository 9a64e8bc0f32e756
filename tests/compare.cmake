# SPDX-License-Identifier: MIT
# Our declarations of Level Zero beside the specification's headers, of each release that is there:
# unit.zes_compare_REVISION, and the same for zet. They compare when they are compiled.
find_path(GTEL_ZE_HEADER level_zero/zes_api.h
  DOC "Directory of the specification's headers of Level Zero, for a comparison only")
set(GTEL_ZE_HEADERS "" CACHE STRING "More such directories, of other releases")

function(gtel_compare_level_zero folder)
  file(STRINGS ${folder}/level_zero/zes_api.h line REGEX "@version v[0-9.]+-r[0-9.]+" LIMIT_COUNT 1)
  string(REGEX REPLACE ".*-r([0-9.]+).*" "\\1" revision "${line}")
  if(NOT revision)
    message(FATAL_ERROR "${folder}/level_zero/zes_api.h does not say its revision")
  endif()
  if(TEST unit.zes_compare_${revision})
    return() # two releases of the same one
  endif()
  # Nothing else of that directory is seen: it may be that of another C library.
  set(alone ${CMAKE_CURRENT_BINARY_DIR}/level-zero-${revision})
  file(MAKE_DIRECTORY ${alone})
  file(CREATE_LINK ${folder}/level_zero ${alone}/level_zero SYMBOLIC)
  foreach(part IN ITEMS zes zet)
    gtel_test(unit.${part}_compare_${revision} abi/${part}_compare.c)
    string(REPLACE "." "_" target test_unit_${part}_compare_${revision})
    target_include_directories(${target} SYSTEM PRIVATE ${alone})
  endforeach()
endfunction()

if(GTEL_ZE_HEADER)
  gtel_compare_level_zero(${GTEL_ZE_HEADER})
elseif(NOT GTEL_ZE_HEADERS)
  gtel_missing("unit.zes_compare: it needs headers of Level Zero (Debian: libze-dev)")
endif()
foreach(folder IN LISTS GTEL_ZE_HEADERS)
  if(NOT EXISTS ${folder}/level_zero/zes_api.h)
    message(FATAL_ERROR "GTEL_ZE_HEADERS: there is no level_zero/zes_api.h in ${folder}")
  endif()
  gtel_compare_level_zero(${folder})
endforeach()
