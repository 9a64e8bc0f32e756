/* SPDX-License-Identifier: MIT */
/*
 * Prints what our Level Zero declarations say, by the specification's names, for those who know
 * them from elsewhere (e2e/with_pyzes.py):
 *
 *     size TYPE BYTES     place TYPE MEMBER OFFSET BYTES     constant NAME VALUE
 */
#include "fakes/libze_loader/more_abi.h"
#include "base/compiler.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#define GTEL_ZES_ALL

static const struct {
    const char *type;
    size_t size;
} sizes[] = {
#define SAME_SIZE(ours, theirs) {#theirs, sizeof(struct ours)},
#define SAME_PLACE(ours, member, theirs, their_member)
#define SAME(ours, theirs)
#include "abi/zes_pairs.def"
#undef SAME_SIZE
#undef SAME_PLACE
#undef SAME
};

static const struct {
    const char *type;
    const char *member;
    size_t offset;
    size_t size;
} places[] = {
#define SAME_SIZE(ours, theirs)
#define SAME_PLACE(ours, member, theirs, their_member)                                             \
    {#theirs, #their_member, offsetof(struct ours, member), sizeof(((struct ours *)NULL)->member)},
#define SAME(ours, theirs)
#include "abi/zes_pairs.def"
#undef SAME_SIZE
#undef SAME_PLACE
#undef SAME
};

static const struct {
    const char *name;
    int64_t value;
} constants[] = {
#define SAME_SIZE(ours, theirs)
#define SAME_PLACE(ours, member, theirs, their_member)
#define SAME(ours, theirs) {#theirs, ours},
#include "abi/zes_pairs.def"
};

int main(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(sizes); i++)
        (void)printf("size %s %zu\n", sizes[i].type, sizes[i].size);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(places); i++)
        (void)printf("place %s %s %zu %zu\n", places[i].type, places[i].member, places[i].offset,
                     places[i].size);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(constants); i++)
        (void)printf("constant %s %" PRId64 "\n", constants[i].name, constants[i].value);
    return 0;
}
