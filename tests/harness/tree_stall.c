/* SPDX-License-Identifier: MIT */
/* Stall samples of the xe GPUs of a recorded machine. */
#include "harness/tree_stall.h"

#include "host/fs.h"
#include "parse/eu_stall.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { STALLS_MAX = 16 };

static const struct gtel_env_ops *played;
static struct gtel_env_ops ops;
static const struct gtel_tree *tree;
static struct {
    char key[64];   /* "NODE GT"; empty: not open */
    uint32_t reads; /* since it was opened */
} stalls[STALLS_MAX];

static int answer_now(void *arg, const char *key, struct gtel_str *ret)
{
    (void)played->monotonic_ns(arg); /* takes the machine to the present time */
    int r = gtel_tree_error(tree, GTEL_FS_AT("stall_error %s", key));
    return r < 0 ? r : gtel_tree_call(tree, gtel_str_of(GTEL_FS_AT("stall %s", key)), ret);
}

/* One program at a time samples a GT. */
static int stall_open(void *arg, const char *node, uint32_t gt, uint32_t clocks)
{
    char key[sizeof(stalls[0].key)];
    struct gtel_str answer;
    int slot = -EMFILE;
    (void)clocks;
    int n = snprintf(key, sizeof(key), "%s %u", node, (unsigned)gt);
    int r = n < (int)sizeof(key) ? answer_now(arg, key, &answer) : -ENAMETOOLONG;
    if (r < 0)
        return r == -ENOENT ? -EOPNOTSUPP : r;
    for (int i = STALLS_MAX - 1; i >= 0; i--) {
        if (strcmp(stalls[i].key, key) == 0)
            return -EBUSY;
        slot = stalls[i].key[0] == '\0' ? i : slot;
    }
    if (slot >= 0) {
        memcpy(stalls[slot].key, key, sizeof(key));
        stalls[slot].reads = 0;
    }
    return slot;
}

static void stall_close(void *arg, int handle)
{
    (void)arg;
    stalls[handle].key[0] = '\0';
}

static enum gtel_eu_stall_layout layout_of(struct gtel_str name)
{
    if (gtel_str_eq(name, GTEL_STR("pvc")))
        return GTEL_EU_STALL_PVC;
    return gtel_str_eq(name, GTEL_STR("xe3p")) ? GTEL_EU_STALL_XE3P : GTEL_EU_STALL_XE2;
}

/* One record, from its counters in the order of enum gtel_eu_stall. */
static void pack(struct gtel_str counters, enum gtel_eu_stall_layout layout, unsigned char *record)
{
    struct gtel_str word;
    uint64_t count;
    memset(record, 0, GTEL_EU_STALL_RECORD);
    for (int k = 0; k < GTEL_EU_STALL_KINDS && gtel_str_word(&counters, &word); k++) {
        int bit = gtel_eu_stall_bit(layout, (enum gtel_eu_stall)k);
        if (bit < 0 || gtel_str_u64(word, &count) < 0)
            continue;
        unsigned shifted = (unsigned)(count & 0xff) << (bit % 8);
        record[bit / 8] |= (unsigned char)(shifted & 0xff);
        record[bit / 8 + 1] |= (unsigned char)(shifted >> 8);
    }
}

static bool next_part(struct gtel_str *text, struct gtel_str *ret)
{
    if (!gtel_str_part(text, '|', ret))
        return false;
    *ret = gtel_str_trim(*ret);
    return true;
}

/* The parts of the read of that number; the last one is that of all further reads, too. */
static struct gtel_str read_of(struct gtel_str text, uint32_t number)
{
    struct gtel_str rest = text;
    struct gtel_str part;
    for (uint32_t i = 0; i < number && next_part(&rest, &part);)
        if (gtel_str_eq(part, GTEL_STR("next"))) {
            text = rest;
            i++;
        }
    return text;
}

static int64_t stall_read(void *arg, int handle, void *buf, size_t n)
{
    struct gtel_str text;
    struct gtel_str part = GTEL_STR_NONE;
    size_t length = 0;
    if (handle < 0 || handle >= STALLS_MAX || stalls[handle].key[0] == '\0')
        return -EBADF;
    if (answer_now(arg, stalls[handle].key, &text) < 0)
        return -ENODEV; /* the GPU has gone */
    (void)next_part(&text, &part);
    enum gtel_eu_stall_layout layout = layout_of(part);
    text = read_of(text, stalls[handle].reads++);
    while (length + GTEL_EU_STALL_RECORD <= n && next_part(&text, &part)) {
        if (gtel_str_eq(part, GTEL_STR("next")))
            break;
        if (gtel_str_eq(part, GTEL_STR("lost")))
            return -ENOBUFS;
        if (gtel_str_eq(part, GTEL_STR("reset")))
            return -ENODEV;
        pack(part, layout, (unsigned char *)buf + length);
        length += GTEL_EU_STALL_RECORD;
    }
    return (int64_t)length;
}

void tree_stall_play(struct gtel_env *env, const struct gtel_tree *of)
{
    tree = of;
    memset(stalls, 0, sizeof(stalls));
    if (env->ops != &ops) {
        played = env->ops;
        ops = *played;
    }
    ops.stall_open = stall_open;
    ops.stall_read = stall_read;
    ops.stall_close = stall_close;
    env->ops = &ops;
}
