/* version.h: which qkscope this is, and what it is made of. */
#ifndef QKSCOPE_VERSION_H
#define QKSCOPE_VERSION_H

#include "qkscope/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

const char *qks_version(void);  /* "0.1.0" */
const char *qks_revision(void); /* of the sources, "" if not known */

typedef struct qks_part {
    const char *name, *version, *role;
} qks_part;

/* The libraries under qkscope, as linked at run time. The array is static. */
const qks_part *qks_parts(size_t *count);

/* A device of ggml's; `name` is what --backend and qks_capture_options.backend take. */
typedef struct qks_device {
    const char *name, *description;
    const char *kind; /* cpu, gpu, integrated gpu, accelerator, other */
    size_t memory;    /* bytes in all; 0: not known */
} qks_device;

/* The devices there are. This starts ggml's backends. The caller frees the array with free(). */
QKS_MUST_CHECK qks_status qks_devices(qks_device **devices, size_t *count, qks_error *error);

#ifdef __cplusplus
}
#endif
#endif
