/* config.h: how config.json is read, for the files that read it (config*.c) and no others. */
#ifndef QKS_MODEL_CONFIG_H
#define QKS_MODEL_CONFIG_H

#include "model/architecture.h"
#include "model/family.h"
#include "model/fields.h"
#include "model/limits.h"

/* What GGUF knows otherwise than config.json. */
typedef struct config_extra {
    int rotary;            /* dimensions that rope turns; 0: as the config says */
    const float *divisors; /* [n_divisors] of the frequencies; NULL: none */
    int64_t n_divisors;
} config_extra;

typedef struct config {
    fields fields; /* of the text model */
    config_extra extra;
    const family *family;
    bool nested; /* it is a wrapper's text_config */
    const rope_override *override;
    architecture *out;
} config;

/* config.json's content, or the like made from GGUF keys. On failure `a` is closed. */
QKS_MUST_CHECK qks_status config_read(architecture *a, const fields *content,
                                      const config_extra *extra, const rope_override *override,
                                      qks_error *error);

/* Fill out->layers: kinds and windows; then their ropes and the query scaling that goes with them.
 */
QKS_MUST_CHECK qks_status config_layers(config *c, qks_error *error);
QKS_MUST_CHECK qks_status config_ropes(config *c, qks_error *error);

/* Does SmolLM3's layer have rope? True for the other types. */
QKS_MUST_CHECK qks_status config_has_rope(const config *c, int layer, bool *has, qks_error *error);

#endif
