# SPDX-License-Identifier: MIT
# The tests that only a build for Windows has, run there or under Wine.
gtel_test(unit.files_win32 unit/test_files_win32.c)
gtel_test_allocations(unit.files_win32)
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
  foreach(variant IN ITEMS new old no_gpu empty missing windows untouched)
    string(TOUPPER ${variant} define)
    gtel_loader_dll(${variant} fakes/libze_loader/fake.c)
    target_compile_definitions(zes_${variant} PRIVATE FAKE_${define})
  endforeach()
  # Those that play a machine with metrics, whoever loads them; one ends the process when it starts.
  file(READ ${machines}/xe-b580-l0m.tree machine)
  file(GENERATE OUTPUT ${dlls}/metrics.tree CONTENT "${machine}")
  file(GENERATE OUTPUT ${dlls}/metrics_crash.tree CONTENT "call double zeInit = crash\n${machine}")
  set(l0 fakes/libze_loader)
  foreach(variant IN ITEMS metrics metrics_crash)
    gtel_loader_dll(${variant} fakes/player.c ${l0}/played_metrics.c ${l0}/played_more.c
      ${l0}/played_sysman.c)
    target_link_libraries(zes_${variant} PRIVATE gtel_recording)
    target_compile_definitions(zes_${variant} PRIVATE _POSIX_C_SOURCE=200809L
      GTEL_PLAY_FILE="${drive}${dlls}/${variant}.tree")
  endforeach()
endif()

# The program under Wine. NVML is played by a DLL, in variants, each in a folder of its own.
if(CMAKE_CROSSCOMPILING_EMULATOR AND GTEL_NVML AND GTEL_LEVEL_ZERO AND Python3_Interpreter_FOUND)
  set(nvml ${CMAKE_CURRENT_BINARY_DIR}/nvml)
  foreach(variant IN ITEMS new no_driver missing)
    string(TOUPPER ${variant} define)
    add_library(nvml_${variant} MODULE fakes/libnvidia-ml/fake.c)
    target_include_directories(nvml_${variant} PRIVATE ${PROJECT_SOURCE_DIR}/common)
    target_link_libraries(nvml_${variant} PRIVATE gtel_warnings)
    target_compile_definitions(nvml_${variant} PRIVATE FAKE_${define})
    set_target_properties(nvml_${variant} PROPERTIES PREFIX "" SUFFIX .dll OUTPUT_NAME nvml
      LIBRARY_OUTPUT_DIRECTORY ${nvml}/${variant})
  endforeach()
  function(gtel_test_windows case)
    add_test(NAME e2e.windows_${case} COMMAND ${Python3_EXECUTABLE} -B
      ${CMAKE_CURRENT_SOURCE_DIR}/e2e/windows.py --gtel $<TARGET_FILE:gtel_program>
      --played $<TARGET_FILE:gtel_played> --wine ${CMAKE_CROSSCOMPILING_EMULATOR}
      --objdump ${CMAKE_OBJDUMP} --source ${PROJECT_SOURCE_DIR} --nvml ${nvml} --zes ${dlls}
      ${ARGN} ${case})
    set_tests_properties(e2e.windows_${case} PROPERTIES TIMEOUT 600)
  endfunction()
  foreach(case IN ITEMS imports golden explain doctor doctor_golden loop unread inputs console files
      messages faults killed nvml registry level_zero l0metrics capture wmi)
    gtel_test_windows(${case})
  endforeach()
  # The agent, and what Wine lacks for it.
  set(serial e2e.windows_capture e2e.windows_doctor e2e.windows_l0metrics e2e.windows_level_zero
    e2e.windows_nvml e2e.windows_registry e2e.windows_unread e2e.windows_wmi)
  set(GTEL_TELEGRAF_WINDOWS "" CACHE FILEPATH "Telegraf for Windows, for an end-to-end test")
  if(EXISTS "${GTEL_TELEGRAF_WINDOWS}")
    add_library(bcryptprimitives MODULE fakes/bcryptprimitives.c)
    target_include_directories(bcryptprimitives PRIVATE ${PROJECT_SOURCE_DIR}/common)
    target_link_libraries(bcryptprimitives PRIVATE gtel_warnings advapi32)
    set_target_properties(bcryptprimitives PROPERTIES PREFIX "" SUFFIX .dll)
    gtel_test_windows(telegraf --telegraf ${GTEL_TELEGRAF_WINDOWS}
      --crypto $<TARGET_FILE:bcryptprimitives>)
    list(APPEND serial e2e.windows_telegraf)
  else()
    gtel_missing("e2e.windows_telegraf: set GTEL_TELEGRAF_WINDOWS; contrib/check builds one")
  endif()
  # The packages, built once more as users get them.
  find_program(GTEL_NSIS NAMES makensis)
  if(GTEL_NSIS)
    add_test(NAME e2e.windows_package COMMAND ${Python3_EXECUTABLE} -B
      ${CMAKE_CURRENT_SOURCE_DIR}/e2e/windows_package.py --source ${PROJECT_SOURCE_DIR}
      --wine ${CMAKE_CROSSCOMPILING_EMULATOR} --objdump ${CMAKE_OBJDUMP}
      --launcher=${CMAKE_C_COMPILER_LAUNCHER})
    set_tests_properties(e2e.windows_package PROPERTIES TIMEOUT 900 LABELS "slow;e2e")
  else()
    gtel_missing("e2e.windows_package: it needs makensis (Debian: nsis)")
  endif()
  # A DLL in the folder of the system is there for all, and so is a GPU in the registry.
  set_tests_properties(${serial} PROPERTIES RUN_SERIAL ON)
endif()

# A gather beside its bare calls, as the benchmarks of Linux (CMakeLists.txt).
add_executable(bench_windows bench/bench_windows.c harness/alloc_fault.c)
target_include_directories(bench_windows PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(bench_windows PRIVATE _WIN32_WINNT=0x0A00)
target_link_libraries(bench_windows PRIVATE gtel_recording gtel_warnings advapi32)
target_link_options(bench_windows PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
  -Wl,--wrap=gtel_env_real_lib_symbol)
set(bench_limit 1.6)
if(CMAKE_C_FLAGS MATCHES "sanitize")
  set(bench_limit 1.8)
endif()
add_test(NAME bench.windows COMMAND bench_windows ${bench_limit})
set_tests_properties(bench.windows PROPERTIES LABELS bench RUN_SERIAL ON TIMEOUT 120)

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
