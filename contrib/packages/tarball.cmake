# SPDX-License-Identifier: MIT
# Run by cpack: an archive of its has owners and an order that differ from machine to machine, and
# what only Debian wants. Writes it again, with the same bytes each time.
foreach(archive IN LISTS CPACK_PACKAGE_FILES)
  if(NOT archive MATCHES "\\.tar\\.gz$")
    continue()
  endif()
  set(folder ${CPACK_TEMPORARY_DIRECTORY}.again)
  file(REMOVE_RECURSE ${folder})
  file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${folder})
  get_filename_component(name ${archive} NAME)
  execute_process(COMMAND tar -c --sort=name --owner=0 --group=0 --numeric-owner --format=gnu
      --mtime=@$ENV{SOURCE_DATE_EPOCH} --exclude=changelog.Debian.gz ${CPACK_PACKAGE_FILE_NAME}
    COMMAND gzip -9n WORKING_DIRECTORY ${folder} OUTPUT_FILE ${archive}
    COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE ${folder})
endforeach()
