# The headers lie beside the port, as packaging/build archives them. A port of a registry takes them
# from the release's hairspring-headers archive instead: vcpkg_download_distfile and
# vcpkg_extract_source_archive, with its SHA-512.
set(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/headers")

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME hairspring CONFIG_PATH share/cmake/hairspring)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE-MIT" "${SOURCE_PATH}/LICENSE-APACHE")
