/* SPDX-License-Identifier: MIT */
/* Directories of numbers and what is known of files, on this machine's own /proc and files. */
#include "host/env.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST = 100, LAST = 400 };

struct seen {
    uint32_t last;
    size_t n;
    size_t stop_at; /* 0: never */
    uint32_t want;
    bool has_want;
    bool is_ascending;
};

static int see(void *arg, uint32_t number)
{
    struct seen *seen = arg;
    seen->is_ascending = seen->is_ascending && (seen->n == 0 || number > seen->last);
    seen->last = number;
    seen->has_want = seen->has_want || number == seen->want;
    return ++seen->n == seen->stop_at ? 7 : 0;
}

static struct seen list(const struct gtel_env *env, const char *path, uint32_t first, uint32_t want,
                        int rc)
{
    struct seen seen = {.want = want, .is_ascending = true};
    test_label = path;
    CHECK_INT(env->ops->dir_list_from(env->arg, path, first, see, &seen), rc);
    CHECK(seen.is_ascending);
    return seen;
}

/* Descriptors from any one on, in order, and nothing below it. */
static void test_descriptors(const struct gtel_env *env)
{
    static const char *const dirs[] = {"proc/self/fd", "proc/self/fdinfo"};
    struct gtel_stat st = {0};
    for (int fd = FIRST; fd <= LAST; fd++)
        CHECK(dup2(0, fd) == fd);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(dirs); i++) {
        CHECK_INT(list(env, dirs[i], FIRST, FIRST, 0).n, LAST - FIRST + 1);
        CHECK_INT(list(env, dirs[i], LAST, LAST, 0).n, 1);
        CHECK_INT(list(env, dirs[i], LAST + 1, 0, 0).n, 0);
        CHECK_INT(list(env, dirs[i], UINT32_MAX, 0, 0).n, 0);
        CHECK(list(env, dirs[i], 0, 0, 0).n > LAST - FIRST + 1);
        struct seen seen = {.stop_at = 5, .is_ascending = true};
        CHECK_INT(env->ops->dir_list_from(env->arg, dirs[i], 200, see, &seen), 7);
        CHECK(seen.n == 5 && seen.last == 204);
    }
    int dir = gtel_env_dir_open(env, "proc/self/fd");
    test_label = "kept proc/self/fd";
    CHECK_INT(env->ops->dir_stat(env->arg, dir, "", &st), 0);
    CHECK(st.size == 0 || st.size > LAST - FIRST); /* 0: Linux before 6.2 */
    CHECK_INT(env->ops->dir_stat(env->arg, dir, "200", &st), 0);
    CHECK_INT(env->ops->dir_stat(env->arg, dir, "401", &st), -ENOENT);
    env->ops->dir_close(env->arg, dir);
    test_label = "size of proc/self/fd";
    CHECK_INT(env->ops->stat(env->arg, "proc/self/fd", &st), 0);
    CHECK(st.size == 0 || st.size > LAST - FIRST); /* 0: Linux before 6.2 */
    for (int fd = FIRST; fd <= LAST; fd++)
        CHECK(close(fd) == 0);
}

/* Whether a process has ended is seen in its kept directory. */
static void test_ended(const struct gtel_env *env)
{
    char path[64];
    struct gtel_stat st = {0};
    test_label = "ended";
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            (void)pause();
    (void)snprintf(path, sizeof(path), "proc/%d/fd", (int)pid);
    int dir = gtel_env_dir_open(env, path);
    CHECK_INT(env->ops->dir_stat(env->arg, dir, "", &st), 0);
    bool has_numbers = st.size > 0;
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
    CHECK_INT(env->ops->dir_stat(env->arg, dir, "", &st), has_numbers ? -ENOENT : 0);
    CHECK_INT(env->ops->stat(env->arg, path, &st), -ENOENT);
    env->ops->dir_close(env->arg, dir);
}

