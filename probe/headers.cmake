# The version that the headers state, and where they are installed. To be included by a project that
# includes GNUInstallDirs as well.
set(HAIRSPRING_HEADERS "${CMAKE_CURRENT_LIST_DIR}")
file(STRINGS "${HAIRSPRING_HEADERS}/hairspring.h" VERSION_LINE
  REGEX "^#define HAIRSPRING_VERSION \"")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" HEADER_VERSION "${VERSION_LINE}")

# hairspring.h and the headers that include it; for cross compilers -I.../include/hairspring-chip;
# for the cycle counters of ARM -I.../include/hairspring-arm.
function(hairspring_install_headers)
  file(GLOB HEADERS "${HAIRSPRING_HEADERS}/*.h" "${HAIRSPRING_HEADERS}/*.hpp")
  install(FILES ${HEADERS} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(DIRECTORY "${HAIRSPRING_HEADERS}/lmbench" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  foreach(part chip arm)
    install(DIRECTORY "${HAIRSPRING_HEADERS}/${part}/"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/hairspring-${part}" FILES_MATCHING PATTERN "*.h")
  endforeach()
endfunction()
