# SPDX-License-Identifier: MIT
# Writes a file as a C array: cmake -DFROM=FILE -DTO=FILE.c -DNAME=SYMBOL -P Embed.cmake
file(READ "${FROM}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE "${TO}" "/* Made from the compiled program; see contrib/cmake/Embed.cmake. */
#include <stddef.h>
extern const unsigned char ${NAME}[];
extern const size_t ${NAME}_size;
_Alignas(8) const unsigned char ${NAME}[] = {${bytes}};
const size_t ${NAME}_size = sizeof(${NAME});
")