static void test_machine(void)
{
    struct gtel_env env;
    struct gtel_stat st = {0};
    if (!CHECK(gtel_env_posix_init("/", &env) == 0))
        return;
    CHECK_INT(env.page_size, sysconf(_SC_PAGESIZE));
    CHECK(list(&env, "proc", 0, (uint32_t)getpid(), 0).has_want);
    CHECK(list(&env, "proc", (uint32_t)getpid(), (uint32_t)getpid(), 0).has_want);
    CHECK(!list(&env, "proc", (uint32_t)getpid() + 1, (uint32_t)getpid(), 0).has_want);
    CHECK(list(&env, "proc", 1, 1, 0).has_want);
    test_descriptors(&env);
    test_ended(&env);
    test_label = "dev/null";
    CHECK_INT(env.ops->stat(env.arg, "dev/null", &st), 0);
    CHECK(st.is_char && st.major == 1 && st.minor == 3); /* Linux: admin-guide/devices.txt */
    CHECK_INT(env.ops->stat(env.arg, "proc/self", &st), 0);
    CHECK(!st.is_char && st.major == 0 && st.uid == geteuid());
    CHECK_INT(env.ops->stat(env.arg, "proc/self/fd/99999", &st), -ENOENT);
    (void)list(&env, "proc/0/fd", 0, 0, -ENOENT);
    (void)list(&env, "dev/null", 0, 0, -ENOTDIR);
    gtel_env_posix_done(&env);
}

/* A directory that is not the kernel's, whose order is any. */
static void test_files(void)
{
    static const char *const names[] = {"10", "9", "007", "fd", "4294967295", "4294967296", "-1"};
    char dir[] = "/tmp/gtel-dir-XXXXXX";
    struct gtel_env env;
    struct gtel_stat st = {0};
    if (!CHECK(mkdtemp(dir) != NULL) || !CHECK(gtel_env_posix_init(dir, &env) == 0))
        return;
    CHECK_INT(env.page_size, 0); /* proc/self is not below it */
    int at = open(dir, O_RDONLY | O_DIRECTORY);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(names); i++)
        CHECK(mkdirat(at, names[i], 0700) == 0);
    CHECK_INT(list(&env, ".", 0, UINT32_MAX, 0).n, 4);
    CHECK_INT(list(&env, ".", 9, 9, 0).n, 3);
    CHECK_INT(env.ops->stat(env.arg, "9", &st), 0);
    CHECK(st.uid == geteuid() && st.ino != 0);
    CHECK_INT(env.ops->stat(env.arg, "11", &st), -ENOENT);
    CHECK_INT(env.ops->exists(env.arg, "9"), 0);
    CHECK_INT(env.ops->exists(env.arg, "11"), -ENOENT);
    CHECK(symlinkat("9", at, "to") == 0 && symlinkat("11", at, "nowhere") == 0);
    CHECK_INT(env.ops->exists(env.arg, "to"), 0);
    CHECK_INT(env.ops->exists(env.arg, "nowhere"), -ENOENT);
    CHECK(unlinkat(at, "to", 0) == 0 && unlinkat(at, "nowhere", 0) == 0);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(names); i++)
        CHECK(unlinkat(at, names[i], AT_REMOVEDIR) == 0);
    CHECK(close(at) == 0 && rmdir(dir) == 0);
    gtel_env_posix_done(&env);
}

/* A root with links, beside a file that is not in it. */
static const struct link_case {
    const char *name;
    const char *target;
    int rc; /* of reading through it */
} links[] = {
    {"inside", "dir/file", 0},
    {"absolute", "/dir/file", 0}, /* the root is meant */
    {"up", "../secret", -ENOENT},
    {"far_up", "dir/../../../../../../../../secret", -ENOENT},
    {"up_inside", "dir/../dir/file", 0},
    {"chain", "dir/back/dir/file", 0},
    {"machine", "/etc/passwd", -ENOENT},
    {"process", "/proc/self/cwd", -ENOENT},
    {"itself", "itself", -ELOOP},
    {"two", "three", -ELOOP},
    {"three", "two", -ELOOP},
    {"slash", "/", -EISDIR},
    {"dots", ".././..//.", -EISDIR},
};

static int64_t read_path(const struct gtel_env *env, const char *path)
{
    char buf[16];
    int handle = env->ops->file_open(env->arg, path);
    if (handle < 0)
        return handle;
    int64_t n = env->ops->file_read(env->arg, handle, buf, sizeof(buf));
    env->ops->file_close(env->arg, handle);
    return n;
}

