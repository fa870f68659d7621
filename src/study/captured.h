/* captured.h: the inside of include/qkscope/captured.h: one source and its store. */
#ifndef QKS_STUDY_CAPTURED_H
#define QKS_STUDY_CAPTURED_H

#include "qkscope/captured.h"
#include "study/source.h"

struct qks_captured {
    store *store;
    source **sources; /* one */
    size_t n_sources;
    qks_captured_facts facts;
    arena memory;
};

#endif
