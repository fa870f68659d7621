/* plan.h: a study cut into units: which models there are, which units they have, which are done. */
#ifndef QKS_STUDY_PLAN_H
#define QKS_STUDY_PLAN_H

#include "qkscope/run.h"
#include "study/child.h"
#include "study/study.h"

#include <jansson.h>
#include <stdint.h>

typedef struct plan_unit {
    const char *path; /* DIR/units/<slug>/<key>.unit */
    int64_t documents, tokens;
    uint64_t work;
    double seconds;    /* that it will take; 0: not asked */
    bool done, before; /* before: found finished when the run began */
} plan_unit;

typedef struct plan_model {
    const study_model *model;
    json_t *facts;    /* the worker's plan; NULL: it could not be made */
    plan_unit *units; /* [n_units], by group */
    size_t n_units;
    const char *failure; /* why the model failed; NULL: it has not */
    double seconds;      /* spent on its units in this run */
} plan_model;

typedef struct plan {
    study *study;
    const qks_run_options *options;
    const char *out;    /* the run's directory */
    bool calibrate;     /* ask how long the units will take */
    plan_model *models; /* [study->n_models] */
    arena memory;
} plan;

/* Read the study file into `s`; its faults go to options->messages. */
QKS_MUST_CHECK qks_status plan_open(plan *p, study *s, const char *path,
                                    const qks_run_options *options, qks_error *error);
/* Ask a worker about every model. Models that fail are marked, not fatal. */
QKS_MUST_CHECK qks_status plan_make(plan *p, qks_error *error);
void plan_close(plan *p);

/* Start a worker for model `number` and tell it what it is to be. It may write in `folder` only;
 * NULL: nowhere. */
QKS_MUST_CHECK qks_status plan_ask(const plan *p, size_t number, const char *folder, child *c,
                                   qks_error *error);
/* A worker for model `number`, its plan taken and dropped. `reason`: why it could not be had, when
 * the status is QKS_PARTIAL. */
QKS_MUST_CHECK qks_status plan_worker(const plan *p, size_t number, child *c, json_t **facts,
                                      text *reason, qks_error *error);

/* Of the model's units that are still to do. */
double plan_seconds(const plan_model *m);

/* A line of JSON for options->events; takes the reference. */
void plan_event(const plan *p, json_t *event);

bool plan_stopped(const plan *p);

#endif