static void check_paths(const struct gtel_env *env)
{
    static const struct {
        const char *path;
        int rc;
    } paths[] = {
        {"", -ENOENT},    {"dir/file/x", -ENOTDIR},  {"../secret", -ENOENT},
        {"/dir/file", 0}, {"dir//./file", 0},        {"dir/../../dir/file", 0},
        {"d/e/../f", 0},  {"up_inside/x", -ENOTDIR}, {"far_up", -ENOENT},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(paths); i++) {
        test_label = paths[i].path;
        CHECK_INT(env->ops->exists(env->arg, paths[i].path), paths[i].rc);
    }
}

/* proc below a root has links that are no text: what they say is below the root, too. */
static void check_proc(void)
{
    static const struct {
        const char *root;
        int rc;
    } roots[] = {{"/.", 0}, {"/proc", -ENOENT}}; /* of the second: /proc/dev/null */
    struct gtel_env env;
    char path[64];
    int fd = open("/dev/null", O_RDONLY);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(roots); i++) {
        struct gtel_stat st = {0};
        test_label = roots[i].root;
        if (!CHECK(fd >= 0) || !CHECK(gtel_env_posix_init(roots[i].root, &env) == 0))
            return;
        (void)snprintf(path, sizeof(path), "%sself/fd/%d", i == 0 ? "proc/" : "", fd);
        CHECK_INT(env.ops->stat(env.arg, path, &st), roots[i].rc);
        CHECK(st.is_char == (roots[i].rc == 0));
        CHECK_INT(read_path(&env, path), roots[i].rc);
        CHECK(read_path(&env, i == 0 ? "proc/self/cwd/." : "self/cwd/.") < 0);
        *strrchr(path, '/') = '\0'; /* the folder */
        CHECK(list(&env, path, (uint32_t)fd, (uint32_t)fd, 0).has_want);
        gtel_env_posix_done(&env);
    }
    CHECK(close(fd) == 0);
    test_label = "";
}

static void check_links(const struct gtel_env *env)
{
    char target[64];
    char path[64];
    struct gtel_stat st;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(links); i++) {
        bool has_end = links[i].rc == 0 || links[i].rc == -EISDIR;
        test_label = links[i].name;
        CHECK_INT(read_path(env, links[i].name), links[i].rc < 0 ? links[i].rc : 7);
        CHECK_INT(env->ops->exists(env->arg, links[i].name), has_end ? 0 : links[i].rc);
        CHECK_INT(env->ops->stat(env->arg, links[i].name, &st), has_end ? 0 : links[i].rc);
        CHECK_INT(env->ops->link_read(env->arg, links[i].name, target, sizeof(target)),
                  strlen(links[i].target));
        (void)snprintf(path, sizeof(path), "%s/x", links[i].name);
        CHECK(read_path(env, path) < 0);
    }
}

/* Whoever makes the directory can name nothing outside of it. */
static void test_root(void)
{
    char top[] = "/tmp/gtel-root-XXXXXX";
    char dir[64];
    struct gtel_env env;
    if (!CHECK(mkdtemp(top) != NULL))
        return;
    (void)snprintf(dir, sizeof(dir), "%s/root", top);
    CHECK(mkdir(dir, 0755) == 0);
    int at = open(dir, O_RDONLY | O_DIRECTORY);
    CHECK(mkdirat(at, "dir", 0755) == 0 && symlinkat("..", at, "dir/back") == 0);
    CHECK(mkdirat(at, "d", 0755) == 0 && mkdirat(at, "d/e", 0755) == 0);
    for (int i = 0; i < 3; i++) {
        static const char *const files[] = {"../secret", "dir/file", "d/f"};
        int fd = openat(at, files[i], O_WRONLY | O_CREAT, 0644);
        CHECK(fd >= 0 && write(fd, "content", 7) == 7 && close(fd) == 0);
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(links); i++)
        CHECK(symlinkat(links[i].target, at, links[i].name) == 0);
    if (CHECK(gtel_env_posix_init(dir, &env) == 0)) {
        check_links(&env);
        check_paths(&env);
        test_label = "directories";
        CHECK_INT(env.ops->link_read(env.arg, "dir", dir, sizeof(dir)), -EINVAL);
        CHECK_INT(env.ops->link_read(env.arg, "dir/file", dir, sizeof(dir)), -EINVAL);
        CHECK_INT(env.ops->link_read(env.arg, "none", dir, sizeof(dir)), -ENOENT);
        CHECK_INT(read_path(&env, "dir/"), -EISDIR);
        CHECK_INT(list(&env, "slash", 0, 0, 0).n, 0);
        CHECK_INT(gtel_env_dir_open(&env, "dir"), -EOPNOTSUPP);
        gtel_env_posix_done(&env);
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(links); i++)
        CHECK(unlinkat(at, links[i].name, 0) == 0);
    CHECK(unlinkat(at, "d/f", 0) == 0 && unlinkat(at, "d/e", AT_REMOVEDIR) == 0);
    CHECK(unlinkat(at, "d", AT_REMOVEDIR) == 0);
    CHECK(unlinkat(at, "dir/back", 0) == 0 && unlinkat(at, "dir/file", 0) == 0);
    CHECK(unlinkat(at, "../secret", 0) == 0 && unlinkat(at, "dir", AT_REMOVEDIR) == 0);
    CHECK(close(at) == 0 && rmdir(dir) == 0 && rmdir(top) == 0);
}

