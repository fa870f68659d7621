/* ranks.c: Open MPI, or its absence. A message is a fixed head, then bytes if the head says so. */
#include "study/ranks.h"

#include "base/file.h"
#include "study/local.h"
#include "study/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef QKS_HAVE_MPI
#include <mpi.h>

enum { TAG_HEAD = 1, TAG_BODY, TAG_JOB, KEY_BYTES = 64, WAIT = 200, PART = 1 << 28 };

typedef struct head {
    int32_t kind;
    int32_t unused;
    uint64_t model, group, work, length;
    double seconds;
} head;

typedef struct job {
    uint64_t model, group;
    char key[KEY_BYTES]; /* "": no more units */
} job;

static bool started;

/* mpirun and Slurm's srun say so in the environment; without them MPI is not even started. */
static bool under_mpirun(void)
{
    static const char *const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (getenv(signs[i]))
            return true;
    return false;
}

qks_status ranks_open(int *rank, int *count, qks_error *error)
{
    *rank = 0;
    *count = 1;
    if (!under_mpirun())
        return QKS_OK;
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return qks_fail(error, QKS_IO, "MPI does not start");
    started = true;
    (void)MPI_Comm_rank(MPI_COMM_WORLD, rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, count);
    return QKS_OK;
}

void ranks_close(void)
{
    if (started)
        (void)MPI_Finalize();
    started = false;
}

qks_status ranks_begin(ranks *r, qks_error *error)
{
    (void)error;
    *r = (ranks){.count = 1};
    if (started)
        (void)MPI_Comm_size(MPI_COMM_WORLD, &r->count);
    r->at_work = r->count - 1;
    return QKS_OK;
}

/* Long bodies go in parts, since MPI counts in int. */
static void pass_body(char *bytes, uint64_t length, int rank, bool send)
{
    for (uint64_t at = 0; at < length; at += PART) {
        int n = (int)(length - at < PART ? length - at : PART);
        if (send)
            (void)MPI_Send(bytes + at, n, MPI_BYTE, rank, TAG_BODY, MPI_COMM_WORLD);
        else
            (void)MPI_Recv(bytes + at, n, MPI_BYTE, rank, TAG_BODY, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
    }
}

bool ranks_hear(ranks *r, rank_message *m)
{
    int found = 0;
    MPI_Status from;
    if (r->count < 2)
        return false;
    (void)MPI_Iprobe(MPI_ANY_SOURCE, TAG_HEAD, MPI_COMM_WORLD, &found, &from);
    if (!found)
        return false;
    head h;
    (void)MPI_Recv(&h, sizeof h, MPI_BYTE, from.MPI_SOURCE, TAG_HEAD, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    *m = (rank_message){.rank = from.MPI_SOURCE,
                        .kind = (rank_kind)h.kind,
                        .model = h.model,
                        .group = h.group,
                        .work = h.work,
                        .seconds = h.seconds,
                        .length = h.length};
    char *body = calloc(h.length + 1, 1);
    if (!body)
        MPI_Abort(MPI_COMM_WORLD, 1); /* the unit cannot be taken; a rerun goes on from here */
    pass_body(body, h.length, from.MPI_SOURCE, false);
    *(m->kind == RANK_FAILED ? &m->reason : &m->bytes) = body;
    return true;
}

void rank_message_free(rank_message *m)
{
    free(m->bytes);
    free(m->reason);
}

qks_status ranks_send(ranks *r, int rank, size_t model, size_t group, const char *key,
                      qks_error *error)
{
    job j = {.model = model, .group = group};
    (void)snprintf(j.key, sizeof j.key, "%s", key ? key : "");
    r->at_work -= key == NULL;
    return MPI_Send(&j, sizeof j, MPI_BYTE, rank, TAG_JOB, MPI_COMM_WORLD) == MPI_SUCCESS
               ? QKS_OK
               : qks_fail(error, QKS_IO, "rank %d cannot be reached", rank);
}

/* ---- the other side ---- */

static void say(head h, const char *body)
{
    (void)MPI_Send(&h, sizeof h, MPI_BYTE, 0, TAG_HEAD, MPI_COMM_WORLD);
    pass_body((char *)(uintptr_t)body, h.length, 0, true);
}

static qks_status compute(plan *p, local *l, const job *j, const char *path, qks_error *error)
{
    qks_status status = local_begin(l, p, j->model, j->group, j->key, path, error);
    while (status == QKS_OK && l->busy) {
        local_event event = LOCAL_NOTHING;
        status = local_step(l, WAIT, &event, error);
        if (event == LOCAL_PROGRESS)
            say((head){.kind = RANK_PROGRESS, .work = l->work}, NULL);
    }
    return status;
}

static qks_status serve_unit(plan *p, local *l, const job *j, qks_error *error)
{
    const char *folder = getenv("TMPDIR");
    char path[4096], *bytes = NULL;
    size_t length = 0;
    (void)snprintf(path, sizeof path, "%s/qkscope-%ld-%s.unit", folder ? folder : "/tmp",
                   (long)getpid(), j->key);
    qks_status status = compute(p, l, j, path, error);
    head h = {.model = j->model, .group = j->group};
    if (status == QKS_OK && l->reason.length == 0)
        status = file_get(path, SIZE_MAX / 2, &bytes, &length, error);
    file_remove(path);
    if (status == QKS_OK && bytes) {
        h.kind = RANK_DONE;
        h.length = length;
        h.seconds = l->seconds;
        say(h, bytes);
    } else {
        const char *reason = status == QKS_OK ? text_string(&l->reason) : error->message;
        h.kind = RANK_FAILED;
        h.length = strlen(reason);
        say(h, reason);
    }
    free(bytes);
    return QKS_OK;
}

qks_status ranks_serve(plan *p, qks_error *error)
{
    local l;
    job j;
    qks_error mine = {QKS_OK, ""};
    (void)error;
    local_open(&l);
    say((head){.kind = RANK_READY}, NULL);
    for (;;) {
        (void)MPI_Recv(&j, sizeof j, MPI_BYTE, 0, TAG_JOB, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (j.key[0] == '\0')
            break;
        (void)serve_unit(p, &l, &j, &mine);
    }
    local_close(&l);
    return QKS_OK;
}

#else

qks_status ranks_open(int *rank, int *count, qks_error *error)
{
    (void)error;
    *rank = 0;
    *count = 1;
    return QKS_OK;
}

void ranks_close(void)
{
}

qks_status ranks_begin(ranks *r, qks_error *error)
{
    (void)error;
    *r = (ranks){.count = 1};
    return QKS_OK;
}

bool ranks_hear(ranks *r, rank_message *m)
{
    (void)r, (void)m;
    return false;
}

void rank_message_free(rank_message *m)
{
    (void)m;
}

qks_status ranks_send(ranks *r, int rank, size_t model, size_t group, const char *key,
                      qks_error *error)
{
    (void)r, (void)rank, (void)model, (void)group, (void)key;
    return qks_fail(error, QKS_INTERNAL, "this build has no ranks");
}

qks_status ranks_serve(plan *p, qks_error *error)
{
    (void)p;
    return qks_fail(error, QKS_INTERNAL, "this build has no ranks");
}

#endif
