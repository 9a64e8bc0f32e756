/* SPDX-License-Identifier: MIT */
/*
 * The scan for clients beside a process that has a file open whose file system never answers a
 * question about it: FUSE, spoken by hand, in namespaces of its own. Needs root and /dev/fuse.
 *
 * The test proves itself: stat(2) of that descriptor must hang, and the question must have arrived.
 */
#include "harness/fd_holders.h"
#include "harness/refused.h"
#include "sources/clients/scan.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILE_ID = 2, LONG_S = 3600, WAIT_MS = 20000, HANG_MS = 300, FILE_FD = 3, NODE_FD = 4 };

static struct holders nodes;
static char folder[64];
/* Questions about the file's attributes so far; shared by all processes of the test. */
static volatile int *asked;

static void sleep_ms(int ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&time, NULL);
}

/* Whether the child has ended by then. */
static bool ends_within(pid_t pid, int ms, int *ret_status)
{
    for (int passed = 0; passed <= ms; passed += 5) {
        if (waitpid(pid, ret_status, WNOHANG) == pid)
            return true;
        sleep_ms(5);
    }
    return false;
}

static void end_child(pid_t *pid)
{
    if (*pid > 0 && kill(*pid, SIGKILL) == 0)
        (void)waitpid(*pid, NULL, 0);
    *pid = 0;
}

/* ---- the file system ---- */

static void answer(int fd, uint64_t unique, int error, const void *data, size_t n)
{
    char reply[512] = {0};
    const struct fuse_out_header head = {
        .len = (uint32_t)(sizeof(head) + n), .error = error, .unique = unique};
    memcpy(reply, &head, sizeof(head));
    if (n > 0)
        memcpy(reply + sizeof(head), data, n);
    (void)!write(fd, reply, head.len); /* the kernel may have given up: no matter */
}

/* The attributes of the root are valid for long, those of the file never. */
static void answer_one(int fd, const struct fuse_in_header *in)
{
    const struct fuse_init_out init = {
        .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION, .max_write = 4096};
    const struct fuse_entry_out entry = {
        .nodeid = FILE_ID,
        .generation = 1,
        .entry_valid = LONG_S,
        .attr = {.ino = FILE_ID, .mode = S_IFREG | 0644, .nlink = 1}};
    const struct fuse_attr_out root = {
        .attr_valid = LONG_S, .attr = {.ino = FUSE_ROOT_ID, .mode = S_IFDIR | 0755, .nlink = 2}};
    const struct fuse_open_out open_out = {.fh = 1};
    switch (in->opcode) {
    case FUSE_INIT:
        answer(fd, in->unique, 0, &init, sizeof(init));
        break;
    case FUSE_LOOKUP:
        answer(fd, in->unique, 0, &entry, sizeof(entry));
        break;
    case FUSE_OPEN:
        answer(fd, in->unique, 0, &open_out, sizeof(open_out));
        break;
    case FUSE_GETATTR:
        if (in->nodeid == FUSE_ROOT_ID)
            answer(fd, in->unique, 0, &root, sizeof(root));
        else
            ++*asked; /* and never a word */
        break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break; /* these get no answer */
    default:
        answer(fd, in->unique, -ENOSYS, NULL, 0);
        break;
    }
}

static void serve(int fd)
{
    _Alignas(struct fuse_in_header) char request[2 * FUSE_MIN_READ_BUFFER];
    for (;;) {
        ssize_t n = read(fd, request, sizeof(request));
        if (n >= (ssize_t)sizeof(struct fuse_in_header))
            answer_one(fd, (const struct fuse_in_header *)(const void *)request);
        else if (n >= 0 || (errno != EINTR && errno != EAGAIN && errno != ENOENT))
            _exit(0);
    }
}

/* The server's process, or 0. All questions end with an error when it ends. */
static pid_t begin_file_system(void)
{
    char options[128];
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        test_refused("/dev/fuse", errno);
        return 0;
    }
    (void)snprintf(options, sizeof(options),
                   "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
    if (mount("gtel-test", folder, "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
        test_refused("mount of a FUSE file system", errno);
        (void)close(fd);
        return 0;
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(fd);
    }
    (void)close(fd);
    return pid > 0 ? pid : 0;
}

/* ---- who holds what ---- */

static void hold(int ready)
{
    char path[128];
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_NAME, "holder"); /* one of our name and parent is passed over */
    ready = dup2(ready, 9);
    for (int fd = 3; fd < 9; fd++)
        (void)close(fd);
    (void)snprintf(path, sizeof(path), "%s/file", folder);
    bool is_open = open(path, O_RDONLY) == FILE_FD;
    (void)snprintf(path, sizeof(path), "%s/1", nodes.dir);
    is_open = is_open && open(path, O_PATH) == NODE_FD;
    if (!is_open || write(ready, "", 1) != 1)
        _exit(1);
    (void)close(ready);
    for (;;)
        (void)pause();
}

