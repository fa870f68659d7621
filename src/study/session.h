/* session.h: a checkpoint and a corpus, opened: documents tokenised and dealt to groups, heads
 * drawn, engine ready; then one document group at a time. What `capture` does in one go and a
 * study's worker does unit by unit. */
#ifndef QKS_STUDY_SESSION_H
#define QKS_STUDY_SESSION_H

#include "base/progress.h"
#include "capture/unit.h"
#include "qkscope/capture.h"
#include "qkscope/status.h"
#include "store/dataset.h"

#include <stddef.h>
#include <stdint.h>

typedef struct session session;

/* `options` and what it points to must outlive the session. */
QKS_MUST_CHECK qks_status session_open(session **out, const char *model,
                                       const qks_capture_options *options, qks_error *error);
void session_close(session *c); /* NULL is fine */

const unit_info *session_info(const session *c); /* its groups: of all documents */
const dataset_card *session_card(const session *c);
const qks_capture_report *session_report(const session *c);

/* Tokens times layers of a group, as a measure of work. */
uint64_t session_work(const session *c, int group);
/* Seconds that a group will take, from the speed of a short stretch of the first document. */
QKS_MUST_CHECK qks_status session_calibrate(session *c, qks_error *error);
double session_seconds(const session *c, int group);
/* Bytes beyond mapped weights that the run will need at most. */
size_t session_memory(const session *c);

/* A hash of everything that decides the content of a group's unit file, as hex. */
enum { UNIT_KEY_SIZE = 33 };
void session_key(const session *c, int group, char key[UNIT_KEY_SIZE]);

/* Run the documents of a group. `unit`: where its unit file goes, NULL: no moments are kept;
 * `vectors`: where kept vectors go, NULL: none. */
QKS_MUST_CHECK qks_status session_run(session *c, int group, const char *unit,
                                      dataset_writer *vectors, progress *progress,
                                      qks_error *error);

#endif
