/* Fails the nth call of one kind that a process makes on files below a folder, or the nth large
   allocation, and counts all such calls. Loaded by LD_PRELOAD; see faults.py. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { OPEN, READ, WRITE, SYNC, RENAME, MKDIR, STAT, UNLINK, LIST, CHMOD, ALLOCATE,
       SHORT_READ, SHORT_WRITE, KINDS };
#define FILES 4096
static volatile int armed, kind, code, lasts;
static volatile long nth, counts[KINDS], hits;
static size_t least, root_length;
static char root[4096];
static volatile char ours[FILES];

void faults_arm(const char *folder, int which, long number, int error, int stays, long bytes) {
    strncpy(root, folder, sizeof root - 1);
    root_length = strlen(root);
    memset((void *)counts, 0, sizeof counts);
    memset((void *)ours, 0, sizeof ours);
    ours[1] = 1;
    kind = which, nth = number, code = error, lasts = stays, least = bytes, hits = 0;
    armed = 1;
}
void faults_disarm(void) { armed = 0; }
long faults_count(int which) { return counts[which]; }
long faults_hits(void) { return hits; }

static int strikes(int of) {
    long n = __sync_add_and_fetch(&counts[of], 1);
    if (of != kind || n < nth || (n > nth && !lasts)) return 0;
    hits++;
    errno = code;
    return 1;
}
static int is_ours(const char *path) {
    return armed && path && (path[0] != '/' || !strncmp(path, root, root_length));
}
static int on_file(int fd, int of) { return armed && fd >= 0 && fd < FILES && ours[fd] && strikes(of); }
static int on_path(const char *path, int of) { return is_ours(path) && strikes(of); }

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, name)

static int opened(int fd, int counted) {
    if (fd >= 0 && fd < FILES) ours[fd] = counted;
    return fd;
}
#define MODE \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }
#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, #name, const char *, int, ...); MODE \
        if (on_path(path, OPEN)) return -1; \
        return opened(real(path, flags, mode), is_ours(path)); }
#define OPENS_AT(name) \
    int name(int at, const char *path, int flags, ...) { \
        REAL(int, #name, int, const char *, int, ...); MODE \
        if (on_path(path, OPEN)) return -1; \
        return opened(real(at, path, flags, mode), is_ours(path)); }
OPENS(open) OPENS(open64) OPENS_AT(openat) OPENS_AT(openat64)

int close(int fd) {
    REAL(int, "close", int);
    if (fd > 2 && fd < FILES) ours[fd] = 0;
    return real(fd);
}
int dup(int fd) {
    REAL(int, "dup", int);
    int copy = real(fd);
    return copy < 0 || fd < 0 || fd >= FILES ? copy : opened(copy, ours[fd]);
}

ssize_t read(int fd, void *into, size_t size) {
    REAL(ssize_t, "read", int, void *, size_t);
    if (on_file(fd, READ)) return -1;
    return real(fd, into, size > 1 && on_file(fd, SHORT_READ) ? size / 2 : size);
}
#define READS_AT(name, offset_t) \
    ssize_t name(int fd, void *into, size_t size, offset_t at) { \
        REAL(ssize_t, #name, int, void *, size_t, offset_t); \
        if (on_file(fd, READ)) return -1; \
        return real(fd, into, size > 1 && on_file(fd, SHORT_READ) ? size / 2 : size, at); }
READS_AT(pread, off_t) READS_AT(pread64, off64_t)
ssize_t write(int fd, const void *from, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    if (on_file(fd, WRITE)) return -1;
    return real(fd, from, size > 1 && on_file(fd, SHORT_WRITE) ? size / 2 : size);
}
int fsync(int fd) {
    REAL(int, "fsync", int);
    return on_file(fd, SYNC) ? -1 : real(fd);
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    return on_path(to, RENAME) ? -1 : real(from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
    REAL(int, "renameat", int, const char *, int, const char *);
    return on_path(to, RENAME) ? -1 : real(a, from, b, to);
}
int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t);
    return on_path(path, MKDIR) ? -1 : real(path, mode);
}
int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    return on_path(path, UNLINK) ? -1 : real(path);
}
int unlinkat(int at, const char *path, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    return on_path(path, UNLINK) ? -1 : real(at, path, flags);
}
int rmdir(const char *path) {
    REAL(int, "rmdir", const char *);
    return on_path(path, UNLINK) ? -1 : real(path);
}
int chmod(const char *path, mode_t mode) {
    REAL(int, "chmod", const char *, mode_t);
    return on_path(path, CHMOD) ? -1 : real(path, mode);
}
int fchmodat(int at, const char *path, mode_t mode, int flags) {
    REAL(int, "fchmodat", int, const char *, mode_t, int);
    return on_path(path, CHMOD) ? -1 : real(at, path, mode, flags);
}
DIR *opendir(const char *path) {
    REAL(DIR *, "opendir", const char *);
    return on_path(path, LIST) ? NULL : real(path);
}
#define STATS(name, buffer) \
    int name(const char *path, struct buffer *into) { \
        REAL(int, #name, const char *, struct buffer *); \
        return on_path(path, STAT) ? -1 : real(path, into); }
STATS(stat, stat) STATS(stat64, stat64) STATS(lstat, stat) STATS(lstat64, stat64)
#define STATS_FILE(name, buffer) \
    int name(int fd, struct buffer *into) { \
        REAL(int, #name, int, struct buffer *); \
        return on_file(fd, STAT) ? -1 : real(fd, into); }
STATS_FILE(fstat, stat) STATS_FILE(fstat64, stat64)
#define STATS_AT(name, buffer) \
    int name(int at, const char *path, struct buffer *into, int flags) { \
        REAL(int, #name, int, const char *, struct buffer *, int); \
        return on_path(path, STAT) ? -1 : real(at, path, into, flags); }
STATS_AT(fstatat, stat) STATS_AT(fstatat64, stat64)

/* --- memory ------------------------------------------------------------------------------- */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
static int lacks(size_t size) { return armed && size >= least && strikes(ALLOCATE); }
void *malloc(size_t size) { return lacks(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return lacks(n * size) ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return lacks(size) ? NULL : __libc_realloc(old, size); }
int posix_memalign(void **into, size_t by, size_t size) {
    if (lacks(size)) return ENOMEM;
    return (*into = __libc_memalign(by, size)) ? 0 : ENOMEM;
}
void *aligned_alloc(size_t by, size_t size) { return lacks(size) ? NULL : __libc_memalign(by, size); }
