/* process.h: another program, run without a shell and waited for, what it says caught. */
#ifndef QKS_FIGURES_PROCESS_H
#define QKS_FIGURES_PROCESS_H

#include "base/text.h"
#include "qkscope/status.h"

/* Run arguments[0] (found on the PATH) in `folder` (NULL: here) with an empty standard input and
 * the locale C.UTF-8. `said` gets its standard output and error, as far as it has room.
 * QKS_MISSING: there is no such program. QKS_IO: it could not be run or was ended by a signal.
 * `code` is its exit code. */
QKS_MUST_CHECK qks_status process_run(char *const *arguments, const char *folder, text *said,
                                      int *code, qks_error *error);

#endif
