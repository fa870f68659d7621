/* study_yaml.h: reading a mapping of a YAML document by a table of its keys. Faults are gathered
 * with line and column; reading goes on after each. */
#ifndef QKS_STUDY_STUDY_YAML_H
#define QKS_STUDY_STUDY_YAML_H

#include "study/study.h"

#include <yaml.h>

enum { YAML_DEPTH_MAX = 16 };

typedef struct reader {
    study *s;
    yaml_document_t *document;
    const yaml_node_t *root;
    text *faults;
    size_t count; /* faults so far */
} reader;

typedef void taker(reader *r, const yaml_node_t *node, void *place);

typedef struct key { /* a table of them ends with a name of NULL */
    const char *name;
    taker *take;
    size_t offset; /* of the place, from the base that take_mapping is given */
    bool required;
} key;

void take_mapping(reader *r, const yaml_node_t *node, const key *keys, void *base);

void fault_at(reader *r, size_t line, size_t column, const char *message);
void fault(reader *r, const yaml_node_t *at, const char *format, ...) QKS_PRINTF(3, 4);

/* NULL: no scalar, or one that C would read only a part of. */
const char *scalar(const yaml_node_t *node);

taker take_text;    /* const char * */
taker take_count;   /* int64_t, at least 1 */
taker take_seed;    /* int64_t, at least 0 */
taker take_real;    /* double, positive */
taker take_bool;    /* bool */
taker take_maybe;   /* int64_t: 0 or 1, so that another number can mean that nothing was said */
taker take_list;    /* string_list */
taker take_scaling; /* const char *: a mapping or null, as JSON */
/* A count, or a word that stands for a special one. */
void take_or(reader *r, const yaml_node_t *node, void *place, const char *word, int64_t means);

#endif
