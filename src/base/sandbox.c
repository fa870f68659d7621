/* sandbox.c: Landlock and seccomp by their system calls; no library is needed. */
#include "base/sandbox.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool switched_off(void)
{
    const char *wish = getenv("QKSCOPE_ISOLATION");
    return wish && strcmp(wish, "none") == 0;
}

#if defined(__linux__) && __has_include(<linux/landlock.h>) && \
    (defined(__x86_64__) || defined(__aarch64__))

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define NUMBERS_END 0x40000000u /* from here on: the same calls with 32-bit pointers */
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define NUMBERS_END UINT32_MAX
#endif

/* ---- Landlock: files ---- */

enum { ABI_REFER = 2, ABI_TRUNCATE = 3 };
#define ACCESS_TRUNCATE (UINT64_C(1) << 14) /* not in the header of Linux 6.1 */

static int landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

static uint64_t all_writing(int version)
{
    uint64_t rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                      LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                      LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                      LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                      LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
    if (version >= ABI_REFER)
        rights |= LANDLOCK_ACCESS_FS_REFER;
    return version >= ABI_TRUNCATE ? rights | ACCESS_TRUNCATE : rights;
}

static bool allow_below(int rules, const char *folder, uint64_t rights)
{
    int place = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place < 0)
        return errno == ENOENT;
    struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = place};
    bool fine = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    (void)close(place);
    return fine;
}

/* Running programs is given up everywhere, so that right is in no rule. */
static bool restrict_files(const char *const *folders, size_t count, int version)
{
    uint64_t rights = all_writing(version);
    struct landlock_ruleset_attr handled = {.handled_access_fs = rights |
                                                                 LANDLOCK_ACCESS_FS_EXECUTE};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &handled,
                             sizeof handled.handled_access_fs, 0);
    bool fine = rules >= 0;
    for (size_t i = 0; fine && i < count; i++)
        fine = allow_below(rules, folders[i], rights);
    fine = fine && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    if (rules >= 0)
        (void)close(rules);
    return fine;
}

/* ---- seccomp: network and programs ---- */

static bool seccomp_there(void)
{
    uint32_t action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define GIVE(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define REFUSE (SECCOMP_RET_ERRNO | (EACCES & SECCOMP_RET_DATA))

/* io_uring is refused because it opens sockets by other calls. Sockets within the machine stay: the
 * C library asks its name service by them. */
static bool restrict_calls(bool network)
{
    struct sock_filter filter[] = {
        LOAD(arch),
        IF_EQUAL(ARCHITECTURE, 1, 0),
        GIVE(REFUSE),
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NUMBERS_END, 6, 0),
        IF_EQUAL(SYS_execve, 5, 0),
        IF_EQUAL(SYS_execveat, 4, 0),
        IF_EQUAL(SYS_io_uring_setup, 3, 0),
        IF_EQUAL(network ? UINT32_MAX : SYS_socket, 0, 3),
        LOAD(args[0]), /* the low half: little-endian on both machines */
        IF_EQUAL(AF_UNIX, 1, 0),
        GIVE(REFUSE),
        GIVE(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

const char *sandbox_name(void)
{
    static char name[48];
    int version = landlock_version();
    bool calls = seccomp_there();
    if (switched_off() || (version == 0 && !calls))
        return "none";
    if (version == 0)
        return "seccomp";
    (void)snprintf(name, sizeof name, "landlock %d%s", version, calls ? ", seccomp" : "");
    return name;
}

bool sandbox_enter(const char *const *folders, size_t count, bool network)
{
    int version = landlock_version();
    bool calls = seccomp_there();
    if (switched_off() || (version == 0 && !calls))
        return true;
    bool fine = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (fine && version > 0)
        fine = restrict_files(folders, count, version);
    if (fine && calls)
        fine = restrict_calls(network);
    return fine;
}

#else

const char *sandbox_name(void)
{
    (void)switched_off;
    return "none";
}

bool sandbox_enter(const char *const *folders, size_t count, bool network)
{
    (void)folders, (void)count, (void)network;
    return true;
}

#endif
