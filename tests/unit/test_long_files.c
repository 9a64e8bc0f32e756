/* SPDX-License-Identifier: MIT */
/* Files longer than a page, as the kernel gives them: a page or less at a time. */
#include "host/env.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { SIZE = 20000 };

static struct {
    size_t page;
    size_t size;   /* of the file */
    size_t record; /* only whole ones come */
    size_t fail_at;
    int error;
    size_t calls;
} file;

ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t at);

ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t at)
{
    size_t left = file.size - (size_t)at;
    size_t most = n < file.page ? n : file.page;
    (void)fd;
    file.calls++;
    if (file.calls == file.fail_at) {
        errno = file.error;
        return -1;
    }
    most -= most % file.record;
    most = most < left ? most : left;
    for (size_t i = 0; i < most; i++)
        ((char *)buf)[i] = (char)('a' + ((size_t)at + i) % 23);
    return (ssize_t)most;
}

static const struct {
    const char *label;
    size_t size;
    size_t record;
    size_t buffer;
    size_t fail_at;
    int error;
    int64_t want;
    size_t calls;
} cases[] = {
    {"a text of a page at most", 3872, 1, SIZE, 0, 0, 3872, 1},
    {"empty", 0, 1, SIZE, 0, 0, 0, 1},
    {"whole pages", 8192, 1, SIZE, 0, 0, 8192, 3},
    {"pages and a rest", 9000, 1, SIZE, 0, 0, 9000, 3},
    {"lines: 146 in a page", 28 * 200, 28, SIZE, 0, 0, 28 * 200, 2},
    {"lines that fill pages", 28 * 292, 28, SIZE, 0, 0, 28 * 292, 3},
    {"no room for all", 9000, 1, 5000, 0, 0, 5000, 2},
    {"a page has room", 9000, 1, 4096, 0, 0, 4096, 1},
    {"interrupted", 5000, 1, SIZE, 2, EINTR, 5000, 3},
    {"fails later", 5000, 1, SIZE, 2, EIO, -EIO, 2},
    {"fails", 5000, 1, SIZE, 1, ENODEV, -ENODEV, 1},
};

int main(void)
{
    struct gtel_env env;
    char buf[SIZE];
    if (!CHECK(gtel_env_posix_init("/", &env) == 0))
        return test_result();
    int handle = env.ops->file_open(env.arg, "dev/null");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_label = cases[i].label;
        file.page = 4096;
        file.size = cases[i].size;
        file.record = cases[i].record;
        file.fail_at = cases[i].fail_at;
        file.error = cases[i].error;
        file.calls = 0;
        memset(buf, 0, sizeof(buf));
        CHECK_INT(env.ops->file_read(env.arg, handle, buf, cases[i].buffer), cases[i].want);
        CHECK_INT(file.calls, cases[i].calls);
        bool is_right = true;
        for (int64_t b = 0; b < cases[i].want; b++)
            is_right = is_right && buf[b] == (char)('a' + b % 23);
        CHECK(is_right);
        CHECK(cases[i].want < 0 || cases[i].want == SIZE || buf[cases[i].want] == 0);
    }
    test_label = "";
    env.ops->file_close(env.arg, handle);
    gtel_env_posix_done(&env);
    return test_result();
}
