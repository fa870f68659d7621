/* colour.c: colour maps, made in CIELAB with even steps of lightness, and contrast of text on them.
 */
#include "figures/colour.h"

#include <math.h>

const colour CLASS_COLOURS[QKS_CLASSES] = {
    [QKS_POSITION_DOMINATED] = 0x3b82f6,
    [QKS_Q_POSITIONAL] = 0x6366f1,
    [QKS_K_POSITIONAL] = 0xec4899,
    [QKS_CONTENT_FOCUSED] = 0x10b981,
    [QKS_MIXED] = 0x9ca3af,
};

const palette BLUES = {
    {0xf1f7fe, 0xc9def1, 0xa1c6e5, 0x76aedb, 0x4396d1, 0x087dbe, 0x0264a0, 0x014c81, 0x003663}};
const palette REDS = {
    {0xfef5f1, 0xfbd3c5, 0xf5b29d, 0xee8f77, 0xe56a54, 0xce4b3e, 0xb62a28, 0x901c1d, 0x6b0f13}};
const palette CHANGES = {
    {0x005493, 0x337bbd, 0x70a3d8, 0xb1cbe6, 0xf2f4f5, 0xefbdae, 0xe28771, 0xc35644, 0xa21a1c}};

static const colour FAMILIES[] = {0x3b82f6, 0xef4444, 0x10b981, 0xf59e0b, 0x8b5cf6,
                                  0x0891b2, 0xec4899, 0x65a30d, 0x64748b, 0x92400e};
enum { N_FAMILIES = sizeof FAMILIES / sizeof *FAMILIES };

colour family_colour(size_t number)
{
    return FAMILIES[number % N_FAMILIES];
}

int family_marker(size_t number)
{
    static const int filled[] = {7, 5, 9, 13, 11, 15}; /* circle, square, triangles, ... */
    return filled[number / N_FAMILIES % (sizeof filled / sizeof *filled)];
}

/* ---- maps ---- */

static double channel(colour c, int shift)
{
    return (double)(c >> shift & 0xff);
}

colour palette_at(const palette *p, double t)
{
    double place = fmin(fmax(t, 0), 1) * (PALETTE_STOPS - 1);
    int low = place < PALETTE_STOPS - 2 ? (int)place : PALETTE_STOPS - 2;
    colour mixed = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        double from = channel(p->stops[low], shift), to = channel(p->stops[low + 1], shift);
        mixed |= (colour)lround(from + (place - low) * (to - from)) << shift;
    }
    return mixed;
}

void palette_set(const palette *p, text *script)
{
    text_add(script, "set palette defined (");
    for (int i = 0; i < PALETTE_STOPS; i++)
        text_addf(script, "%s%d '#%06x'", i ? ", " : "", i, p->stops[i]);
    text_add(script, ")\n");
}

void palette_function(const palette *p, const char *name, text *script)
{
    for (int shift = 16; shift >= 0; shift -= 8) {
        text_addf(script, "array %s%d[%d] = [", name, shift, PALETTE_STOPS);
        for (int i = 0; i < PALETTE_STOPS; i++)
            text_addf(script, "%s%u", i ? ", " : "", p->stops[i] >> shift & 0xff);
        text_add(script, "]\n");
    }
    text_addf(script,
              "%s(t) = (place = %d.0 * (t < 0 ? 0 : t > 1 ? 1 : t), low = int(place), "
              "low = low > %d ? %d : low, share = place - low",
              name, PALETTE_STOPS - 1, PALETTE_STOPS - 2, PALETTE_STOPS - 2);
    for (int shift = 16; shift >= 0; shift -= 8)
        text_addf(script, "%s (int(%s%d[low + 1] + share * (%s%d[low + 2] - %s%d[low + 1])) << %d)",
                  shift == 16 ? "," : " +", name, shift, name, shift, name, shift, shift);
    text_add(script, ")\n");
}

/* ---- contrast ---- */

static double luminance(colour c)
{
    static const double weights[] = {0.0722, 0.7152, 0.2126}; /* blue, green, red */
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double x = channel(c, 8 * i) / 255;
        sum += weights[i] * (x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double contrast(colour a, colour b)
{
    double x = luminance(a), y = luminance(b);
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

static bool dark(colour c)
{
    return contrast(c, 0xffffff) > contrast(c, 0x000000);
}

ink_rule palette_ink(const palette *p)
{
    enum { STEPS = 1000 };
    ink_rule rule = {-1, 2};
    int first = 0, last = STEPS;
    while (first <= STEPS && dark(palette_at(p, (double)first / STEPS)))
        first++;
    while (last >= 0 && dark(palette_at(p, (double)last / STEPS)))
        last--;
    if (first > 0)
        rule.dark_below = (first - 0.5) / STEPS;
    if (last < STEPS)
        rule.dark_above = (last + 0.5) / STEPS;
    return rule;
}
