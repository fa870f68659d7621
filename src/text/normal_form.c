/* normal_form.c: take each character apart, sort the marks behind a starter by combining class,
 * put together what goes together. */
#include "text/normal_form.h"

#include "text/unicode.h"

#include <string.h>
#include <utf8proc.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
enum { APART_MAX = 32, CLASSES = 256, FEW = 16, FIRST_MARK = 0x300 };

/* What has a combining class or a decomposition since Unicode 9; the library leaves it alone. */
static const character_range LATER[] = {
    {0x7FD, 0x7FD},     {0x898, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},
    {0xC3C, 0xC3C},     {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},
    {0x1ABF, 0x1ACE},   {0x1DF6, 0x1DFA},   {0x32FF, 0x32FF},   {0xA7F2, 0xA7F4},
    {0xA82C, 0xA82C},   {0xAB69, 0xAB69},   {0x10781, 0x10785}, {0x10787, 0x107B0},
    {0x107B2, 0x107BA}, {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10EFD, 0x10EFF},
    {0x10F46, 0x10F50}, {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x1133B, 0x1133B},
    {0x1145E, 0x1145E}, {0x11839, 0x1183A}, {0x11938, 0x11938}, {0x1193D, 0x1193E},
    {0x11943, 0x11943}, {0x119E0, 0x119E0}, {0x11A34, 0x11A34}, {0x11A47, 0x11A47},
    {0x11A99, 0x11A99}, {0x11D42, 0x11D42}, {0x11D44, 0x11D45}, {0x11D97, 0x11D97},
    {0x11F41, 0x11F42}, {0x16FF0, 0x16FF1}, {0x1E030, 0x1E06D}, {0x1E08F, 0x1E08F},
    {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}, {0x1E4EC, 0x1E4EF},
    {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9}};

typedef struct writer {
    text *out;
    bool composing;
    utf8proc_option_t options;
    normal_form_scratch *scratch;
    loose starter;
    bool has_starter;
    size_t head_characters; /* of the text, from its start */
    size_t taken;           /* characters of the text that are written */
    size_t head;            /* bytes written for the head */
} writer;

static bool is_later(uint32_t c)
{
    return in_ranges(c, LATER, COUNT_OF(LATER));
}

/* ---- writing ---- */
static void write_character(writer *w, loose l)
{
    char bytes[UTF8_MAX];
    size_t size = utf8_encode(l.character, bytes);
    size_t from = l.takes || w->taken == 0 ? w->taken : w->taken - 1;
    if (from < w->head_characters || w->taken == 0)
        w->head += size;
    w->taken += l.takes;
    text_append(w->out, bytes, size);
}

static void write_ascii(writer *w, const char *bytes, size_t count)
{
    size_t left = w->head_characters > w->taken ? w->head_characters - w->taken : 0;
    w->head += left < count ? left : count;
    w->taken += count;
    text_append(w->out, bytes, count);
}

