/* SPDX-License-Identifier: MIT */
/* Files that a user names: regular ones of a limited length, and nothing else. */
#include "whole_file.h"

#include "harness/test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LIMIT = 40000 }; /* some reads */

static char top[] = "/tmp/gtel-file-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[100];
    (void)snprintf(path, sizeof(path), "%s/%s", top, name);
    return path;
}

/* No two bytes beside each other are the same. */
static char byte_at(size_t i)
{
    return (char)('a' + (i + i / 26) % 26);
}

static void make_file(size_t n)
{
    FILE *file = fopen(path_of("file"), "w");
    if (!CHECK(file != NULL))
        return;
    for (size_t i = 0; i < n; i++)
        (void)fputc(byte_at(i), file);
    CHECK_INT(fclose(file), 0);
}

static void test_lengths(void)
{
    static const struct {
        const char *label;
        size_t before; /* bytes in the buffer */
        size_t n;
        int rc;
    } cases[] = {
        {"empty", 0, 0, 0},
        {"a byte", 0, 1, 0},
        {"some reads", 0, LIMIT - 1, 0},
        {"the longest", 0, LIMIT, 0},
        {"longer", 0, LIMIT + 1, -EFBIG},
        {"appended", 5, LIMIT - 5, 0},
        {"appended, longer", 5, LIMIT - 4, -EFBIG},
        {"nothing appended", LIMIT, 0, 0},
        {"a byte appended to all", LIMIT, 1, -EFBIG},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_buf text;
        char problem[100] = "";
        test_label = cases[i].label;
        make_file(cases[i].n);
        gtel_buf_init(&text, LIMIT);
        for (size_t k = 0; k < cases[i].before; k++)
            gtel_buf_char(&text, '-');
        CHECK_INT(gtel_whole_file_read(path_of("file"), &text, problem, sizeof(problem)),
                  cases[i].rc);
        CHECK_STR(gtel_str_of(problem), cases[i].rc < 0 ? "it is longer than 40000 bytes" : "");
        if (cases[i].rc == 0 && CHECK(text.n == cases[i].before + cases[i].n)) {
            bool is_same = true;
            for (size_t k = 0; k < cases[i].n; k++)
                is_same = is_same && text.p[cases[i].before + k] == byte_at(k);
            CHECK(is_same);
        }
        CHECK(!text.has_failed);
        gtel_buf_done(&text);
    }
    test_label = "";
}

static void make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    CHECK_INT(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    CHECK_INT(close(fd), 0);
}

