/* manifest.h: what a run is and how far it has come: models, units, failures and their reasons, the
 * versions at work. The fields are in docs/formats.md. */
#ifndef QKS_STUDY_MANIFEST_H
#define QKS_STUDY_MANIFEST_H

#include "study/plan.h"

json_t *manifest_of(const plan *p);
/* As DIR/manifest.json. */
QKS_MUST_CHECK qks_status manifest_save(const plan *p, qks_error *error);

#endif
