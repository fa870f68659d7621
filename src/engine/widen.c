/* widen.c: ggml's conversions, and for float16 its cpu backend's, which is eight times as fast. */
#include "engine/widen.h"

#include <ggml-cpu.h>
#include <ggml.h>
#include <string.h>

static void from_f32(const void *from, float *to, int64_t n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

static void from_f16(const void *from, float *to, int64_t n)
{
    ggml_cpu_fp16_to_fp32(from, to, n);
}

static ggml_to_float_t conversion(const weight *t)
{
    switch (t->type) {
    case GGML_TYPE_F32:
        return from_f32;
    case GGML_TYPE_F16:
        return from_f16;
    default:
        return ggml_get_type_traits((enum ggml_type)t->type)->to_float;
    }
}

qks_status widen_check(const weight *t, qks_error *error)
{
    if (conversion(t))
        return QKS_OK;
    return qks_fail(error, QKS_UNSUPPORTED, "tensor '%s': no conversion from %s to float32",
                    t->name, ggml_type_name((enum ggml_type)t->type));
}

void widen_part(const weight *t, int64_t row, int64_t column, int64_t n, float *to)
{
    const char *from = (const char *)t->data + (size_t)row * t->row_bytes;
    conversion(t)(from + ggml_row_size((enum ggml_type)t->type, column), to, n);
}
