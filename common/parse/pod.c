/* SPDX-License-Identifier: MIT */
/* Names of pods and containers. */
#include "parse/pod.h"

enum { ID_DIGITS = GTEL_POD_ID_MAX - 1 };

/* Whether it is a name that fits into so many bytes with a NUL; extra: one more character. */
static bool is_name(struct gtel_str s, size_t size, char extra)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool is_label = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
        if (!is_label && c != extra)
            return false;
    }
    return s.n > 0 && s.n < size;
}

bool gtel_pod_is_uid(struct gtel_str s, char dash)
{
    enum { UUID_LEN = 36, HASH_LEN = 32 };
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != dash && !gtel_str_is_hex((struct gtel_str){s.p + i, 1}))
            return false;
    return s.n == UUID_LEN || (s.n == HASH_LEN && gtel_str_is_hex(s));
}

/* The three parts of A_B_C; false when they are not three. */
static bool split(struct gtel_str name, struct gtel_str part[3])
{
    if (!gtel_str_part(&name, '_', &part[0]) || !gtel_str_part(&name, '_', &part[1]))
        return false;
    part[2] = name;
    return gtel_str_find(name, '_') == name.n;
}

static bool are_names(const struct gtel_pod_file *file)
{
    return is_name(file->pod, GTEL_POD_NAME_MAX, '.') &&
           is_name(file->namespace_, GTEL_POD_NAMESPACE_MAX, '-');
}

bool gtel_pod_link(struct gtel_str name, struct gtel_pod_file *ret)
{
    struct gtel_str part[3];
    struct gtel_str last;
    if (!split(name, part) || !gtel_str_between(part[2], GTEL_STR_NONE, GTEL_STR(".log"), &last) ||
        last.n < ID_DIGITS + 2 || last.p[last.n - ID_DIGITS - 1] != '-')
        return false;
    const struct gtel_pod_file file = {.pod = part[0],
                                       .namespace_ = part[1],
                                       .container = {last.p, last.n - ID_DIGITS - 1},
                                       .key = gtel_str_skip(last, last.n - ID_DIGITS)};
    if (!are_names(&file) || !is_name(file.container, GTEL_POD_CONTAINER_MAX, '-') ||
        !gtel_str_is_hex(file.key))
        return false;
    *ret = file;
    return true;
}

bool gtel_pod_folder(struct gtel_str name, struct gtel_pod_file *ret)
{
    struct gtel_str part[3];
    if (!split(name, part))
        return false;
    const struct gtel_pod_file file = {.pod = part[1], .namespace_ = part[0], .key = part[2]};
    if (!are_names(&file) || !gtel_pod_is_uid(file.key, '-'))
        return false;
    *ret = file;
    return true;
}

/* …/pods/UID/containers/NAME/HASH; …: the kubelet's folder, which can be anywhere. */
static bool is_termination_log(struct gtel_str root, struct gtel_pod_file *ret)
{
    struct gtel_str last[5] = {{0}};
    struct gtel_str part;
    while (gtel_str_part(&root, '/', &part)) {
        for (size_t i = 0; i < 4; i++)
            last[i] = last[i + 1];
        last[4] = part;
    }
    if (!gtel_str_eq(last[0], GTEL_STR("pods")) || !gtel_pod_is_uid(last[1], '-') ||
        !gtel_str_eq(last[2], GTEL_STR("containers")) ||
        !is_name(last[3], GTEL_POD_CONTAINER_MAX, '-') || last[4].n == 0 ||
        !gtel_str_is_hex(last[4]))
        return false;
    *ret = (struct gtel_pod_file){.container = last[3], .key = last[1]};
    return true;
}

/* The fourth field of a line is what of its file system is mounted (man 5 proc_pid_mountinfo). */
bool gtel_pod_mount_next(struct gtel_str *mountinfo, struct gtel_pod_file *ret)
{
    enum { ROOT = 4 };
    struct gtel_str line;
    while (gtel_str_line(mountinfo, &line)) {
        struct gtel_str field = GTEL_STR_NONE;
        int n = 0;
        while (n < ROOT && gtel_str_word(&line, &field))
            n++;
        if (n == ROOT && is_termination_log(field, ret))
            return true;
    }
    return false;
}

bool gtel_pod_mount(struct gtel_str mountinfo, struct gtel_str uid, struct gtel_str *ret)
{
    struct gtel_pod_file file;
    while (gtel_pod_mount_next(&mountinfo, &file)) {
        if (!gtel_str_eq(file.key, uid))
            continue;
        *ret = file.container;
        return true;
    }
    return false;
}