/* From now on openat2 says that, as before Linux 5.6 or in a container that forbids it. */
static void refuse_openat2(int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = GTEL_ARRAY_LEN(filter), .filter = filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* Where links cannot be kept below a root there is none, but this machine. EAGAIN, which may be
 * over, is no such refusal, and ends. */
static void test_refused(int error, int rc)
{
    struct gtel_env env;
    test_label = strerror(error);
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        refuse_openat2(error);
        CHECK_INT(gtel_env_posix_init("/tmp", &env), rc);
        if (rc == 0) {
            CHECK_INT(env.ops->exists(env.arg, "."), -error);
            gtel_env_posix_done(&env);
        }
        CHECK_INT(gtel_env_posix_init("/", &env), 0);
        CHECK_INT(env.ops->exists(env.arg, "proc/self"), 0);
        gtel_env_posix_done(&env);
        (void)fflush(stdout);
        _exit(test_result());
    }
    int status = -1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
    test_label = "";
}

static int ignore_name(void *arg, struct gtel_str name)
{
    (void)arg;
    (void)name;
    return 0;
}

/* What cannot be opened for want of numbers of files is remembered until it is asked for once; what
 * is not there is no such shortage. */
static void test_shortage(const char *root)
{
    static const char *const names[] = {"libnone-of-gtel.so.1", NULL};
    struct gtel_env env;
    struct rlimit limit;
    bool is_machine = root[1] == '\0';
    void *library;
    test_label = root;
    if (!CHECK(gtel_env_posix_init(root, &env) == 0) ||
        !CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0))
        return;
    int lowest = dup(STDIN_FILENO);
    (void)close(lowest);
    const struct rlimit low = {.rlim_cur = (rlim_t)lowest, .rlim_max = limit.rlim_max};
    for (int is_short = 0; is_short < 2; is_short++) {
        int error = is_short ? -EMFILE : -ENOENT;
        CHECK(setrlimit(RLIMIT_NOFILE, is_short ? &low : &limit) == 0);
        CHECK_INT(env.ops->file_open(env.arg, "none"), error);
        CHECK_INT(env.ops->shortage(env.arg), is_short ? error : 0);
        CHECK_INT(env.ops->shortage(env.arg), 0);
        CHECK_INT(env.ops->dir_list(env.arg, "none", ignore_name, NULL), error);
        CHECK_INT(env.ops->shortage(env.arg), is_short ? error : 0);
        CHECK_INT(env.ops->lib_open(env.arg, names, &library), is_machine ? error : -EPERM);
        CHECK_INT(env.ops->shortage(env.arg), is_machine && is_short ? error : 0);
    }
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    gtel_env_posix_done(&env);
    test_label = "";
}

int main(void)
{
    test_shortage("/");
    test_shortage("/tmp");
    test_machine();
    test_files();
    test_root();
    check_proc();
    test_refused(ENOSYS, -ENOSYS);
    test_refused(EPERM, -ENOSYS);
    test_refused(EAGAIN, 0);
    return test_result();
}
