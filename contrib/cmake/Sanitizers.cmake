# SPDX-License-Identifier: MIT
# GTEL_SANITIZE: a list for -fsanitize, as "address,undefined" or "thread".
add_library(gtel_sanitizers INTERFACE)
if(GTEL_SANITIZE)
  target_compile_options(gtel_sanitizers INTERFACE
    -fsanitize=${GTEL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(gtel_sanitizers INTERFACE -fsanitize=${GTEL_SANITIZE})
endif()
