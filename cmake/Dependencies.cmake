# Finds every library and gathers them in the target qkscope_dependencies. A library installed on
# the system comes before the one that scripts/setup has put into QKSCOPE_DEPS.
# The linker keeps only what the code uses (--as-needed, see Flags.cmake).
add_library(qkscope_dependencies INTERFACE)
set(deps "${QKSCOPE_DEPS}")
cmake_path(ABSOLUTE_PATH deps)

function(qkscope_uses name version)
    target_link_libraries(qkscope_dependencies INTERFACE ${ARGN})
    message(STATUS "${name}: ${version}")
endfunction()

# --- with a pkg-config file ---------------------------------------------------------------------

find_package(PkgConfig REQUIRED)
foreach(module jansson libb2 yaml-0.1 libcyaml oniguruma libutf8proc lapacke)
    pkg_check_modules(${module} REQUIRED QUIET IMPORTED_TARGET ${module})
    if(NOT module STREQUAL lapacke) # after OpenBLAS, whose LAPACK it shall call
        qkscope_uses(${module} ${${module}_VERSION} PkgConfig::${module})
    endif()
endforeach()

# --- threads, BLAS, LAPACK ----------------------------------------------------------------------

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
qkscope_uses(OpenMP "${OpenMP_C_VERSION}" OpenMP::OpenMP_C Threads::Threads m)

include(cmake/OpenBLAS.cmake)
add_library(openblas SHARED IMPORTED)
set_target_properties(openblas PROPERTIES IMPORTED_LOCATION "${OPENBLAS_LIBRARY}"
                      INTERFACE_INCLUDE_DIRECTORIES "${OPENBLAS_INCLUDE_DIR}")
qkscope_uses(OpenBLAS "${OPENBLAS_LIBRARY}" openblas PkgConfig::lapacke)

# --- DuckDB -------------------------------------------------------------------------------------

find_path(duckdb_include duckdb.h NO_CACHE)
find_library(duckdb_library duckdb NO_CACHE)
set(QKSCOPE_DUCKDB_BUNDLED OFF)
if(NOT duckdb_include OR NOT duckdb_library)
    set(QKSCOPE_DUCKDB_BUNDLED ON)
    set(duckdb_include "${deps}/include")
    set(duckdb_library "${deps}/lib/libduckdb.so")
endif()
if(NOT EXISTS "${duckdb_include}/duckdb.h" OR NOT EXISTS "${duckdb_library}")
    message(FATAL_ERROR "DuckDB is missing; run scripts/setup")
endif()
add_library(duckdb SHARED IMPORTED)
set_target_properties(duckdb PROPERTIES IMPORTED_LOCATION "${duckdb_library}"
                      INTERFACE_INCLUDE_DIRECTORIES "${duckdb_include}")
qkscope_uses(DuckDB "${duckdb_library}" duckdb)

# --- ggml ---------------------------------------------------------------------------------------

set(ggml_DIR ggml_DIR-NOTFOUND) # look again at every configuration: .deps may have come or gone
find_package(ggml 0.25 QUIET CONFIG)
set(QKSCOPE_GGML_BUNDLED OFF)
if(NOT ggml_FOUND)
    set(QKSCOPE_GGML_BUNDLED ON)
    find_package(ggml 0.25 QUIET CONFIG PATHS "${deps}" NO_DEFAULT_PATH)
endif()
if(NOT ggml_FOUND)
    message(FATAL_ERROR "ggml 0.25 or newer is missing; run scripts/setup")
endif()
qkscope_uses(ggml "${ggml_VERSION} (${GGML_AVAILABLE_BACKENDS})" ggml::ggml)

# --- MPI, optional ------------------------------------------------------------------------------

if(NOT QKSCOPE_MPI STREQUAL OFF)
    find_package(MPI QUIET COMPONENTS C)
    if(MPI_C_FOUND)
        qkscope_uses(MPI "${MPI_C_VERSION}" MPI::MPI_C)
        target_compile_definitions(qkscope_dependencies INTERFACE QKS_HAVE_MPI=1)
    elseif(QKSCOPE_MPI STREQUAL ON)
        message(FATAL_ERROR "MPI is missing (Debian: libopenmpi-dev); run scripts/setup")
    else()
        message(STATUS "MPI: not found, units run on one machine")
    endif()
endif()
