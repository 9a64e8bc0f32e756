# SPDX-License-Identifier: MIT
# The tests that only a build for Windows has, run there or under Wine.
if(GTEL_LEVEL_ZERO)
  # A DLL with the loader's name, in variants, each in a folder of its own; and recorded machines.
  set(dlls ${CMAKE_CURRENT_BINARY_DIR}/zes)
  set(machines ${CMAKE_CURRENT_SOURCE_DIR}/fixtures)
  set(GTEL_TEST_ARGS ${dlls} ${machines}/xe-b580-l0.tree ${machines}/i915-pvc-l0.tree
    ${machines}/i915-a770-l0.tree ${machines}/l0-spec.tree ${machines}/l0-clients.tree
    ${machines}/xe-b580-l0m.tree)
  gtel_test(source.level_zero_dll sources/test_level_zero_dll.c)
  unset(GTEL_TEST_ARGS)
  function(gtel_loader_dll variant)
    add_library(zes_${variant} MODULE ${ARGN})
    target_include_directories(zes_${variant} PRIVATE
      ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/common)
    target_link_libraries(zes_${variant} PRIVATE gtel_warnings)
    set_target_properties(zes_${variant} PROPERTIES PREFIX "" SUFFIX .dll OUTPUT_NAME ze_loader
      LIBRARY_OUTPUT_DIRECTORY ${dlls}/${variant})
    add_dependencies(test_source_level_zero_dll zes_${variant})
  endfunction()
  foreach(variant IN ITEMS new old no_gpu empty missing)
    string(TOUPPER ${variant} define)
    gtel_loader_dll(${variant} fakes/libze_loader/fake.c)
    target_compile_definitions(zes_${variant} PRIVATE FAKE_${define})
  endforeach()
endif()

# Wine keeps services up between the tests, in a folder that is removed behind them.
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(prefix "WINEPREFIX=${CMAKE_BINARY_DIR}/wine")
  get_property(tests DIRECTORY PROPERTY TESTS)
  set_tests_properties(${tests} PROPERTIES ENVIRONMENT "${prefix}" FIXTURES_REQUIRED wine)
  foreach(step IN ITEMS start stop)
    add_test(NAME wine.${step} COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} ${step})
    set_tests_properties(wine.${step} PROPERTIES ENVIRONMENT "${prefix}" TIMEOUT 120)
  endforeach()
  set_tests_properties(wine.start PROPERTIES FIXTURES_SETUP wine)
  set_tests_properties(wine.stop PROPERTIES FIXTURES_CLEANUP wine)
endif()
