/* capture.c: qkscope capture. */
#include "cli.h"

#include "qkscope/capture.h"
#include "qkscope/isolate.h"

#include <inttypes.h>
#include <stdio.h>

static const cli_option OPTIONS[] = {
    {"--text", "CORPUS", ".txt, .jsonl, .csv, .parquet, or a folder of them (required)"},
    {"--out", "DIR", "folder for what is captured (required)"},
    {"--column", "NAME", "the corpus' text column (default: text, or the only one)"},
    {"--id", "NAME", "its id column (default: id, else the row number)"},
    {"--limit", "N", "read N rows at most"},
    {"--tokenizer", "PATH", "tokenizer.json, or a model that has one (default: MODEL)"},
    {"--no-special", NULL, "leave out what the tokenizer adds around a text"},
    {"--max-length", "N", "tokens per document at most (default: the model's context)"},
    {"--heads", "all|N", "query heads, N drawn as the reference draws them (default all)"},
    {"--seed", "N", "of the draw (default 0)"},
    {"--layers", "LIST", "such as 0,3,8-11 (default all)"},
    {"--full-attention-only", NULL, "no heads of layers with a sliding window"},
    {"--sampler", "all|uniform|log_uniform", "which positions (default all)"},
    {"--bucket", "N", "positions per bucket (default: max length / 16)"},
    {"--rate", "R", "positions kept per bucket by uniform and log_uniform (default 1)"},
    {"--keep", "moments|vectors|both", "what is written (default moments)"},
    {"--groups", "N|document", "document groups for error bars (default 20)"},
    {"--pairs", "N|none", "key pairs per bucket for plasticity (default 256)"},
    {"--pre-rope", NULL, "queries and keys before the rotary embedding"},
    {"--model", "NAME", "the model's name in tables (default: from MODEL)"},
    {"--rope-theta", "X", "in place of the config's"},
    {"--rope-scaling", "JSON", "in place of the config's rope_scaling"},
    {"--backend", "NAME", "cpu (default), rpc:HOST:PORT, or a device of ggml's"},
    {"--threads", "N", "default: all cores"},
    {"--chunk", "N", "tokens that go through a layer at once (default 1536)"},
    {"--memory", "SIZE", "for documents in hand, such as 8G (default: half of what is free)"},
    {NULL, NULL, NULL},
};

static qks_status take_numbers(const cli_arguments *a, qks_capture_options *o, qks_error *error)
{
    int64_t length = 0, heads = 0, bucket = 0, threads = 0, chunk = 0;
    const struct {
        const char *option, *word;
        int64_t means, most, *value;
    } numbers[] = {
        {"--limit", NULL, 0, INT64_MAX, &o->limit},
        {"--max-length", NULL, 0, INT32_MAX, &length},
        {"--heads", "all", 0, INT32_MAX - 1, &heads},
        {"--bucket", NULL, 0, INT32_MAX, &bucket},
        {"--groups", "document", -1, 1 << 20, &o->groups},
        {"--pairs", "none", -1, 1 << 20, &o->pairs},
        {"--threads", NULL, 0, 1024, &threads},
        {"--chunk", NULL, 0, 1 << 20, &chunk},
    };
    qks_status status = argument_number(a, "--seed", 0, INT64_MAX, &o->seed, error);
    for (size_t i = 0; status == QKS_OK && i < sizeof numbers / sizeof *numbers; i++)
        status = argument_number_or(a, numbers[i].option, numbers[i].word, numbers[i].means,
                                    numbers[i].most, numbers[i].value, error);
    o->max_length = (int32_t)length;
    o->heads = (int32_t)heads;
    o->bucket = (int32_t)bucket;
    o->threads = (int)threads;
    o->chunk = (int)chunk;
    return status;
}

