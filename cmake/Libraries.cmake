# The libraries as users get them: both show the names that begin with qks_, and no others, so that
# nothing inside clashes with a user's own names.
set(qkscope_archive "${CMAKE_BINARY_DIR}/libqkscope.a")
set(joined "${CMAKE_BINARY_DIR}/qkscope.o")
add_custom_command(OUTPUT "${qkscope_archive}" VERBATIM COMMAND_EXPAND_LISTS
                   COMMENT "Joining libqkscope.a"
                   COMMAND "${CMAKE_C_COMPILER}" -r -nostdlib -o "${joined}"
                           $<TARGET_OBJECTS:qkscope_objects>
                   COMMAND "${CMAKE_OBJCOPY}" --wildcard "--keep-global-symbol=qks_*" "${joined}"
                   COMMAND "${CMAKE_COMMAND}" -E rm -f "${qkscope_archive}"
                   COMMAND "${CMAKE_AR}" rcs "${qkscope_archive}" "${joined}"
                   DEPENDS qkscope_objects $<TARGET_OBJECTS:qkscope_objects>)
add_custom_target(qkscope_joined DEPENDS "${qkscope_archive}")
add_library(qkscope_static STATIC IMPORTED)
add_dependencies(qkscope_static qkscope_joined)
set_target_properties(qkscope_static PROPERTIES IMPORTED_LOCATION "${qkscope_archive}")
target_include_directories(qkscope_static INTERFACE include)
target_link_libraries(qkscope_static INTERFACE qkscope_dependencies)

set(map "${CMAKE_CURRENT_SOURCE_DIR}/cmake/qkscope.map")
add_library(qkscope_shared SHARED $<TARGET_OBJECTS:qkscope_objects>)
set_target_properties(qkscope_shared PROPERTIES OUTPUT_NAME qkscope VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C LINK_DEPENDS "${map}"
                      INSTALL_RPATH "$ORIGIN/qkscope;${OPENBLAS_LIBRARY_DIR}")
target_link_options(qkscope_shared PRIVATE "LINKER:--version-script,${map}")
target_link_libraries(qkscope_shared PRIVATE qkscope_dependencies)
