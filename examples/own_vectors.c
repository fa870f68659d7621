/* own_vectors.c: analyse queries and keys that another program has in memory.
 *
 * Here they are made up: eight dimensions, documents of 100 tokens; queries drift with position
 * along axis 0, keys along the same axis the other way, and the rest is noise. */
#include <qkscope/head.h>

#include <stdio.h>
#include <stdlib.h>

enum { D = 8, TOKENS = 100, DOCUMENTS = 6 };

static void make_document(float drift, float vectors[TOKENS][D], int32_t positions[TOKENS])
{
    for (int t = 0; t < TOKENS; t++) {
        positions[t] = t;
        for (int i = 0; i < D; i++)
            vectors[t][i] = (float)rand() / (float)RAND_MAX - 0.5F;
        vectors[t][0] += drift * (float)t;
    }
}

static qks_status add_document(qks_moments **moments, float drift, qks_error *error)
{
    static float vectors[TOKENS][D];
    static int32_t positions[TOKENS];
    qks_status status = qks_moments_new(moments, D, error);
    if (status != QKS_OK)
        return status;
    make_document(drift, vectors, positions);
    return qks_moments_add_f32(*moments, TOKENS, vectors[0], positions, error);
}

int main(void)
{
    qks_moments *queries[DOCUMENTS] = {0}, *keys[DOCUMENTS] = {0}; /* apart, for error bars */
    qks_head_numbers *numbers = NULL;
    qks_error error;
    qks_status status = QKS_OK;
    for (int i = 0; i < DOCUMENTS && status == QKS_OK; i++) {
        status = add_document(&queries[i], 0.02F, &error);
        if (status == QKS_OK)
            status = add_document(&keys[i], -0.01F, &error);
    }
    if (status == QKS_OK)
        status = qks_head_analyze(queries, keys, DOCUMENTS, 0, &numbers, &error);
    if (status == QKS_OK)
        printf("PC0: variance %.3f  r_q %.3f +- %.3f  r_k %.3f +- %.3f  (%s)\n",
               numbers->pcs[0].explained_variance, numbers->pcs[0].r_q, numbers->pcs[0].se_r_q,
               numbers->pcs[0].r_k, numbers->pcs[0].se_r_k, numbers->head.class_name);
    else
        (void)fprintf(stderr, "own_vectors: %s\n", error.message);
    for (int i = 0; i < DOCUMENTS; i++) {
        qks_moments_free(queries[i]);
        qks_moments_free(keys[i]);
    }
    qks_head_numbers_free(numbers);
    return status == QKS_OK ? 0 : 1;
}
