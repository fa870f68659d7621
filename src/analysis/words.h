/* words.h: how a measured number is put into a sentence, the same in the findings table and in the
 * figures' explanations: digits as the error deserves, and no direction that it does not support.
 */
#ifndef QKS_ANALYSIS_WORDS_H
#define QKS_ANALYSIS_WORDS_H

#include "base/memory.h"

#include <stdbool.h>

/* "0.67 ± 0.01" with as many decimals as the error deserves; "0.67" where there is none (NaN).
 * `sign`: also a plus. "" when out of memory. */
const char *words_number(arena *a, double value, double se, bool sign);

/* value / se; NaN where the error is 0 or not known. */
double words_z(double value, double se);

/* What a signed difference lets one say: 1 it is up, -1 it is down, 0 neither (fewer than two
 * standard errors). Without an error bar the sign alone decides, and the sentence is to say so. */
int words_direction(double value, double se);

#endif
