/* The engine on a device whose memory is not ours: a ggml RPC server on loopback gives the same
 * queries and keys as the cpu backend, which the fixtures vouch for. */
#include "testing.h"

#include "engine/engine.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ggml-backend.h>
#include <ggml-rpc.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOKENS = 96, CHUNK = 40, WAIT_TRIES = 500, WAIT_MICROSECONDS = 20000 };
static const double TOLERANCE = 1e-4; /* float32 throughout, as the fixtures' own */

typedef struct server {
    pid_t process;
    char backend[64]; /* "rpc:127.0.0.1:PORT" */
} server;

static int free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    int s = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(s >= 0);
    assert_int_equal(bind(s, (struct sockaddr *)&at, size), 0);
    assert_int_equal(getsockname(s, (struct sockaddr *)&at, &size), 0);
    (void)close(s);
    return ntohs(at.sin_port);
}

static bool answers(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)},
                             .sin_port = htons((uint16_t)port)};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    bool yes = s >= 0 && connect(s, (struct sockaddr *)&at, sizeof at) == 0;
    (void)close(s);
    return yes;
}

static void serve(int port)
{
    char endpoint[32];
    (void)snprintf(endpoint, sizeof endpoint, "127.0.0.1:%d", port);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    ggml_backend_rpc_start_server(endpoint, NULL, 1, 1, &cpu);
    _exit(1);
}

static void server_start(server *s)
{
    int port = free_port();
    (void)snprintf(s->backend, sizeof s->backend, "rpc:127.0.0.1:%d", port);
    s->process = fork();
    assert_true(s->process >= 0);
    if (s->process == 0)
        serve(port);
    int tries = 0;
    while (!answers(port) && tries++ < WAIT_TRIES)
        (void)usleep(WAIT_MICROSECONDS);
    assert_true(tries < WAIT_TRIES);
}

static void server_stop(const server *s)
{
    (void)kill(s->process, SIGKILL);
    (void)waitpid(s->process, NULL, 0);
}

typedef struct taken { /* everything an engine gave, in order */
    ARRAY_OF(float) values;
    size_t q_width, k_width; /* numbers per token */
} taken;

static qks_status take(void *context, const engine_rows *rows, qks_error *error)
{
    taken *t = context;
    size_t q = (size_t)rows->n * t->q_width, k = (size_t)rows->n * t->k_width;
    qks_status status = array_reserve(&t->values, q + k, error);
    if (status != QKS_OK)
        return status;
    memcpy(t->values.data + t->values.length, rows->q, q * sizeof *rows->q);
    memcpy(t->values.data + t->values.length + q, rows->k, k * sizeof *rows->k);
    t->values.length += q + k;
    return QKS_OK;
}

static void run_on(const char *backend, const char *model, taken *out)
{
    qks_error error;
    architecture a;
    weights *w = NULL;
    engine *e = NULL;
    rope_override none = {0};
    int32_t ids[TOKENS];
    for (int i = 0; i < TOKENS; i++)
        ids[i] = (i * 37 + 11) % 250;
    assert_ok(weights_open(&w, &a, model, &none, &error), &error);
    engine_options how = {.backend = backend, .threads = 1, .chunk = CHUNK};
    assert_ok(engine_open(&e, &a, w, &how, &error), &error);
    /* one in stretches, and two that go through a layer together */
    const engine_document documents[] = {{ids, TOKENS}, {ids + 3, 5}, {ids + 1, CHUNK - 5}};
    assert_int_equal(engine_together(e, documents + 1, 2), 2);
    engine_task task = {.documents = documents, .count = 3};
    out->q_width = (size_t)a.q_heads * (size_t)a.head_dim;
    out->k_width = (size_t)a.kv_heads * (size_t)a.head_dim;
    assert_ok(engine_run(e, &task, take, out, &error), &error);
    engine_close(e);
    weights_close(w);
    architecture_close(&a);
}

static void compare_with_cpu(const char *backend, const char *model)
{
    taken here = {0}, there = {0};
    run_on(NULL, model, &here);
    run_on(backend, model, &there);
    assert_true(here.values.length > 0);
    assert_int_equal(here.values.length, there.values.length);
    double largest = 0, worst = 0;
    for (size_t i = 0; i < here.values.length; i++) {
        largest = fmax(largest, fabs((double)here.values.data[i]));
        worst = fmax(worst, fabs((double)here.values.data[i] - (double)there.values.data[i]));
    }
    assert_true(worst <= TOLERANCE * largest);
    free(here.values.data);
    free(there.values.data);
}

static void test_rpc_agrees_with_cpu(void **state)
{
    const server *s = *state;
    compare_with_cpu(s->backend, "data/models/llama-gqa");
    compare_with_cpu(s->backend, "data/models/mistral-window");
    compare_with_cpu(s->backend, "data/models/ministral3"); /* queries scaled by position */
}

static void test_unknown_backend_is_refused(void **state)
{
    (void)state;
    qks_error error;
    architecture a;
    weights *w = NULL;
    engine *e = NULL;
    rope_override none = {0};
    assert_ok(weights_open(&w, &a, "data/models/llama-gqa", &none, &error), &error);
    engine_options how = {.backend = "abacus"};
    assert_fails(engine_open(&e, &a, w, &how, &error), QKS_USAGE, &error,
                 "there is no backend 'abacus' here");
    weights_close(w);
    architecture_close(&a);
}

static int start(void **state)
{
    static server s;
    server_start(&s);
    *state = &s;
    return 0;
}

static int stop(void **state)
{
    server_stop(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rpc_agrees_with_cpu),
        cmocka_unit_test(test_unknown_backend_is_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
