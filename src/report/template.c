/* template.c: the page's file inside the program. The build names it in QKS_PAGE_FILE (see
 * cmake/Page.cmake); the assembler reads it, which C11 cannot. */
#include "report/template.h"

#include <stdint.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))
extern const char qks_page[] HIDDEN;
extern const uint64_t qks_page_length HIDDEN;

__asm__(".pushsection .rodata\n"
        ".global qks_page, qks_page_length\n"
        ".hidden qks_page, qks_page_length\n"
        "qks_page: .incbin \"" QKS_PAGE_FILE "\"\n"
        "qks_page_end: .balign 8\n"
        "qks_page_length: .quad qks_page_end - qks_page\n"
        ".popsection\n");

/* Stands in index.html in the data's place; build.mjs checks that it is there once. */
static const char MARK[] = "QKSCOPE-DATA";

static size_t mark(void)
{
    const char *found = memmem(qks_page, qks_page_length, MARK, strlen(MARK));
    return (size_t)(found - qks_page);
}

page_part template_before(void)
{
    return (page_part){qks_page, mark()};
}

page_part template_after(void)
{
    size_t after = mark() + strlen(MARK);
    return (page_part){qks_page + after, qks_page_length - after};
}
