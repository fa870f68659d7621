/* step.h: what a checkpoint's name says of its place in a training run. */
#ifndef QKS_STUDY_STEP_H
#define QKS_STUDY_STEP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct step_name {
    bool known;          /* the name has a step */
    double step;         /* 1200 for "S1-1.2K", 40000 for "stage1-step-40000" */
    size_t phase_length; /* the phase is this much of the name: "S1", "stage1", ""  */
} step_name;

step_name step_of(const char *name);

/* Which phase comes first: pre-training, stages, decay, long context, fine-tuning, preferences;
 * then by name, numbers in it by value. As strcmp. */
int phase_order(const char *a, size_t a_length, const char *b, size_t b_length);

/* Names with their numbers by value: "a2" before "a10". As strcmp. */
int natural_order(const char *a, size_t a_length, const char *b, size_t b_length);

#endif
