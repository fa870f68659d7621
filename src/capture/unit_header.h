/* unit_header.h: what a unit file says of itself before its records. */
#ifndef QKS_CAPTURE_UNIT_HEADER_H
#define QKS_CAPTURE_UNIT_HEADER_H

#include "capture/unit.h"

/* malloc'd; NULL: no memory, or a name that is not UTF-8. */
char *unit_header_text(const unit_info *info);

/* Read a stranger's header: what is wrong with it, or NULL. */
const char *unit_header_take(unit_info *info, arena *memory, const char *text, size_t length);

#endif
