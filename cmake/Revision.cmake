# qkscope_revision(source...): defines QKS_GIT_REVISION ("v0.1.0-3-g1234567", or "unknown" outside a
# repository) for those sources that name it, so that a commit does not recompile everything.
set(revision unknown)
find_package(Git QUIET)
if(Git_FOUND AND EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/.git")
    execute_process(COMMAND "${GIT_EXECUTABLE}" describe --tags --always --dirty
                    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
                    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(described)
        set(revision "${described}")
    endif()
endif()

function(qkscope_revision)
    foreach(source IN LISTS ARGN)
        file(STRINGS "${source}" mentions REGEX QKS_GIT_REVISION LIMIT_COUNT 1)
        if(mentions)
            set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_DEFINITIONS
                         QKS_GIT_REVISION="${revision}")
        endif()
    endforeach()
endfunction()
