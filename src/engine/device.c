/* device.c: which ggml backend computes. */
#include "engine/device.h"

#include "base/parallel.h"
#include "base/text.h"

#include <ggml-cpu.h>
#include <ggml-rpc.h>
#include <string.h>

static const char RPC_PREFIX[] = "rpc:";

static qks_status unknown_device(const char *name, qks_error *error)
{
    text names = text_new(512);
    for (size_t i = 0; i < ggml_backend_dev_count(); i++)
        text_addf(&names, ", %s", ggml_backend_dev_name(ggml_backend_dev_get(i)));
    qks_status status = qks_fail(error, QKS_USAGE,
                                 "there is no backend '%s' here; there is cpu, rpc:HOST:PORT%s",
                                 name, text_string(&names));
    text_free(&names);
    return status;
}

qks_status device_open(device *d, const char *name, int threads, qks_error *error)
{
    *d = (device){.threads = parallel_threads(threads)};
    if (!name || strcmp(name, "cpu") == 0) {
        d->host = true;
        d->backend = ggml_backend_cpu_init();
        if (d->backend)
            ggml_backend_cpu_set_n_threads(d->backend, d->threads);
    } else if (strncmp(name, RPC_PREFIX, strlen(RPC_PREFIX)) == 0) {
        d->backend = ggml_backend_rpc_init(name + strlen(RPC_PREFIX), 0);
        if (!d->backend)
            return qks_fail(error, QKS_IO, "no ggml RPC server answers at '%s'",
                            name + strlen(RPC_PREFIX));
    } else {
        if (!ggml_backend_dev_by_name(name))
            return unknown_device(name, error);
        d->backend = ggml_backend_init_by_name(name, NULL);
    }
    if (!d->backend)
        return qks_fail(error, QKS_IO, "backend '%s' does not start", name ? name : "cpu");
    return QKS_OK;
}

void device_close(device *d)
{
    if (d->backend)
        ggml_backend_free(d->backend);
    *d = (device){0};
}
