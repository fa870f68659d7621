/* device.c: which ggml backend computes. */
#include "engine/device.h"

#include "base/parallel.h"
#include "base/text.h"

#include <errno.h>
#include <ggml-cpu.h>
#include <ggml-rpc.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* "host:port"; ggml itself ends the program when it cannot connect. */
static qks_status check_server(const char *endpoint, qks_error *error)
{
    char host[256];
    const char *colon = strrchr(endpoint, ':');
    if (!colon || colon == endpoint || !colon[1] || (size_t)(colon - endpoint) >= sizeof host)
        return qks_fail(error, QKS_USAGE, "'%s' is no ggml RPC server; write rpc:HOST:PORT",
                        endpoint);
    (void)snprintf(host, sizeof host, "%.*s", (int)(colon - endpoint), endpoint);
    struct addrinfo how = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found = NULL;
    bool answers = false;
    int fault = getaddrinfo(host, colon + 1, &how, &found);
    for (struct addrinfo *at = fault ? NULL : found; at && !answers; at = at->ai_next) {
        int s = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        answers = s >= 0 && connect(s, at->ai_addr, at->ai_addrlen) == 0;
        if (!answers)
            fault = errno;
        if (s >= 0)
            (void)close(s);
    }
    const char *why = found ? strerror(fault) : gai_strerror(fault);
    if (found)
        freeaddrinfo(found);
    return answers
               ? QKS_OK
               : qks_fail(error, QKS_IO, "no ggml RPC server answers at '%s': %s", endpoint, why);
}

static qks_status open_server(device *d, const char *endpoint, qks_error *error)
{
    qks_status status = check_server(endpoint, error);
    if (status != QKS_OK)
        return status;
    d->backend = ggml_backend_rpc_init(endpoint, 0);
    return d->backend ? QKS_OK
                      : qks_fail(error, QKS_IO, "no ggml RPC server answers at '%s'", endpoint);
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
        return open_server(d, name + strlen(RPC_PREFIX), error);
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