static pid_t begin_holder(void)
{
    int ready[2];
    char byte;
    if (pipe(ready) < 0)
        return 0;
    pid_t pid = fork();
    if (pid == 0)
        hold(ready[1]);
    (void)close(ready[1]);
    bool is_ready = read(ready[0], &byte, 1) == 1;
    (void)close(ready[0]);
    return is_ready ? pid : 0;
}

/* The control: an ordinary stat waits for the file system. Its process, which waits on. */
static pid_t begin_control(pid_t holder)
{
    char path[64];
    struct stat st;
    int status;
    (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)holder, FILE_FD);
    pid_t pid = fork();
    if (pid == 0)
        _exit(stat(path, &st) == 0 ? 0 : 1);
    for (int passed = 0; passed < WAIT_MS && *asked == 0; passed += 5)
        sleep_ms(5);
    CHECK_INT(*asked, 1);
    CHECK(!ends_within(pid, HANG_MS, &status));
    return pid;
}

/* ---- the scan ---- */

static uint32_t read_text(void *arg, const struct gtel_scan_text *text)
{
    size_t node = holders_node(&nodes, text->text);
    *(uint32_t *)arg = node > 0 ? text->owner.birth.pid : *(uint32_t *)arg;
    return (uint32_t)node;
}

static void scan_once(pid_t holder)
{
    struct gtel_env env;
    struct gtel_scan *scan;
    uint32_t pid = 0;
    const struct gtel_scan_hooks hooks = {.arg = &pid, .read = read_text};
    if (!CHECK(gtel_env_posix_init("/", &env) == 0) ||
        !CHECK(gtel_scan_new(&env, NULL, &scan) == 0))
        return;
    const struct gtel_scan_counts *counts = gtel_scan_counts(scan);
    int gathers = 0;
    do { /* each walks for a part of a second */
        CHECK_INT(gtel_scan_gather(scan, &hooks), 0);
    } while (counts->waiting > 0 && ++gathers < 1000);
    CHECK_INT(pid, holder);
    CHECK(counts->clients == 1 && counts->waiting == 0 && counts->readable == counts->visible);
    CHECK_INT(*asked, 1); /* by the control */
    gtel_scan_free(scan);
    gtel_env_posix_done(&env);
}

static void test_scan(pid_t *server, pid_t holder)
{
    int status = -1;
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        scan_once(holder);
        (void)fflush(stdout);
        _exit(test_has_failed() ? 1 : 0);
    }
    bool has_ended = ends_within(pid, WAIT_MS, &status);
    CHECK(has_ended); /* else it waits for the file system */
    CHECK_INT(status, 0);
    if (!has_ended) {
        end_child(server); /* its wait ends */
        end_child(&pid);
    }
}

static void test_hanging_file(void)
{
    pid_t server = begin_file_system();
    pid_t holder = server > 0 ? begin_holder() : 0;
    if (server > 0 && CHECK(holder > 0)) {
        pid_t control = begin_control(holder);
        test_scan(&server, holder);
        end_child(&server); /* the questions end */
        end_child(&control);
    }
    end_child(&holder);
    end_child(&server);
}

/* ---- namespaces ---- */

static bool run_child(void (*run)(void))
{
    int status = -1;
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        run();
        (void)fflush(stdout);
        _exit(test_has_failed() ? 1 : 0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* The first process of a process namespace, with its /proc. */
static void run_inside(void)
{
    if (!CHECK(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0) ||
        !CHECK(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV, NULL) == 0))
        return;
    holders_moved(&nodes);
    test_hanging_file();
}

static void run_namespace(void)
{
    if (CHECK(unshare(CLONE_NEWNS | CLONE_NEWPID) == 0))
        CHECK(run_child(run_inside));
}

int main(void)
{
    asked = mmap(NULL, sizeof(*asked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    (void)snprintf(folder, sizeof(folder), "/tmp/gtel-fuse-XXXXXX");
    if (!CHECK(asked != MAP_FAILED) || !CHECK(mkdtemp(folder) != NULL))
        return test_result();
    if (CHECK(holders_init(&nodes, 1)))
        CHECK(run_child(run_namespace));
    holders_done(&nodes);
    (void)rmdir(folder);
    return test_result();
}
