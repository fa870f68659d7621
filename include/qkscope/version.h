/* version.h: which qkscope this is, and what it is made of. */
#ifndef QKSCOPE_VERSION_H
#define QKSCOPE_VERSION_H

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

#ifdef __cplusplus
}
#endif
#endif
