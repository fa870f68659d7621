/* weight_names.h: what a role's tensor is called, by format and model type. */
#ifndef QKS_MODEL_WEIGHT_NAMES_H
#define QKS_MODEL_WEIGHT_NAMES_H

#include "model/checkpoint.h"
#include "model/weights.h"

/* Which of a tensor's rows are the role's: all, or those of a fused gate and up, or q, k and v. */
typedef enum weight_part {
    PART_WHOLE,
    PART_FIRST_HALF,
    PART_SECOND_HALF,
    PART_Q,
    PART_K,
    PART_V,
} weight_part;

typedef struct weight_name {
    weight_role role;
    weight_part part;
    const char *suffix; /* after the layer's prefix */
    const char *type;   /* model type; NULL: any that has no row of its own */
} weight_name;

const weight_name *weight_name_find(checkpoint_format format, const char *type, weight_role role);
/* Where else it may be, in a tensor of q, k and v together; NULL: nowhere. */
const weight_name *weight_name_fused(checkpoint_format format, weight_role role);

/* Before every name of the text model: "model.", "language_model.model.", ...; NULL if no known
 * prefix leads to the embedding. */
const char *weight_prefix(const checkpoint *c);
const char *weight_embedding_suffix(checkpoint_format format);
/* What stands before the layer's number, after the prefix: "layers" or "blk". */
const char *weight_layer_word(checkpoint_format format);

#endif
