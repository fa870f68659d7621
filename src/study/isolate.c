/* isolate.c: what a process that reads weights may still do. */
#include "qkscope/isolate.h"

#include "base/file.h"
#include "base/sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *qks_isolation(void)
{
    return sandbox_name();
}

qks_status qks_isolate(const char *out, const char *backend, qks_error *error)
{
    bool remote = backend && strncmp(backend, "rpc:", 4) == 0;
    if (backend && !remote && strcmp(backend, "cpu") != 0)
        return QKS_OK;
    const char *temporary = getenv("TMPDIR"); /* where DuckDB's sorts spill */
    const char *folders[2] = {temporary && *temporary ? temporary : "/tmp"};
    size_t count = 1;
    qks_status status = out ? folder_make(out, error) : QKS_OK;
    if (status != QKS_OK)
        return status;
    if (out)
        folders[count++] = out;
    if (sandbox_enter(folders, count, remote))
        return QKS_OK;
    return qks_fail(error, QKS_IO,
                    "cannot give up rights by %s: %s; QKSCOPE_ISOLATION=none goes on without",
                    sandbox_name(), strerror(errno));
}
