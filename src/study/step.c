/* step.c: steps and phases in names such as S1-1.2K, stage1-step-40000, checkpoint-500. */
#include "study/step.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Words that a step follows. */
static const char *const STEP_WORDS[] = {"global_step", "checkpoint", "step",   "iteration", "iter",
                                         "update",      "ckpt",       "tokens", "epoch"};

/* How a phase's name begins, and when it is in a run. What is not here comes with the stages. */
static const struct {
    const char *word;
    int when;
} PHASES[] = {{"init", 0},     {"pre", 1},     {"warm", 1},   {"mid", 3},
              {"decay", 3},    {"anneal", 3},  {"cool", 3},   {"lc", 4},
              {"long", 4},     {"context", 4}, {"extend", 4}, {"sft", 5},
              {"instruct", 5}, {"dpo", 6},     {"apo", 6},    {"rl", 6}};
enum { WHEN_STAGES = 2 };

static bool is_separator(char c)
{
    return c != '\0' && strchr("-_./= @:", c) != NULL;
}

/* "40000", "1.2K", "3M"; B (tokens, or a size of a model) only after a word. Returns its length, 0:
 * there is none. */
static size_t read_number(const char *at, bool after_word, double *value)
{
    static const char units[] = "KMB";
    char *end = NULL;
    if (!isdigit((unsigned char)*at) || (at[0] == '0' && tolower((unsigned char)at[1]) == 'x'))
        return 0;
    *value = strtod(at, &end);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit && (*unit != 'B' || after_word)) {
        *value *= pow(1000, (double)(unit - units + 1));
        end++;
    }
    return isalnum((unsigned char)*end) ? 0 : (size_t)(end - at);
}

static size_t trimmed(const char *name, size_t length)
{
    while (length > 0 && is_separator(name[length - 1]))
        length--;
    return length;
}

static bool step_at(const char *name, const char *at, const char *word, step_name *found)
{
    const char *number = at + strlen(word);
    if ((at > name && isalnum((unsigned char)at[-1])) || strncasecmp(at, word, strlen(word)) != 0)
        return false;
    number += strspn(number, "-_= ");
    if (read_number(number, true, &found->step) == 0)
        return false;
    found->known = true;
    found->phase_length = trimmed(name, (size_t)(at - name));
    return true;
}

/* A number at the end, with a separator before it. */
static bool step_at_end(const char *name, step_name *found)
{
    size_t length = strlen(name), first = length;
    while (first > 0 && !(is_separator(name[first - 1]) && name[first - 1] != '.'))
        first--;
    if (read_number(name + first, false, &found->step) != length - first || first == length)
        return false;
    found->known = true;
    found->phase_length = trimmed(name, first);
    return true;
}

step_name step_of(const char *name)
{
    step_name found = {0};
    for (size_t i = 0; i < sizeof STEP_WORDS / sizeof *STEP_WORDS; i++)
        for (const char *at = name; *at; at++)
            if (step_at(name, at, STEP_WORDS[i], &found))
                return found;
    if (step_at_end(name, &found))
        return found;
    return (step_name){.phase_length = strlen(name)};
}

/* ---- order ---- */

static int when_of(const char *phase, size_t length)
{
    for (size_t i = 0; i < sizeof PHASES / sizeof *PHASES; i++)
        if (length >= strlen(PHASES[i].word) &&
            strncasecmp(phase, PHASES[i].word, strlen(PHASES[i].word)) == 0)
            return PHASES[i].when;
    return WHEN_STAGES;
}

int natural_order(const char *a, size_t a_length, const char *b, size_t b_length)
{
    const char *a_end = a + a_length, *b_end = b + b_length;
    while (a < a_end && b < b_end) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            char *a_next = NULL, *b_next = NULL;
            unsigned long long x = strtoull(a, &a_next, 10), y = strtoull(b, &b_next, 10);
            if (x != y)
                return x < y ? -1 : 1;
            a = a_next;
            b = b_next;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return (a < a_end) - (b < b_end);
}

int phase_order(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int difference = when_of(a, a_length) - when_of(b, b_length);
    return difference ? difference : natural_order(a, a_length, b, b_length);
}
