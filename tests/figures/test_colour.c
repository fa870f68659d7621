/* Colour maps: even to the eye, and every number readable on them. */
#include "testing.h"

#include "figures/colour.h"

static const double EVEN = 0.06;    /* of a step: what rounding to 8 bits leaves */
static const double READABLE = 4.5; /* WCAG 2, level AA */

static double linear(double x)
{
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

/* CIE L*, by its definition. */
static double lightness(colour c)
{
    double y = 0.2126 * linear((double)(c >> 16 & 0xff) / 255) +
               0.7152 * linear((double)(c >> 8 & 0xff) / 255) +
               0.0722 * linear((double)(c & 0xff) / 255);
    return y > 216.0 / 24389 ? 116 * cbrt(y) - 16 : y * 24389 / 27;
}

static void sequential_maps_darken_evenly(void **state)
{
    (void)state;
    const palette *maps[] = {&BLUES, &REDS};
    for (size_t m = 0; m < COUNT_OF(maps); m++) {
        double first = lightness(maps[m]->stops[0]);
        double step = (first - lightness(maps[m]->stops[PALETTE_STOPS - 1])) / (PALETTE_STOPS - 1);
        assert_true(step > 8);
        for (int i = 1; i < PALETTE_STOPS; i++)
            assert_near(lightness(maps[m]->stops[i - 1]) - lightness(maps[m]->stops[i]), step,
                        EVEN * step);
    }
}

static void change_map_is_the_same_to_both_sides(void **state)
{
    (void)state;
    for (int i = 0; i < PALETTE_STOPS / 2; i++) {
        assert_near(lightness(CHANGES.stops[i]), lightness(CHANGES.stops[PALETTE_STOPS - 1 - i]),
                    0.5);
        assert_true(lightness(CHANGES.stops[i]) < lightness(CHANGES.stops[i + 1]) - 10);
    }
    assert_true(lightness(CHANGES.stops[PALETTE_STOPS / 2]) > 95);
}

static void numbers_are_readable_on_every_shade(void **state)
{
    (void)state;
    const palette *maps[] = {&BLUES, &REDS, &CHANGES};
    for (size_t m = 0; m < COUNT_OF(maps); m++) {
        ink_rule rule = palette_ink(maps[m]);
        for (int i = 0; i <= 5000; i++) {
            double t = i / 5000.0;
            bool white = t < rule.dark_below || t > rule.dark_above;
            assert_true(contrast(palette_at(maps[m], t), white ? 0xffffff : 0) >= READABLE);
        }
    }
}

static void maps_are_clamped(void **state)
{
    (void)state;
    assert_int_equal(palette_at(&BLUES, -3), BLUES.stops[0]);
    assert_int_equal(palette_at(&BLUES, 0.5), BLUES.stops[4]);
    assert_int_equal(palette_at(&BLUES, 7), BLUES.stops[8]);
}

/* Twenty families, and no two look the same. */
static void families_differ(void **state)
{
    (void)state;
    for (size_t i = 0; i < 20; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(family_colour(i) == family_colour(j) &&
                         family_marker(i) == family_marker(j));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequential_maps_darken_evenly),
        cmocka_unit_test(change_map_is_the_same_to_both_sides),
        cmocka_unit_test(numbers_are_readable_on_every_shade),
        cmocka_unit_test(maps_are_clamped),
        cmocka_unit_test(families_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