static qks_status take_options(const cli_arguments *a, qks_capture_options *o, qks_error *error)
{
    static const char *const keeps[] = {"moments", "vectors", "both", NULL};
    static const char *const samplers[] = {"all", "uniform", "log_uniform", NULL};
    int keep = 0, sampler = 0;
    *o = (qks_capture_options){
        .text = argument(a, "--text"),
        .text_column = argument(a, "--column"),
        .id_column = argument(a, "--id"),
        .tokenizer = argument(a, "--tokenizer"),
        .no_special = argument_set(a, "--no-special"),
        .layers = argument(a, "--layers"),
        .full_attention_only = argument_set(a, "--full-attention-only"),
        .pre_rope = argument_set(a, "--pre-rope"),
        .model_name = argument(a, "--model"),
        .rope_scaling = argument(a, "--rope-scaling"),
        .backend = argument(a, "--backend"),
        .progress = stderr,
    };
    qks_status status = take_numbers(a, o, error);
    if (status == QKS_OK)
        status = argument_choice(a, "--keep", keeps, &keep, error);
    if (status == QKS_OK)
        status = argument_choice(a, "--sampler", samplers, &sampler, error);
    if (status == QKS_OK)
        status = argument_real(a, "--rate", &o->rate, error);
    if (status == QKS_OK)
        status = argument_real(a, "--rope-theta", &o->rope_theta, error);
    if (status == QKS_OK)
        status = argument_size(a, "--memory", &o->memory, error);
    o->keep = (qks_keep)keep;
    o->sampler = (qks_sampler)sampler;
    if (status == QKS_OK && argument_set(a, "--rate") && o->sampler == QKS_SAMPLE_ALL)
        return qks_fail(error, QKS_USAGE, "--rate goes with --sampler uniform or log_uniform");
    if (status == QKS_OK && !o->text)
        return qks_fail(error, QKS_USAGE, "which text? give --text CORPUS");
    if (status == QKS_OK && !argument_set(a, "--out"))
        return qks_fail(error, QKS_USAGE, "where to? give --out DIR");
    return status;
}

static void warn(int64_t count, const char *what)
{
    if (count)
        (void)fprintf(stderr, "qkscope: %" PRId64 " document%s %s\n", count, count == 1 ? "" : "s",
                      what);
}

static void warn_of_length(const qks_capture_report *r, bool stretched)
{
    char what[160];
    (void)snprintf(what, sizeof what, "longer than the maximum of %" PRId64 " tokens, cut there",
                   r->max_length);
    warn(r->truncated, what);
    (void)snprintf(what, sizeof what,
                   "longer than the model's context of %" PRId64
                   " tokens: it was not trained on such positions",
                   r->context);
    warn(stretched ? 0 : r->beyond_context, what);
}

static qks_status run_capture(const cli_arguments *a, qks_error *error)
{
    qks_capture_options options;
    qks_capture_report r;
    const char *out = argument(a, "--out");
    qks_status status = take_options(a, &options, error);
    if (status == QKS_OK)
        status = qks_isolate(out, options.backend, error);
    if (status == QKS_OK)
        status = qks_capture(a->operands[0], out, &options, &r, error);
    if (status != QKS_OK)
        return status;
    (void)fprintf(stderr,
                  "qkscope: %" PRId64 " document%s, %" PRId64
                  " tokens, %zu query and %zu key heads captured in %s\n",
                  r.documents, r.documents == 1 ? "" : "s", r.tokens, r.query_heads, r.key_heads,
                  out);
    warn_of_length(&r, options.rope_scaling || options.rope_theta > 0);
    warn(r.too_short, "shorter than 2 tokens, skipped");
    warn(r.empty, "without text, skipped");
    warn(r.not_utf8, "not UTF-8, skipped");
    return QKS_OK;
}

const cli_verb VERB_CAPTURE = {
    .name = "capture",
    .operands = "MODEL",
    .summary = "run a checkpoint over text, keep moments of queries and keys",
    .about =
        "MODEL is a directory with config.json and safetensors, a .gguf file, or "
        "org/name[@revision]\n"
        "in the local Hugging Face cache. Every token of every document counts; no vector is kept\n"
        "unless --keep says so. Then: qkscope analyze DIR --out TABLES.\n"
        "\n"
        "  qkscope capture SmolLM2-135M/ --text books.parquet --out captured\n"
        "  qkscope capture Qwen/Qwen3-0.6B --text long.jsonl --heads 300 --max-length 131072 \\\n"
        "      --rope-scaling '{\"rope_type\": \"yarn\", \"factor\": 4.0,\n"
        "      \"original_max_position_embeddings\": 32768}' --out captured\n"
        "  qkscope capture model.gguf --text notes.txt --keep both --layers 0-3 --out captured\n",
    .options = OPTIONS,
    .least = 1,
    .most = 1,
    .computes = true,
    .run = run_capture,
};
