# SPDX-License-Identifier: MIT
# Warnings: one interface target. Errors in our presets and CI (GTEL_WERROR), never for users.
add_library(gtel_warnings INTERFACE)
target_compile_options(gtel_warnings INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wwrite-strings -Wvla)
if(MINGW) # its isfinite is a macro with a branch for each type
  target_compile_options(gtel_warnings INTERFACE -Wno-float-conversion)
endif()
if(GTEL_WERROR)
  target_compile_options(gtel_warnings INTERFACE -Werror)
endif()
