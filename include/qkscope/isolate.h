/* isolate.h: for a process that reads strangers' weights and does nothing else. */
#ifndef QKSCOPE_ISOLATE_H
#define QKSCOPE_ISOLATE_H

#include "qkscope/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From now on this process, and whatever it starts, may write below `out` (made if it is not there;
 * NULL: nowhere) and in the folder for temporary files only, run no program, and open no
 * connection, unless `backend` is rpc:HOST:PORT. There is no way back. A device other than the cpu
 * has drivers with needs of their own: with one nothing is given up. What the kernel cannot do is
 * not done; qks_isolation() says what it can: "landlock 7, seccomp", "none". */
QKS_MUST_CHECK qks_status qks_isolate(const char *out, const char *backend, qks_error *error);
const char *qks_isolation(void);

#ifdef __cplusplus
}
#endif
#endif