static void test_kinds(void)
{
    static const struct {
        const char *path; /* below the folder, or absolute */
        int rc;
        const char *problem;
        bool is_written_too; /* fails as well when it is to be written */
    } cases[] = {
        {"none", -ENOENT, "No such file or directory", false},
        {"none/file", -ENOENT, "No such file or directory", true},
        {"folder", -EISDIR, "it is a directory", true},
        {"fifo", -EINVAL, "it is a FIFO; only regular files are supported", true},
        {"socket", -EINVAL, "it is a socket; only regular files are supported", true},
        {"/dev/zero", -EINVAL, "it is a device; only regular files are supported", true},
        {"/proc/self/status", -EINVAL,
         "it has no length, as files in /proc; only regular files are supported", false},
    };
    CHECK_INT(mkdir(path_of("folder"), 0700), 0);
    CHECK_INT(mkfifo(path_of("fifo"), 0600), 0);
    make_socket(path_of("socket"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *path = cases[i].path[0] == '/' ? cases[i].path : path_of(cases[i].path);
        struct gtel_buf text;
        char problem[100] = "";
        test_label = cases[i].path;
        gtel_buf_init(&text, LIMIT);
        CHECK_INT(gtel_whole_file_read(path, &text, problem, sizeof(problem)), cases[i].rc);
        CHECK_STR(gtel_str_of(problem), cases[i].problem);
        CHECK_INT(text.n, 0);
        gtel_buf_done(&text);
        if (!cases[i].is_written_too)
            continue;
        problem[0] = '\0';
        CHECK_INT(gtel_whole_file_write(path, GTEL_STR("x"), problem, sizeof(problem)),
                  cases[i].rc);
        CHECK_STR(gtel_str_of(problem), cases[i].problem);
        problem[0] = '\0';
        CHECK_INT(gtel_whole_file_check(path, problem, sizeof(problem)), cases[i].rc);
        CHECK_STR(gtel_str_of(problem), cases[i].problem);
    }
    CHECK_INT(unlink(path_of("socket")) + unlink(path_of("fifo")) + rmdir(path_of("folder")), 0);
    test_label = "";
}

/* A file that is there, also behind a link, stays as it is. */
static void test_exists(void)
{
    static const char *const names[] = {"file", "link", "link to nothing"};
    static const char said[] = "it exists already; give another name";
    struct stat st;
    make_file(100);
    CHECK_INT(symlink("file", path_of("link")), 0);
    CHECK_INT(symlink("nothing", path_of("link to nothing")), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char problem[100] = "";
        test_label = names[i];
        CHECK_INT(gtel_whole_file_check(path_of(names[i]), problem, sizeof(problem)), -EEXIST);
        CHECK_STR(gtel_str_of(problem), said);
        problem[0] = '\0';
        CHECK_INT(gtel_whole_file_write(path_of(names[i]), GTEL_STR("x"), problem, sizeof(problem)),
                  -EEXIST);
        CHECK_STR(gtel_str_of(problem), said);
    }
    test_label = "";
    CHECK_INT(stat(path_of("file"), &st), 0);
    CHECK_INT(st.st_size, 100);
    CHECK_INT(stat(path_of("nothing"), &st), -1);
    CHECK_INT(
        unlink(path_of("file")) + unlink(path_of("link")) + unlink(path_of("link to nothing")), 0);
}

/* What could not be written to its end does not stay. */
static void test_full(void)
{
    struct rlimit limit;
    struct rlimit before;
    struct stat st;
    char problem[100] = "";
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 10;
    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_INT(
        gtel_whole_file_write(path_of("file"), GTEL_STR("more than ten"), problem, sizeof(problem)),
        -EFBIG);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_STR(gtel_str_of(problem), "File too large");
    CHECK_INT(stat(path_of("file"), &st), -1);
}

/* Nothing stays open. */
static void test_write(void)
{
    static const char *const texts[] = {"first text", "2", ""};
    char problem[100] = "";
    int before = dup(0);
    CHECK_INT(close(before), 0);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct gtel_buf text;
        test_label = texts[i];
        gtel_buf_init(&text, LIMIT);
        CHECK_INT(
            gtel_whole_file_write(path_of("file"), gtel_str_of(texts[i]), problem, sizeof(problem)),
            0);
        CHECK_INT(gtel_whole_file_read(path_of("file"), &text, problem, sizeof(problem)), 0);
        CHECK_STR(gtel_buf_text(&text), texts[i]);
        CHECK_INT(unlink(path_of("file")), 0);
        gtel_buf_done(&text);
    }
    CHECK_INT(gtel_whole_file_write("/dev/null/x", GTEL_STR("x"), problem, sizeof(problem)),
              -ENOTDIR);
    CHECK_STR(gtel_str_of(problem), "Not a directory");
    int after = dup(0);
    CHECK_INT(after, before);
    CHECK_INT(close(after), 0);
    test_label = "";
}

/* Nothing is created. */
static void test_check(void)
{
    char problem[100] = "";
    struct stat st;
    CHECK_INT(gtel_whole_file_check(path_of("file"), problem, sizeof(problem)), 0);
    CHECK_INT(stat(path_of("file"), &st), -1);
    CHECK_INT(gtel_whole_file_check("gtel-no-such-file", problem, sizeof(problem)), 0);
    CHECK_STR(gtel_str_of(problem), "");
    CHECK_INT(gtel_whole_file_check(path_of("none/x"), problem, sizeof(problem)), -ENOENT);
    CHECK_STR(gtel_str_of(problem), "No such file or directory");
    CHECK_INT(gtel_whole_file_check("/dev/null/x", problem, sizeof(problem)), -ENOTDIR);
    if (geteuid() == 0)
        return;
    CHECK_INT(chmod(top, 0500), 0);
    CHECK_INT(gtel_whole_file_check(path_of("file"), problem, sizeof(problem)), -EACCES);
    CHECK_INT(chmod(top, 0700), 0);
}

int main(void)
{
    if (!CHECK(mkdtemp(top) != NULL))
        return test_result();
    test_lengths();
    test_kinds();
    CHECK_INT(unlink(path_of("file")), 0);
    test_exists();
    test_full();
    test_write();
    test_check();
    CHECK_INT(rmdir(top), 0);
    return test_result();
}
