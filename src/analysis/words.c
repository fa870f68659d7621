/* words.c: numbers with their errors, as text. */
#include "analysis/words.h"

#include <math.h>

/* A change or gradient of fewer standard errors than this is not called one. */
static const double SIGNIFICANT_Z = 2;

const char *words_number(arena *a, double value, double se, bool sign)
{
    int decimals = isnan(se) || se >= 0.0095 || se < 0.00005 ? 2 : se >= 0.00095 ? 3 : 4;
    if (fabs(value) < 0.5 * pow(10, -decimals))
        value = 0; /* no "-0.00" */
    const char *text = NULL;
    if (isnan(se))
        text = arena_format(a, sign ? "%+.*f" : "%.*f", decimals, value);
    else if (se == 0) /* no group of documents makes a difference */
        text = arena_format(a, sign ? "%+.*f ± 0" : "%.*f ± 0", decimals, value);
    else
        text = arena_format(a, sign ? "%+.*f ± %.*f" : "%.*f ± %.*f", decimals, value, decimals,
                            se);
    return text ? text : "";
}

double words_z(double value, double se)
{
    return se > 0 ? value / se : NAN;
}

int words_direction(double value, double se)
{
    double z = words_z(value, se);
    if (isnan(z))
        return value > 0 ? 1 : value < 0 ? -1 : 0;
    return z >= SIGNIFICANT_Z ? 1 : z <= -SIGNIFICANT_Z ? -1 : 0;
}
