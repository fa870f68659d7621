/* numbers.c: the library's door to the analysis of one head: include/qkscope/head.h. */
#include "qkscope/head.h"

#include "analysis/head.h"
#include "analysis/numbers.h"

#include <stdlib.h>

typedef struct kept_numbers { /* what a caller holds is its first member */
    qks_head_numbers numbers;
    arena memory;
} kept_numbers;

qks_status numbers_of(const qks_head_row *id, moments *const *q, moments *const *k, int groups,
                      int components, qks_head_numbers **out, qks_error *error)
{
    kept_numbers *kept = NULL;
    head_room *room = NULL;
    head_result result = {0};
    qks_head_row named = *id;
    qks_status status = memory_zeroed(&kept, 1, sizeof *kept, error);
    if (status != QKS_OK)
        return status;
    named.model = id->model ? arena_string(&kept->memory, id->model) : NULL;
    if (id->model && !named.model)
        status = out_of_memory(error, "model name");
    if (status == QKS_OK)
        status = head_open(&room, q[0]->d, components ? components : QKS_COMPONENTS_DEFAULT, groups,
                           error);
    if (status == QKS_OK)
        status = head_analyze(room, &named, q, k, &kept->memory, &result, error);
    head_close(room);
    if (status != QKS_OK) {
        qks_head_numbers_free(&kept->numbers);
        return status;
    }
    kept->numbers = (qks_head_numbers){
        .head = result.row, .pcs = result.pcs, .n_pcs = (size_t)result.n_pcs};
    *out = &kept->numbers;
    return QKS_OK;
}

qks_status qks_head_analyze(qks_moments *const *queries, qks_moments *const *keys, size_t groups,
                            int components, qks_head_numbers **out, qks_error *error)
{
    static const qks_head_row unknown = {
        .layer = QKS_BLANK, .head = QKS_BLANK, .k_head = QKS_BLANK, .rope = QKS_BLANK};
    *out = NULL;
    if (groups == 0 || groups > QKS_HEAD_GROUPS_MAX)
        return qks_fail(error, QKS_USAGE, "%zu groups of documents; there are 1 to %d", groups,
                        QKS_HEAD_GROUPS_MAX);
    if (components < 0 || components > QKS_DIMENSION_MAX)
        return qks_fail(error, QKS_USAGE, "%d components; 0 to %d can be asked for", components,
                        QKS_DIMENSION_MAX);
    for (size_t g = 0; g < groups; g++)
        if (queries[g]->d != queries[0]->d || keys[g]->d != queries[0]->d)
            return qks_fail(error, QKS_USAGE,
                            "group %zu has queries of dimension %d and keys of dimension %d; all "
                            "must be of one, %d",
                            g, queries[g]->d, keys[g]->d, queries[0]->d);
    return numbers_of(&unknown, queries, keys, (int)groups, components, out, error);
}

void qks_head_numbers_free(qks_head_numbers *numbers)
{
    if (!numbers)
        return;
    arena_free(&((kept_numbers *)numbers)->memory);
    free(numbers);
}
