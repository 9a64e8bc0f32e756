# SPDX-License-Identifier: MIT
# Apple silicon from another system, by the compiler and headers of Zig: GTEL_ZIG is a Python that
# has its module ziglang, GTEL_MACOS_ROOT a folder with yajl (need_macos in contrib/ci/setup.sh). On
# a Mac this file is not needed.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GTEL_ZIG GTEL_MACOS_ROOT)
if(NOT GTEL_ZIG OR NOT IS_DIRECTORY "${GTEL_MACOS_ROOT}/lib/pkgconfig")
  message(FATAL_ERROR "Set GTEL_ZIG and GTEL_MACOS_ROOT: see contrib/cmake/macos.cmake")
endif()
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER ${GTEL_ZIG} -m ziglang cc -target aarch64-macos.11.0)
# The archiver of another system would write what the linker does not read.
set(CMAKE_C_ARCHIVE_CREATE "${GTEL_ZIG} -m ziglang ar qc <TARGET> <OBJECTS>")
set(CMAKE_C_ARCHIVE_APPEND "${GTEL_ZIG} -m ziglang ar q <TARGET> <OBJECTS>")
set(CMAKE_C_ARCHIVE_FINISH "${GTEL_ZIG} -m ziglang ranlib <TARGET>")
set(CMAKE_FIND_ROOT_PATH ${GTEL_MACOS_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${GTEL_MACOS_ROOT}/lib/pkgconfig)
