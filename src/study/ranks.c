/* ranks.c: Open MPI, or its absence. A message is a fixed head, then bytes if the head says so. */
#include "study/ranks.h"

#include "base/file.h"
#include "base/folder.h"
#include "study/local.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef QKS_HAVE_MPI
#include <mpi.h>

enum { TAG_HEAD = 1, TAG_BODY, TAG_JOB, KEY_BYTES = 64, WAIT = 50, PART = 1 << 28 };

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

/* mpirun and Slurm's srun say so in the environment; without them MPI is not even started. */
static bool under_mpirun(void)
{
    static const char *const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (getenv(signs[i]))
            return true;
    return false;
}

/* MPI's own waiting keeps a core busy, which others have work for. */
static void nap(void)
{
    const struct timespec a_millisecond = {.tv_nsec = 1000000};
    (void)nanosleep(&a_millisecond, NULL);
}

static bool has_come(int from, int tag, int *who)
{
    int found = 0;
    MPI_Status status;
    (void)MPI_Iprobe(from, tag, MPI_COMM_WORLD, &found, &status);
    if (found && who)
        *who = status.MPI_SOURCE;
    return found;
}

/* ---- rank 0 ---- */

qks_status ranks_open(ranks *r, qks_error *error)
{
    *r = (ranks){.count = 1};
    if (!under_mpirun())
        return QKS_OK;
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return qks_fail(error, QKS_IO, "MPI does not start");
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &r->count);
    r->at_work = r->rank == 0 ? r->count - 1 : 0;
    r->told = calloc((size_t)r->count, sizeof *r->told);
    if (!r->told)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return QKS_OK;
}

