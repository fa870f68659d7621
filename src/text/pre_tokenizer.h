/* pre_tokenizer.h: the steps that split a text into words: a list, sequences flattened. Each piece
 * goes through all steps before the next piece begins, so nothing but the words is ever stored. */
#ifndef QKS_TEXT_PRE_TOKENIZER_H
#define QKS_TEXT_PRE_TOKENIZER_H

#include "base/memory.h"
#include "base/text.h"
#include "qkscope/status.h"
#include "text/pattern.h"
#include "text/stretch.h"

#include <stdbool.h>

typedef enum pre_kind {
    PRE_SPLIT,        /* by a pattern */
    PRE_SPLIT_CLASS,  /* every character of a class is a match */
    PRE_WORDS,        /* matches: runs of \w, runs of neither \w nor white space; the rest goes */
    PRE_FIXED_LENGTH, /* so many characters each */
    PRE_PREFIX_SPACE, /* a space before a piece that has none */
    PRE_METASPACE,    /* spaces become a mark, and a mark is put first */
    PRE_BYTES,        /* each byte as a character of the byte-level alphabet */
} pre_kind;

/* What becomes of the matches, and of what is between them. */
typedef enum split_behavior {
    SPLIT_REMOVED,
    SPLIT_ISOLATED,
    SPLIT_MERGED_WITH_PREVIOUS,
    SPLIT_MERGED_WITH_NEXT,
    SPLIT_CONTIGUOUS,
} split_behavior;

typedef enum character_class {
    CLASS_NUMERIC,
    CLASS_WHITE_SPACE,
    CLASS_PUNCTUATION
} character_class;

typedef enum mark_first { MARK_ALWAYS, MARK_FIRST, MARK_NEVER } mark_first;

typedef struct pre_step {
    pre_kind kind;
    pattern *pattern;        /* SPLIT; the list's own */
    character_class class;   /* SPLIT_CLASS */
    split_behavior behavior; /* SPLIT, SPLIT_CLASS */
    bool invert;             /* SPLIT */
    size_t count;            /* FIXED_LENGTH */
    const char *mark;        /* METASPACE: one character; the tokenizer's arena's */
    mark_first first;        /* METASPACE */
} pre_step;

typedef ARRAY_OF(pre_step) pre_tokenizer;

/* ByteLevel's own regular expression. */
#define GPT2_EXPRESSION                                                                            \
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

void pre_tokenizer_free(pre_tokenizer *p);

typedef struct pre_scratch {
    text *texts;  /* [steps]: what a step writes; free each, then the array */
    size_t count; /* of the texts */
    search *search;
} pre_scratch;

typedef qks_status word_visit(void *context, stretch word, qks_error *error);

/* Call `visit` with each word; none is empty. */
QKS_MUST_CHECK qks_status pre_tokenize(const pre_tokenizer *p, pre_scratch *scratch, stretch in,
                                       word_visit *visit, void *context, qks_error *error);

#endif
