/* template.h: the page without its data, as src/report/page/build.mjs made it: markup, style,
 * script and licences in one file, which is part of the program. */
#ifndef QKS_REPORT_TEMPLATE_H
#define QKS_REPORT_TEMPLATE_H

#include <stddef.h>

typedef struct page_part {
    const char *bytes;
    size_t length;
} page_part;

/* What stands before the data and after them. */
page_part template_before(void);
page_part template_after(void);

#endif