/* ---- composing ---- */
/* The character that `a` and the mark or starter `b` make, or 0. */
static uint32_t together(uint32_t a, uint32_t b)
{
    if (b < FIRST_MARK || is_later(a) || is_later(b))
        return 0;
    utf8proc_int32_t both[3] = {(utf8proc_int32_t)a, (utf8proc_int32_t)b};
    utf8proc_ssize_t count = utf8proc_normalize_utf32(both, 2, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    return count == 1 ? (uint32_t)both[0] : 0;
}

static bool join(loose *starter, loose next)
{
    uint32_t composed = together(starter->character, next.character);
    if (!composed)
        return false;
    starter->character = composed;
    starter->takes += next.takes;
    return true;
}

/* By combining class; marks of one class keep their order. */
static qks_status sort_marks(normal_form_scratch *s, qks_error *error)
{
    loose *marks = s->marks.data;
    size_t count = s->marks.length;
    if (count <= FEW) {
        for (size_t i = 1; i < count; i++)
            for (size_t j = i; j > 0 && marks[j - 1].combining > marks[j].combining; j--) {
                loose swapped = marks[j];
                marks[j] = marks[j - 1];
                marks[j - 1] = swapped;
            }
        return QKS_OK;
    }
    s->sorted.length = 0;
    qks_status status = array_reserve(&s->sorted, count, error);
    if (status != QKS_OK)
        return status;
    size_t places[CLASSES + 1] = {0};
    for (size_t i = 0; i < count; i++)
        places[marks[i].combining + 1]++;
    for (size_t i = 0; i < CLASSES; i++)
        places[i + 1] += places[i];
    for (size_t i = 0; i < count; i++)
        s->sorted.data[places[marks[i].combining]++] = marks[i];
    memcpy(marks, s->sorted.data, count * sizeof *marks);
    return QKS_OK;
}

/* Join with the starter what can be, and drop it from the marks. */
static void join_marks(writer *w)
{
    loose_list *marks = &w->scratch->marks;
    size_t kept = 0;
    unsigned last = 0; /* class of the last mark kept; it hides those of its class */
    for (size_t i = 0; i < marks->length; i++) {
        loose mark = marks->data[i];
        if (last < mark.combining && join(&w->starter, mark))
            continue;
        last = mark.combining;
        marks->data[kept++] = mark;
    }
    marks->length = kept;
}

/* All that is in hand is complete: `next` is the starter after it, NULL at the end. */
static qks_status finish_cluster(writer *w, const loose *next, qks_error *error)
{
    loose_list *marks = &w->scratch->marks;
    qks_status status = sort_marks(w->scratch, error);
    if (status != QKS_OK)
        return status;
    if (w->has_starter && w->composing) {
        join_marks(w);
        if (next && marks->length == 0 && join(&w->starter, *next))
            return QKS_OK;
    }
    if (w->has_starter)
        write_character(w, w->starter);
    for (size_t i = 0; i < marks->length; i++)
        write_character(w, marks->data[i]);
    marks->length = 0;
    w->has_starter = next != NULL;
    if (next)
        w->starter = *next;
    return QKS_OK;
}

/* ---- taking apart ---- */
static qks_status take(writer *w, loose l, qks_error *error)
{
    if (l.combining)
        return array_push(&w->scratch->marks, l, error);
    return finish_cluster(w, &l, error);
}

static qks_status take_character(writer *w, uint32_t c, qks_error *error)
{
    utf8proc_int32_t apart[APART_MAX] = {(utf8proc_int32_t)c};
    utf8proc_ssize_t count = utf8proc_decompose_char((utf8proc_int32_t)c, apart, APART_MAX,
                                                     w->options, NULL);
    if (count < 1 || count > APART_MAX)
        return qks_fail(error, QKS_INTERNAL, "utf8proc cannot take U+%04X apart", (unsigned)c);
    bool changed = count > 1 || (uint32_t)apart[0] != c;
    if (changed && is_later(c)) {
        apart[0] = (utf8proc_int32_t)c;
        count = 1;
    }
    qks_status status = QKS_OK;
    for (utf8proc_ssize_t i = 0; status == QKS_OK && i < count; i++) {
        uint32_t part = (uint32_t)apart[i];
        utf8proc_propval_t combining = utf8proc_get_property(apart[i])->combining_class;
        if (combining && is_later(part))
            combining = 0;
        status = take(w, (loose){part, (uint8_t)combining, i == 0}, error);
    }
    return status;
}

/* Bytes of ASCII from `at` on. */
static size_t ascii_run(stretch s, size_t at)
{
    size_t end = at;
    while (end < s.length && (unsigned char)s.bytes[end] < 0x80)
        end++;
    return end - at;
}

/* ASCII goes through as it is; only its last character can meet a mark. */
static qks_status take_ascii(writer *w, const char *bytes, size_t count, qks_error *error)
{
    if (count > 1) {
        qks_status status = finish_cluster(w, NULL, error);
        if (status != QKS_OK)
            return status;
        write_ascii(w, bytes, count - 1);
    }
    return take(w, (loose){(unsigned char)bytes[count - 1], 0, 1}, error);
}

static size_t characters_in(const char *bytes, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += utf8_starts(bytes[i]);
    return count;
}

qks_status normal_form_append(text *out, stretch s, normal_form form, size_t *head,
                              normal_form_scratch *scratch, qks_error *error)
{
    bool compatible = form == FORM_NFKC || form == FORM_NFKD;
    writer w = {.out = out,
                .composing = form == FORM_NFC || form == FORM_NFKC,
                .options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                           (compatible ? UTF8PROC_COMPAT : (utf8proc_option_t)0),
                .scratch = scratch,
                .head_characters = characters_in(s.bytes, s.head)};
    scratch->marks.length = 0;
    qks_status status = QKS_OK;
    for (size_t at = 0; status == QKS_OK && at < s.length;) {
        size_t size = ascii_run(s, at);
        if (size)
            status = take_ascii(&w, s.bytes + at, size, error);
        else
            status = take_character(&w, utf8_decode(s.bytes + at, &size), error);
        at += size;
    }
    if (status == QKS_OK)
        status = finish_cluster(&w, NULL, error);
    *head = s.head ? w.head : 0;
    return status;
}
