/* run.h: whole studies: one file, one call, safe to interrupt.
 *
 * A study's work is cut into units (one model, one group of documents). A unit's file is named by a
 * hash of everything that decides its content, so a rerun skips what is finished and redoes what
 * changed. Each model runs in a process of its own. In option structs zero means the default. */
#ifndef QKSCOPE_RUN_H
#define QKSCOPE_RUN_H

#include "qkscope/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qks_run_options {
    const char *out;     /* the run's directory; NULL: runs/<name> beside the study file */
    const char *program; /* the qkscope program, which is started for each model (required) */
    const char *backend; /* NULL: "cpu" */
    int threads;         /* of each worker; 0: all cores */
    size_t memory;       /* of each worker, for documents in hand; 0: half of what is free */
    FILE *progress;      /* a terminal; NULL: none */
    FILE *events;        /* one JSON object a line, for programs; NULL: none */
    FILE *messages;      /* faults and warnings; NULL: none */
    const volatile sig_atomic_t *stop; /* set by a signal handler: leave soon; NULL: never */
} qks_run_options;

typedef struct qks_run_report {
    const char *out; /* malloc'd; the caller frees */
    size_t models, failed_models;
    size_t units, units_done_before, units_computed;
    bool figures, report; /* were they made */
} qks_run_report;

/* Units, tables, figures, report. QKS_PARTIAL: some models failed, the rest is there. Under mpirun
 * units are handed to the ranks as they become free; only rank 0 writes and reports. */
QKS_MUST_CHECK qks_status qks_run(const char *study, const qks_run_options *options,
                                  qks_run_report *report, qks_error *error);

/* Read everything there is to read and print what qks_run would do; nothing is computed but a short
 * measurement of speed. */
QKS_MUST_CHECK qks_status qks_check(const char *study, const qks_run_options *options, bool json,
                                    FILE *out, qks_error *error);

/* The other end of qks_run: `qkscope worker` hears requests on standard input. */
QKS_MUST_CHECK qks_status qks_worker(qks_error *error);

#ifdef __cplusplus
}
#endif
#endif
