/* card.h: what reading and writing a dataset share: its folders' names, and README.md with lines
 * "- `key`: `value`", read and written from one table of keys. */
#ifndef QKS_STORE_CARD_H
#define QKS_STORE_CARD_H

#include "base/text.h"
#include "qkscope/status.h"
#include "store/dataset.h"

/* Is this the name of a head's folder, l{LL}h{HH}{q|k}? Then layer, head and kind are set. */
bool head_named(const char *name, dataset_head *head);

/* What ROOT/README.md says; a missing file, and keys that are missing or not numbers, say nothing.
 * Strings live in the arena. */
QKS_MUST_CHECK qks_status card_read(dataset_card *card, const char *root, arena *a,
                                    qks_error *error);

/* The card as Markdown, appended to `out`. */
void card_print(text *out, const dataset_card *card, int dimension, size_t heads, int64_t rows);

#endif
