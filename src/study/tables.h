/* tables.h: the result tables as the store sees them: names and columns of the rows in
 * include/qkscope/tables.h. */
#ifndef QKS_STUDY_TABLES_H
#define QKS_STUDY_TABLES_H

#include "qkscope/tables.h"
#include "store/record.h"

extern const record QK_TABLE;
extern const record HEADS_TABLE;
extern const record DEPTH_TABLE;
extern const record TRAJECTORY_TABLE; /* of a training study; its third column is `phase` */
extern const record MODELS_TABLE;     /* the same of a study of models: the column is `family` */
extern const record PLASTICITY_TABLE;
extern const record FINDINGS_TABLE;
extern const record COLLAGE_TABLE;

/* What a study file says of each model, as a table: order, phase, family, shape. */
typedef struct study_row {
    int64_t order;
    const char *model, *phase, *family;
    int64_t layers, q_heads, kv_heads;
} study_row;

extern const record STUDY_TABLE;

#endif
