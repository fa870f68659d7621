/* sandbox.h: gives up, for good, what a process does not need: writing outside of some folders,
 * running programs, the network. On Linux by Landlock (files) and seccomp (the rest), as far as the
 * kernel has them; elsewhere not at all, and sandbox_name() says so. */
#ifndef QKS_BASE_SANDBOX_H
#define QKS_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/* What is given up here: "landlock 7, seccomp", "seccomp", "none". With QKSCOPE_ISOLATION=none in
 * the environment nothing is. */
const char *sandbox_name(void);

/* Writing stays possible below the `count` folders (those that are there); reading everywhere. The
 * network stays if `network`. To be called while the process has one thread. What the kernel does
 * not have is left out; false if it has something and refuses it. */
bool sandbox_enter(const char *const *folders, size_t count, bool network);

#endif
