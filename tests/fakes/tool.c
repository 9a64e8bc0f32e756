/* SPDX-License-Identifier: MIT */
/*
 * Plays a vendor's tool: amd-smi or rocm-smi.
 *
 * What it prints is in the file PATH.WORD, PATH being its own and WORD its first argument without
 * dashes ("amd-smi.metric", "rocm-smi.showuse"). The first line of that file is its exit status and
 * how it behaves:
 *     plain    prints and ends
 *     hang     prints, and never ends
 *     close    prints, closes its output and never ends
 *     stderr   writes 4 MiB to its standard error, then prints and ends
 *     many     prints the text again and again, without end
 *     family   leaves a child behind that holds its output and never ends; its pid is in PATH.child
 *     inside   prints its environment, arguments, open descriptors and group, then the text
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hang(void)
{
    for (;;)
        (void)pause();
}

static void say(const char *p, size_t n)
{
    while (n > 0) {
        ssize_t done = write(STDOUT_FILENO, p, n);
        if (done <= 0)
            _exit(9);
        p += done;
        n -= (size_t)done;
    }
}

static void flood_stderr(void)
{
    static char dots[4096];
    memset(dots, '.', sizeof(dots));
    for (int i = 0; i < 1024; i++)
        if (write(STDERR_FILENO, dots, sizeof(dots)) < 0)
            _exit(9);
}

static void leave_child(const char *self)
{
    char path[1024];
    pid_t pid = fork();
    if (pid == 0)
        hang();
    (void)snprintf(path, sizeof(path), "%s.child", self);
    FILE *file = fopen(path, "w");
    if (!file || fprintf(file, "%d\n", (int)pid) < 0 || fclose(file) != 0)
        _exit(9);
}

static void show_inside(char **argv)
{
    for (char **p = environ; *p; p++)
        (void)printf("environment %s\n", *p);
    for (char **p = argv + 1; *p; p++)
        (void)printf("argument %s\n", *p);
    for (int fd = 0; fd < 64; fd++)
        if (lseek(fd, 0, SEEK_CUR) >= 0 || dup2(fd, fd) >= 0)
            (void)printf("descriptor %d\n", fd);
    (void)printf("group %s\n", getpgid(0) == getpid() ? "own" : "another");
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static char text[4 << 20];
    char path[1024];
    char mode[16] = "";
    int status = 0;
    const char *word = argc > 1 ? argv[1] : "";
    (void)snprintf(path, sizeof(path), "%s.%s", argv[0], word + strspn(word, "-"));
    FILE *file = fopen(path, "r");
    if (!file)
        return 127;
    size_t n = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    const char *rest = memchr(text, '\n', n);
    status = (int)strtol(text, NULL, 10);
    const char *blank = strchr(text, ' ');
    if (!rest || !blank || blank > rest || (size_t)(rest - blank) > sizeof(mode))
        return 126;
    memcpy(mode, blank + 1, (size_t)(rest - blank) - 1);
    rest++;
    n -= (size_t)(rest - text);
    if (strcmp(mode, "stderr") == 0)
        flood_stderr();
    if (strcmp(mode, "family") == 0)
        leave_child(argv[0]);
    if (strcmp(mode, "inside") == 0)
        show_inside(argv);
    do
        say(rest, n);
    while (strcmp(mode, "many") == 0);
    if (strcmp(mode, "close") == 0)
        (void)close(STDOUT_FILENO);
    if (strcmp(mode, "hang") == 0 || strcmp(mode, "close") == 0)
        hang();
    return status;
}
