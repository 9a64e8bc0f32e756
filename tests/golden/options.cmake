# SPDX-License-Identifier: MIT
# Adds to OPTIONS those of options.txt for the golden file GOLDEN; a script for what doctor advises
# has those of doctor.
get_filename_component(name ${GOLDEN} NAME)
string(REGEX REPLACE "[.]fix$" ".doctor" name ${name})
string(REPLACE "." "[.]" name ${name})
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/options.txt words REGEX "^${name} ")
string(REGEX REPLACE "^[^ ]+" "" words "${words}")
string(APPEND OPTIONS "${words}")
separate_arguments(OPTIONS)
