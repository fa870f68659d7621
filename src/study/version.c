/* version.c: versions of qkscope and of what it is linked with; asking them starts nothing. */
#include "qkscope/version.h"

#include "qkscope/isolate.h"
#include "store/store.h"

#include <cblas.h>
#include <ggml.h>
#include <jansson.h>
#include <oniguruma.h>
#include <stdio.h>
#include <utf8proc.h>
#include <yaml.h>

#ifdef QKS_HAVE_MPI
#define MPI_NAME "yes"
#else
#define MPI_NAME "no"
#endif

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
        {"ggml", NULL, "tensors and devices"},
        {"DuckDB", NULL, "Parquet, CSV, JSON, SQL"},
        {"OpenBLAS", NULL, "matrix products, eigenvalues"},
        {"jansson", NULL, "JSON"},
        {"libyaml", NULL, "study files"},
        {"Oniguruma", NULL, "regular expressions"},
        {"utf8proc", NULL, "Unicode"},
        {"OpenMP", NULL, "threads"},
        {"MPI", NULL, "ranks"},
        {"isolation", NULL, "what reads weights gives up rights by"},
    };
    static char openmp[16], blas[64];
    (void)snprintf(openmp, sizeof openmp, "%d", _OPENMP);
    (void)sscanf(openblas_get_config(), "OpenBLAS %63s", blas);
    const char *const versions[] = {ggml_version(),
                                    store_version(),
                                    blas,
                                    jansson_version_str(),
                                    yaml_get_version_string(),
                                    onig_version(),
                                    utf8proc_version(),
                                    openmp,
                                    MPI_NAME,
                                    qks_isolation()};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        parts[i].version = versions[i];
    *count = sizeof parts / sizeof *parts;
    return parts;
}
