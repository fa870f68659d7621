/* tokenize.c: qkscope tokenize. */
#include "cli.h"

#include "qkscope/tokenize.h"

#include <stdio.h>

static const cli_option OPTIONS[] = {
    {"--text", "CORPUS", ".txt, .jsonl, .csv, .parquet, or a folder of them (required)"},
    {"--no-special", NULL, "leave out what the post-processor adds (BOS and the like)"},
    {"--column", "NAME", "column of the texts (default: text, or the only text column)"},
    {"--id", "NAME", "column of the ids (default: id, else the row number)"},
    {"--limit", "N", "rows at most"},
    {NULL, NULL, NULL},
};

static qks_status run_tokenize(const cli_arguments *a, qks_error *error)
{
    qks_tokenize_options options = {.column = argument(a, "--column"),
                                    .id = argument(a, "--id"),
                                    .no_special = argument_set(a, "--no-special")};
    qks_status status = argument_number(a, "--limit", 1, INT64_MAX, &options.limit, error);
    if (status == QKS_OK && !argument_set(a, "--text"))
        status = qks_fail(error, QKS_USAGE, "which text? give --text CORPUS");
    if (status != QKS_OK)
        return status;
    return qks_tokenize(a->operands[0], argument(a, "--text"), &options, stdout, NULL, error);
}

const cli_verb VERB_TOKENIZE = {
    .name = "tokenize",
    .operands = "TOKENIZER",
    .summary = "text to token ids",
    .about = "Prints {\"id\": ..., \"ids\": [...]} for each row of CORPUS, with the ids that the\n"
             "tokenizers library gives. TOKENIZER is a tokenizer.json, a model's folder, a .gguf "
             "file, or\n"
             "org/name[@revision] in the local Hugging Face cache.\n"
             "\n"
             "  qkscope tokenize SmolLM3-3B --text books.parquet\n"
             "  qkscope tokenize model.gguf --text notes.txt --no-special\n",
    .options = OPTIONS,
    .least = 1,
    .most = 1,
    .run = run_tokenize,
};
