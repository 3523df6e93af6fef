# Installs the dashboard's npm packages, unless they are installed already. All build directories share node_modules, and the
# tests of one may run while another one is built.
# Takes NPM, LOCK (package-lock.json), STAMP (the file whose age tells), STAMPS (all files to touch) and OMIT (options of npm).
if(EXISTS "${STAMP}" AND NOT "${LOCK}" IS_NEWER_THAN "${STAMP}")
  return()
endif()
execute_process(
  COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error ${OMIT}
  COMMAND_ERROR_IS_FATAL ANY)
file(TOUCH ${STAMPS})
