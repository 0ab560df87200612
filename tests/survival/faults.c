/* Makes the n-th system call of a process fail, or kills the process there.

Loaded with LD_PRELOAD. It does nothing until `faults_arm` is called, and counts only calls that
change something below one folder: so the n-th of them is the same call in every run. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { KILL = -1, SHORT = -2 };

static char folder[PATH_MAX];
static size_t length;
static long fails_at;
static int how;
static int goes_on;
static int opens_only;
static long seen;
static char failed[PATH_MAX + 32];

/* Arm: from now on the `at`-th call below `below` fails with the error `error`, or the process is
killed there, or (a write) only half of it is done; `on`: all calls after it fail too; `opens`:
only files that are opened count, also for reading. */
void faults_arm(const char *below, long at, int error, int on, int opens) {
  snprintf(folder, sizeof folder, "%s", below);
  fails_at = at;
  how = error;
  goes_on = on;
  opens_only = opens;
  failed[0] = 0;
  __atomic_store_n(&seen, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&length, strlen(folder), __ATOMIC_SEQ_CST);
}

void faults_disarm(void) { __atomic_store_n(&length, 0, __ATOMIC_SEQ_CST); }

long faults_seen(void) { return __atomic_load_n(&seen, __ATOMIC_SEQ_CST); }

/* What was made to fail first: the call and its file. */
const char *faults_failed(void) { return failed; }

static int fails(const char *call, const char *path, int is_open) {
  if (!length || strncmp(path, folder, length) || (path[length] && path[length] != '/')) return 0;
  if (opens_only && !is_open) return 0;
  long number = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
  if (number != fails_at && !(goes_on && number > fails_at)) return 0;
  if (number == fails_at) snprintf(failed, sizeof failed, "%s %s", call, path);
  if (how == KILL) kill(getpid(), SIGKILL);
  return 1;
}

static int fails_fd(const char *call, int fd) {
  if (!length) return 0;
  int kept = errno;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, sizeof path - 1);
  errno = kept;
  if (size < 0) return 0;
  path[size] = 0;
  return fails(call, path, 0);
}

static int fails_at_path(const char *call, int dir, const char *name, int is_open) {
  if (!length || !name) return 0;
  if (name[0] == '/') return fails(call, name, is_open);
  int kept = errno;
  char link[64], path[PATH_MAX * 2];
  if (dir == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
  else snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
  ssize_t size = readlink(link, path, PATH_MAX - 1);
  errno = kept;
  if (size < 0) return 0;
  snprintf(path + size, sizeof path - (size_t)size, "/%s", name);
  return fails(call, path, is_open);
}

static int refused(void) {
  errno = how > 0 ? how : EIO;
  return -1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Writing: half of it is done where a short write was asked for. */

#define WRITES(name, parameters, real, half)                    \
  ssize_t name parameters {                                     \
    if (!fails_fd(#name, fd)) return REAL(name) real;           \
    if (how == SHORT && count > 1) return REAL(name) half;      \
    return refused();                                           \
  }
WRITES(write, (int fd, const void *data, size_t count), (fd, data, count), (fd, data, count / 2))
WRITES(pwrite, (int fd, const void *data, size_t count, off_t at), (fd, data, count, at),
       (fd, data, count / 2, at))
WRITES(pwrite64, (int fd, const void *data, size_t count, off64_t at), (fd, data, count, at),
       (fd, data, count / 2, at))

ssize_t writev(int fd, const struct iovec *parts, int count) {
  return fails_fd("writev", fd) ? refused() : REAL(writev)(fd, parts, count);
}

#define OF_FILE(name, parameters, real)                                  \
  int name parameters { return fails_fd(#name, fd) ? refused() : REAL(name) real; }
OF_FILE(fsync, (int fd), (fd))
OF_FILE(fdatasync, (int fd), (fd))
OF_FILE(ftruncate, (int fd, off_t size), (fd, size))
OF_FILE(ftruncate64, (int fd, off64_t size), (fd, size))
OF_FILE(fchmod, (int fd, mode_t mode), (fd, mode))

#define OF_PATH(name, dir, path, parameters, real)                                        \
  int name parameters { return fails_at_path(#name, dir, path, 0) ? refused() : REAL(name) real; }
OF_PATH(rename, AT_FDCWD, new, (const char *old, const char *new), (old, new))
OF_PATH(renameat, to, new, (int from, const char *old, int to, const char *new),
        (from, old, to, new))
OF_PATH(renameat2, to, new, (int from, const char *old, int to, const char *new, unsigned how2),
        (from, old, to, new, how2))
OF_PATH(link, AT_FDCWD, new, (const char *old, const char *new), (old, new))
OF_PATH(linkat, to, new, (int from, const char *old, int to, const char *new, int flags),
        (from, old, to, new, flags))
OF_PATH(unlink, AT_FDCWD, path, (const char *path), (path))
OF_PATH(unlinkat, dir, path, (int dir, const char *path, int flags), (dir, path, flags))
OF_PATH(rmdir, AT_FDCWD, path, (const char *path), (path))
OF_PATH(mkdir, AT_FDCWD, path, (const char *path, mode_t mode), (path, mode))
OF_PATH(mkdirat, dir, path, (int dir, const char *path, mode_t mode), (dir, path, mode))

/* Opening counts where it may make a file; where only opening counts, all of it does. */

#define COUNTS(flags) (opens_only || ((flags) & (O_CREAT | O_TRUNC)))
#define OPENS(name)                                                               \
  int name(const char *path, int flags, ...) {                                    \
    va_list rest;                                                                 \
    va_start(rest, flags);                                                        \
    mode_t mode = va_arg(rest, mode_t);                                           \
    va_end(rest);                                                                 \
    if (COUNTS(flags) && fails_at_path(#name, AT_FDCWD, path, 1)) return refused(); \
    return REAL(name)(path, flags, mode);                                         \
  }
#define OPENS_AT(name)                                                            \
  int name(int dir, const char *path, int flags, ...) {                           \
    va_list rest;                                                                 \
    va_start(rest, flags);                                                        \
    mode_t mode = va_arg(rest, mode_t);                                           \
    va_end(rest);                                                                 \
    if (COUNTS(flags) && fails_at_path(#name, dir, path, 1)) return refused();    \
    return REAL(name)(dir, path, flags, mode);                                    \
  }
OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)
