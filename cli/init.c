/* init.c: qkscope init. */
#include "cli.h"

#include "qkscope/init.h"

#include <stdio.h>
#include <stdlib.h>

static const cli_option OPTIONS[] = {
    {"--text", "CORPUS", "what the models shall read (default: the only corpus in FOLDER)"},
    {"--out", "FILE", "the study file to write (default: FOLDER/study.yaml)"},
    {"--column", "NAME", "the corpus' text column (default: text)"},
    {"--id", "NAME", "its id column (default: id, else the row number)"},
    {"--tokenizer", "PATH|none", "for checkpoints without one (default: as found)"},
    {"--kind", "training|models", "default: by names and shapes"},
    {NULL, NULL, NULL},
};

static qks_status run_init(const cli_arguments *a, qks_error *error)
{
    qks_init_options options = {.out = argument(a, "--out"),
                                .text = argument(a, "--text"),
                                .column = argument(a, "--column"),
                                .id = argument(a, "--id"),
                                .tokenizer = argument(a, "--tokenizer"),
                                .kind = argument(a, "--kind")};
    qks_init_report r;
    qks_status status = qks_init(a->operands[0], &options, &r, error);
    if (status != QKS_OK)
        return status;
    (void)fprintf(stderr, "qkscope: %zu %s%s in %s; look it over, then: qkscope check %s\n",
                  r.models, r.training ? "checkpoint" : "model", r.models == 1 ? "" : "s", r.path,
                  r.path);
    if (r.left_out)
        (void)fprintf(stderr,
                      "qkscope: warning: %zu that cannot be read %s left out; the file says "
                      "why\n",
                      r.left_out, r.left_out == 1 ? "is" : "are");
    free(r.path);
    return QKS_OK;
}

const cli_verb VERB_INIT = {
    .name = "init",
    .operands = "FOLDER",
    .summary = "write a study file for a folder of checkpoints",
    .about =
        "Looks for checkpoints in FOLDER and three levels below (Hugging Face directories, .gguf\n"
        "files, revisions in the Hugging Face cache) and writes a study file with comments:\n"
        "labels, order by the training step in their names, tokenizer, text. Checkpoints of one\n"
        "shape with steps make a study of training, others one of models. A file that is there\n"
        "is never overwritten.\n"
        "\n"
        "  qkscope init checkpoints/ --text books.parquet\n"
        "  qkscope init ~/models --text notes.txt --out study.yaml\n",
    .options = OPTIONS,
    .least = 1,
    .most = 1,
    .run = run_init,
};