void ranks_close(ranks *r)
{
    if (!r->told)
        return;
    for (int i = 1; r->rank == 0 && i < r->count; i++)
        if (!r->told[i])
            ranks_send(r, i, 0, 0, NULL);
    while (r->at_work > 0) {
        rank_message m;
        if (ranks_hear(r, &m))
            rank_message_free(&m);
        else
            nap();
    }
    free(r->told);
    r->told = NULL;
    (void)MPI_Finalize();
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
    int from = 0;
    if (r->count < 2 || !has_come(MPI_ANY_SOURCE, TAG_HEAD, &from))
        return false;
    head h;
    (void)MPI_Recv(&h, sizeof h, MPI_BYTE, from, TAG_HEAD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *m = (rank_message){.rank = from,
                        .kind = (rank_kind)h.kind,
                        .model = h.model,
                        .group = h.group,
                        .work = h.work,
                        .seconds = h.seconds,
                        .length = h.length,
                        .bytes = calloc(h.length + 1, 1)};
    if (!m->bytes)
        MPI_Abort(MPI_COMM_WORLD, 1); /* the unit cannot be taken; a rerun goes on from here */
    pass_body(m->bytes, h.length, from, false);
    if (m->kind == RANK_GONE) {
        r->at_work--;
        if (!r->told[from])
            ranks_send(r, from, 0, 0, NULL);
    }
    return true;
}

void rank_message_free(rank_message *m)
{
    free(m->bytes);
}

void ranks_send(ranks *r, int rank, size_t model, size_t group, const char *key)
{
    job j = {.model = model, .group = group};
    (void)snprintf(j.key, sizeof j.key, "%s", key ? key : "");
    r->told[rank] = key == NULL;
    (void)MPI_Send(&j, sizeof j, MPI_BYTE, rank, TAG_JOB, MPI_COMM_WORLD);
}

/* ---- the other side ---- */

static void say(head h, const char *body)
{
    (void)MPI_Send(&h, sizeof h, MPI_BYTE, 0, TAG_HEAD, MPI_COMM_WORLD);
    pass_body((char *)(uintptr_t)body, h.length, 0, true);
}

static void say_text(rank_kind kind, const job *j, const char *words)
{
    say((head){.kind = (int32_t)kind,
               .model = j ? j->model : 0,
               .group = j ? j->group : 0,
               .length = strlen(words)},
        words);
}

static job next_job(void)
{
    job j;
    while (!has_come(0, TAG_JOB, NULL))
        nap();
    (void)MPI_Recv(&j, sizeof j, MPI_BYTE, 0, TAG_JOB, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return j;
}

/* A unit to be made, and the file it is made in. */
typedef struct errand {
    job job;
    char *path; /* [PATH_MAX] */
} errand;

/* In a folder of this rank, which goes with whatever a dead worker left in it. */
static qks_status begin(const plan *p, local *l, errand *e, const char *folder, qks_error *error)
{
    (void)snprintf(e->path, PATH_MAX, "%s/%s.unit", folder, e->job.key);
    text_clear(&l->reason);
    qks_status status = folder_make(folder, error);
    if (status == QKS_OK)
        status = local_begin(l, p, e->job.model, e->job.group, e->job.key, e->path, error);
    if (status != QKS_OK)
        local_drop(l);
    return status;
}

/* What comes from rank 0 while a unit is at work can only be that it is not wanted any more. */
static qks_status await(const plan *p, local *l, qks_error *error)
{
    qks_status status = QKS_OK;
    while (status == QKS_OK && l->busy) {
        local_event event = LOCAL_NOTHING;
        status = local_step(l, WAIT, &event, error);
        if (event == LOCAL_PROGRESS)
            say((head){.kind = RANK_PROGRESS, .work = l->work}, NULL);
        if (l->busy && (plan_stopped(p) || has_come(0, TAG_JOB, NULL))) {
            status = qks_fail(error, QKS_INTERRUPTED, "interrupted");
            local_drop(l);
        }
    }
    return status;
}

/* Makes the unit and hands it over, while the worker is at the next one already. */
static void serve_unit(const plan *p, local *l, errand *now, errand *next, const char *folder)
{
    char *bytes = NULL;
    size_t length = 0;
    qks_error error = {QKS_OK, ""};
    qks_status status = l->busy ? QKS_OK : begin(p, l, now, folder, &error);
    if (status == QKS_OK)
        status = await(p, l, &error);
    if (status == QKS_OK && l->reason.length == 0)
        status = file_get(now->path, SIZE_MAX / 2, &bytes, &length, &error);
    file_remove(now->path);
    if (!l->open)
        folder_remove(folder);
    head done = {.kind = RANK_DONE,
                 .model = now->job.model,
                 .group = now->job.group,
                 .length = length,
                 .seconds = l->seconds};
    if (bytes)
        say_text(RANK_READY, NULL, "");
    else if (status != QKS_INTERRUPTED)
        say_text(RANK_FAILED, &now->job,
                 status == QKS_OK ? text_string(&l->reason) : error.message);
    next->job = next_job();
    if (bytes && next->job.key[0])
        (void)begin(p, l, next, folder, &error); /* a failure comes again, and is told then */
    if (bytes)
        say(done, bytes);
    free(bytes);
}

void ranks_serve(const ranks *r, const plan *p, const char *why)
{
    (void)r;
    local l;
    const char *temporary = getenv("TMPDIR");
    char folder[PATH_MAX / 2], paths[2][PATH_MAX];
    if (!p) {
        say_text(RANK_GONE, NULL, why);
        (void)next_job();
        return;
    }
    (void)snprintf(folder, sizeof folder, "%s/qkscope-%ld",
                   temporary && *temporary ? temporary : "/tmp", (long)getpid());
    local_open(&l);
    say_text(RANK_READY, NULL, "");
    errand errands[2] = {{.job = next_job(), .path = paths[0]}, {.path = paths[1]}};
    for (int now = 0; errands[now].job.key[0]; now = !now)
        serve_unit(p, &l, &errands[now], &errands[!now], folder);
    local_close(&l);
    folder_remove(folder);
    say_text(RANK_GONE, NULL, "");
}

#else

qks_status ranks_open(ranks *r, qks_error *error)
{
    (void)error;
    *r = (ranks){.count = 1};
    return QKS_OK;
}

void ranks_close(ranks *r)
{
    (void)r;
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

void ranks_send(ranks *r, int rank, size_t model, size_t group, const char *key)
{
    (void)r, (void)rank, (void)model, (void)group, (void)key;
}

void ranks_serve(const ranks *r, const plan *p, const char *why)
{
    (void)r, (void)p, (void)why;
}

#endif
