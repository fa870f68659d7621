# `cmake --install`: the program, the libraries, the headers and how to find them; and the libraries
# from .deps beside them, so that the installed program does not need the source tree.
include(CMakePackageConfigHelpers)
set(own_libraries "${CMAKE_INSTALL_LIBDIR}/qkscope")
file(RELATIVE_PATH from_bin "/${CMAKE_INSTALL_BINDIR}" "/${own_libraries}")

install(FILES "${qkscope_archive}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(TARGET qkscope)
    set_target_properties(qkscope PROPERTIES
                          INSTALL_RPATH "$ORIGIN/${from_bin};${OPENBLAS_LIBRARY_DIR}")
    install(TARGETS qkscope RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(TARGETS qkscope_shared LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")

set(bundled_patterns)
if(QKSCOPE_DUCKDB_BUNDLED)
    list(APPEND bundled_patterns PATTERN "libduckdb.so*")
    install(FILES "${deps}/share/licenses/duckdb/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
            RENAME LICENSE.duckdb)
endif()
if(QKSCOPE_GGML_BUNDLED)
    list(APPEND bundled_patterns PATTERN "libggml*.so*")
    install(FILES "${deps}/share/licenses/ggml/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
            RENAME LICENSE.ggml)
endif()
foreach(package echarts zrender tslib) # inside the report's page
    file(GLOB licence "${deps}/share/licenses/${package}/LICENSE*")
    list(GET licence 0 licence)
    install(FILES "${licence}" DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME LICENSE.${package})
endforeach()
if(bundled_patterns)
    install(DIRECTORY "${deps}/lib/" DESTINATION "${own_libraries}" FILES_MATCHING
            ${bundled_patterns} PATTERN cmake EXCLUDE)
endif()

# --- for those who build programs with the library -----------------------------------------------

set(config_files "${CMAKE_INSTALL_LIBDIR}/cmake/qkscope")
file(RELATIVE_PATH pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
set(pc_modules "jansson libb2 yaml-0.1 oniguruma libutf8proc")
set(pc_libraries "-L\${libdir}/qkscope -Wl,-rpath,\${libdir}/qkscope"
    "-lduckdb -lggml -lggml-cpu -lggml-rpc -lggml-base"
    "${OPENBLAS_LIBRARY} -Wl,-rpath,${OPENBLAS_LIBRARY_DIR}" ${MPI_C_LIBRARIES} "-fopenmp -lm")
list(JOIN pc_libraries " " pc_libraries)

foreach(name qkscope qkscope-static)
    configure_file(cmake/${name}.pc.in "${CMAKE_BINARY_DIR}/${name}.pc" @ONLY)
    install(FILES "${CMAKE_BINARY_DIR}/${name}.pc"
            DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
configure_package_config_file(cmake/qkscope-config.cmake.in
                              "${CMAKE_BINARY_DIR}/qkscope-config.cmake"
                              INSTALL_DESTINATION "${config_files}"
                              PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/qkscope-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/qkscope-config.cmake"
              "${CMAKE_BINARY_DIR}/qkscope-config-version.cmake" DESTINATION "${config_files}")
