# Finds OpenBLAS (CBLAS and LAPACK), its OpenMP build first. Debian installs the builds side by side
# and switches among them by links in the common folder; naming the build's own folder pins it.
# Sets OPENBLAS_LIBRARY, OPENBLAS_LIBRARY_DIR, OPENBLAS_INCLUDE_DIR.
find_library(OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-openmp NO_CACHE)
find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-openmp openblas NO_CACHE)
if(NOT OPENBLAS_LIBRARY OR NOT OPENBLAS_INCLUDE_DIR)
    message(FATAL_ERROR "OpenBLAS is missing (Debian: libopenblas-openmp-dev); run scripts/setup")
endif()
get_filename_component(OPENBLAS_LIBRARY_DIR "${OPENBLAS_LIBRARY}" DIRECTORY)
