# `cmake --install`: the program, the library, the headers; and the libraries from .deps beside them,
# so that the installed program does not need the source tree.
set(own_libraries "${CMAKE_INSTALL_LIBDIR}/qkscope")
file(RELATIVE_PATH from_bin "/${CMAKE_INSTALL_BINDIR}" "/${own_libraries}")

install(TARGETS qkscope_core ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(TARGET qkscope)
    set_target_properties(qkscope PROPERTIES
                          INSTALL_RPATH "$ORIGIN/${from_bin};${OPENBLAS_LIBRARY_DIR}")
    install(TARGETS qkscope RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
if(TARGET qkscope_shared)
    set_target_properties(qkscope_shared PROPERTIES
                          INSTALL_RPATH "$ORIGIN/qkscope;${OPENBLAS_LIBRARY_DIR}")
    install(TARGETS qkscope_shared LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()

set(bundled_patterns)
if(QKSCOPE_DUCKDB_BUNDLED)
    list(APPEND bundled_patterns PATTERN "libduckdb.so")
    install(FILES "${deps}/share/licenses/duckdb/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
            RENAME LICENSE.duckdb)
endif()
if(QKSCOPE_GGML_BUNDLED)
    list(APPEND bundled_patterns PATTERN "libggml*.so.*")
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
