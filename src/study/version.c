/* version.c: versions of qkscope and of what it is linked with; asking them starts nothing. */
#include "qkscope/version.h"

#include "store/store.h"

#include <cblas.h>
#include <jansson.h>
#include <stdio.h>

#ifndef QKS_GIT_REVISION
#define QKS_GIT_REVISION ""
#endif

const char *qks_version(void)
{
    return QKS_VERSION;
}

const char *qks_revision(void)
{
    return QKS_GIT_REVISION;
}

const qks_part *qks_parts(size_t *count)
{
    static qks_part parts[] = {
        {"DuckDB", NULL, "Parquet, CSV, JSON, SQL"},
        {"OpenBLAS", NULL, "matrix products, eigenvalues"},
        {"jansson", NULL, "JSON"},
        {"OpenMP", NULL, "threads"},
    };
    static char openmp[16], blas[64];
    (void)snprintf(openmp, sizeof openmp, "%d", _OPENMP);
    (void)sscanf(openblas_get_config(), "OpenBLAS %63s", blas);
    parts[0].version = store_version();
    parts[1].version = blas;
    parts[2].version = jansson_version_str();
    parts[3].version = openmp;
    *count = sizeof parts / sizeof *parts;
    return parts;
}
