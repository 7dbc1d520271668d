/* Records what a process writes below one folder, in order, and what it syncs.

   Loaded with LD_PRELOAD. POWER_FOLDER is the folder, POWER_LOG the record, which
   power_loss.py reads: for each call a head (what, inode, offset, size) and size bytes. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int record = -1;
static const char *folder;

struct head {
    uint64_t what, inode, offset, size;
};

__attribute__((constructor)) static void begin(void) {
    const char *log = getenv("POWER_LOG");
    folder = getenv("POWER_FOLDER");
    if (log && folder) record = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, #name))

static void note(char what, uint64_t inode, uint64_t offset, const void *data, uint64_t size) {
    struct head head = {(uint64_t)what, inode, offset, size};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)data, size}};
    pthread_mutex_lock(&lock);
    if (writev(record, parts, 2) != (ssize_t)(sizeof head + size)) abort();
    pthread_mutex_unlock(&lock);
}

static int below(const char *path) {
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* The inode of a file in the folder; 0 if it is elsewhere. */
static uint64_t inode_of(int file, char *path) {
    char link[64];
    struct stat status;
    if (record < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (!below(path) || fstat(file, &status)) return 0;
    return status.st_ino;
}

static void resolve(int at, const char *name, char *path) {
    char link[64];
    ssize_t length = 0;
    if (name[0] != '/' && at != AT_FDCWD) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        length = readlink(link, path, PATH_MAX - 1);
        if (length < 0) length = 0;
        path[length++] = '/';
    }
    snprintf(path + length, PATH_MAX - length, "%s", name);
}

static int opened(int file, int existed) {
    char path[PATH_MAX];
    uint64_t inode;
    if (file >= 0 && !existed && (inode = inode_of(file, path)))
        note('C', inode, 0, path, strlen(path));
    return file;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...) {                                                   \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = va_arg(rest, mode_t);                                                        \
        va_end(rest);                                                                              \
        int existed = !(flags & O_CREAT) || faccessat(AT_FDCWD, path, F_OK, 0) == 0;               \
        return opened(REAL(name, int (*)(const char *, int, mode_t))(path, flags, mode), existed); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
    int name(int at, const char *path, int flags, ...) {                                           \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = va_arg(rest, mode_t);                                                        \
        va_end(rest);                                                                              \
        int existed = !(flags & O_CREAT) || faccessat(at, path, F_OK, 0) == 0;                     \
        return opened(                                                                             \
            REAL(name, int (*)(int, const char *, int, mode_t))(at, path, flags, mode), existed);  \
    }
OPENAT(openat)
OPENAT(openat64)

static int made(int failed, int at, const char *name) {
    char path[PATH_MAX];
    struct stat status;
    if (!failed && record >= 0 && !fstatat(at, name, &status, 0)) {
        resolve(at, name, path);
        if (below(path)) note('C', status.st_ino, 0, path, strlen(path));
    }
    return failed;
}

int mknod(const char *name, mode_t mode, dev_t device) {
    return made(REAL(mknod, int (*)(const char *, mode_t, dev_t))(name, mode, device), AT_FDCWD, name);
}

int mknodat(int at, const char *name, mode_t mode, dev_t device) {
    return made(
        REAL(mknodat, int (*)(int, const char *, mode_t, dev_t))(at, name, mode, device), at, name);
}

#define PWRITE(name)                                                                               \
    ssize_t name(int file, const void *data, size_t size, off_t offset) {                          \
        char path[PATH_MAX];                                                                       \
        ssize_t done =                                                                             \
            REAL(name, ssize_t (*)(int, const void *, size_t, off_t))(file, data, size, offset);   \
        uint64_t inode = done > 0 ? inode_of(file, path) : 0;                                      \
        if (inode) note('W', inode, offset, data, done);                                           \
        return done;                                                                               \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int file, const void *data, size_t size) {
    char path[PATH_MAX];
    ssize_t done = REAL(write, ssize_t(*)(int, const void *, size_t))(file, data, size);
    uint64_t inode = done > 0 ? inode_of(file, path) : 0;
    if (inode) note('W', inode, lseek(file, 0, SEEK_CUR) - done, data, done);
    return done;
}

#define TRUNCATE(name)                                                                             \
    int name(int file, off_t size) {                                                               \
        char path[PATH_MAX];                                                                       \
        int failed = REAL(name, int (*)(int, off_t))(file, size);                                  \
        uint64_t inode = failed ? 0 : inode_of(file, path);                                        \
        if (inode) note('T', inode, size, "", 0);                                                  \
        return failed;                                                                             \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define SYNC(name)                                                                                 \
    int name(int file) {                                                                           \
        char path[PATH_MAX];                                                                       \
        uint64_t inode = inode_of(file, path);                                                     \
        int failed = REAL(name, int (*)(int))(file);                                               \
        if (inode && !failed) note(strcmp(path, folder) ? 'S' : 'D', inode, 0, "", 0);             \
        return failed;                                                                             \
    }
SYNC(fsync)
SYNC(fdatasync)

int unlink(const char *name) {
    int failed = REAL(unlink, int (*)(const char *))(name);
    if (!failed && record >= 0 && below(name)) note('U', 0, 0, name, strlen(name));
    return failed;
}

int unlinkat(int at, const char *name, int flags) {
    char path[PATH_MAX];
    int failed = REAL(unlinkat, int (*)(int, const char *, int))(at, name, flags);
    if (!failed && record >= 0) {
        resolve(at, name, path);
        if (below(path)) note('U', 0, 0, path, strlen(path));
    }
    return failed;
}

int rename(const char *from, const char *to) {
    abort(); /* studies rename nothing; one that did would have to be recorded */
}
