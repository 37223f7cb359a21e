# Writes build_info.h anew at every build, so that the manifest names the commit
# that was built and not the one that was configured. Untouched when nothing changed.
# An archive of scripts/release has its commit in commit.txt, wherever it is unpacked.
file(STRINGS ${SOURCE}/sim/cli/commit.txt archived LIMIT_COUNT 1)
if(archived MATCHES "^[0-9a-f]+$")
  string(SUBSTRING ${archived} 0 12 INASIM_COMMIT)
else()
  execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=*
                  WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE INASIM_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET RESULT_VARIABLE failed)
  if(failed OR NOT INASIM_COMMIT)
    set(INASIM_COMMIT "unknown")
  endif()
endif()
configure_file(${SOURCE}/sim/cli/build_info.h.in ${OUT} @ONLY)
