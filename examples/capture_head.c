/* capture_head.c: capture one head of a model over a text and print where it keeps position.
 *
 *     capture_head MODEL TEXT LAYER HEAD FOLDER
 *
 * MODEL is a folder with config.json and safetensors, a .gguf file, or org/name in the Hugging Face
 * cache; the moments of the head's queries and keys go to FOLDER. */
#include <qkscope/qkscope.h>

#include <stdio.h>
#include <stdlib.h>

static void print_components(const qks_head_numbers *numbers)
{
    printf("layer %d, head %d: %s\n", (int)numbers->head.layer, (int)numbers->head.head,
           numbers->head.class_name);
    printf("%3s %9s %14s %14s\n", "pc", "variance", "r_q", "r_k");
    for (size_t i = 0; i < numbers->n_pcs; i++) {
        const qks_qk_row *pc = &numbers->pcs[i];
        printf("%3d %9.4f %6.3f +- %.3f %6.3f +- %.3f\n", (int)pc->pc, pc->explained_variance,
               pc->r_q, pc->se_r_q, pc->r_k, pc->se_r_k);
    }
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        (void)fprintf(stderr, "usage: capture_head MODEL TEXT LAYER HEAD FOLDER\n");
        return 2;
    }
    qks_head head = {.layer = (int32_t)strtol(argv[3], NULL, 10),
                     .head = (int32_t)strtol(argv[4], NULL, 10)};
    qks_capture_options options = {.text = argv[2], .chosen = &head, .n_chosen = 1};
    qks_captured *captured = NULL;
    qks_head_numbers *numbers = NULL;
    qks_error error;

    qks_status status = qks_capture(argv[1], argv[5], &options, NULL, &error);
    if (status == QKS_OK)
        status = qks_captured_open(&captured, argv[5], NULL, &error);
    if (status == QKS_OK)
        status = qks_captured_head(captured, head, 3, &numbers, &error);
    if (status == QKS_OK)
        print_components(numbers);
    else
        (void)fprintf(stderr, "capture_head: %s\n", error.message);
    qks_head_numbers_free(numbers);
    qks_captured_close(captured);
    return status == QKS_OK ? 0 : 1;
}
