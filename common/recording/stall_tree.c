/* SPDX-License-Identifier: MIT */
/* Stall samples of a recorded machine. */
#include "recording/stall_tree.h"

#include "base/compiler.h"
#include "parse/eu_stall.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* One program at a time samples a GT. */
int gtel_stall_tree_open(struct gtel_stall_tree *stalls, const struct gtel_tree *tree,
                         const char *node, uint32_t gt)
{
    char key[sizeof(stalls->stream[0].key)];
    struct gtel_str text;
    int n = snprintf(key, sizeof(key), "%s %u", node, (unsigned)gt);
    if (n < 0 || n >= (int)sizeof(key))
        return -ENOENT;
    int r = gtel_tree_stall(tree, gtel_str_of(key), &text);
    if (r < 0)
        return r == -ENOENT ? -EOPNOTSUPP : r;
    for (size_t i = 0; i < GTEL_STALL_STREAMS; i++)
        if (strcmp(stalls->stream[i].key, key) == 0)
            return -EBUSY;
    for (size_t i = 0; i < GTEL_STALL_STREAMS; i++) {
        if (stalls->stream[i].key[0] != '\0')
            continue;
        memcpy(stalls->stream[i].key, key, sizeof(key));
        stalls->stream[i].reads = 0;
        return (int)i;
    }
    return -EMFILE;
}

void gtel_stall_tree_close(struct gtel_stall_tree *stalls, int handle)
{
    if (handle >= 0 && handle < GTEL_STALL_STREAMS)
        stalls->stream[handle].key[0] = '\0';
}

static enum gtel_eu_stall_layout layout_of(struct gtel_str name)
{
    if (gtel_str_eq(name, GTEL_STR("pvc")))
        return GTEL_EU_STALL_PVC;
    return gtel_str_eq(name, GTEL_STR("xe3p")) ? GTEL_EU_STALL_XE3P : GTEL_EU_STALL_XE2;
}

/* One record, from its counters in the order of enum gtel_eu_stall. */
static void pack(struct gtel_str line, enum gtel_eu_stall_layout layout, unsigned char *record)
{
    struct gtel_str word;
    uint64_t count;
    memset(record, 0, GTEL_EU_STALL_RECORD);
    for (int k = 0; k < GTEL_EU_STALL_KINDS && gtel_str_word(&line, &word); k++) {
        int bit = gtel_eu_stall_bit(layout, (enum gtel_eu_stall)k);
        if (bit < 0 || gtel_str_u64(word, &count) < 0)
            continue;
        unsigned shifted = (unsigned)(count & 0xff) << (bit % 8);
        record[bit / 8] |= (unsigned char)(shifted & 0xff);
        record[bit / 8 + 1] |= (unsigned char)(shifted >> 8);
    }
}

/* The lines of the read of that number; the last one is that of all further reads, too. */
static struct gtel_str read_of(struct gtel_str text, uint32_t number)
{
    struct gtel_str rest = text;
    struct gtel_str line;
    for (uint32_t i = 0; i < number && gtel_str_line(&rest, &line);)
        if (gtel_str_eq(gtel_str_trim(line), GTEL_STR("next"))) {
            text = rest;
            i++;
        }
    return text;
}

int64_t gtel_stall_tree_read(struct gtel_stall_tree *stalls, const struct gtel_tree *tree,
                             int handle, void *buf, size_t n)
{
    struct gtel_str text;
    struct gtel_str line;
    size_t length = 0;
    if (handle < 0 || handle >= GTEL_STALL_STREAMS || stalls->stream[handle].key[0] == '\0')
        return -EBADF;
    int r = gtel_tree_stall(tree, gtel_str_of(stalls->stream[handle].key), &text);
    if (r < 0)
        return -ENODEV;                /* the GPU has gone */
    (void)gtel_str_line(&text, &line); /* there is one: tree_text.c */
    enum gtel_eu_stall_layout layout = layout_of(gtel_str_trim(line));
    text = read_of(text, stalls->stream[handle].reads++);
    while (gtel_str_line(&text, &line) && length + GTEL_EU_STALL_RECORD <= n) {
        line = gtel_str_trim(line);
        if (gtel_str_eq(line, GTEL_STR("next")))
            break;
        if (gtel_str_eq(line, GTEL_STR("lost")))
            return -ENOBUFS;
        if (gtel_str_eq(line, GTEL_STR("reset")))
            return -ENODEV;
        pack(line, layout, (unsigned char *)buf + length);
        length += GTEL_EU_STALL_RECORD;
    }
    return (int64_t)length;
}
