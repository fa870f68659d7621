/* columns.h: the contents as JSON, one array per column, short enough for a page: what the page's
 * data.js reads. */
#ifndef QKS_REPORT_COLUMNS_H
#define QKS_REPORT_COLUMNS_H

#include "base/text.h"
#include "report/contents.h"

/* "models": {...}, "heads": {...}, "qk": {...}, "depth": ..., "plasticity": ..., "findings": ...
 * without the braces around. Columns that are blank throughout are left out. */
void columns_pack(text *t, const contents *c);

#endif
