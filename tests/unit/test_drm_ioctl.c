/* SPDX-License-Identifier: MIT */
/*
 * The calls of a query, with drivers played by this program: the linker hands it libdrm's
 * drmIoctl. The node is /dev/null, since nothing but opening and closing happens to it.
 */
#include "abi/i915_uapi.h"
#include "abi/xe_uapi.h"
#include "host/env.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <i915_drm.h>
#include <string.h>
#include <xf86drm.h>

enum { LENGTH = 104, OLD_ITEM = 99 };

/* What the played driver does, and what it has seen. */
static struct {
    int error;       /* of calls that are to fail, positive */
    int error_call;  /* the first that does, from 1 */
    int item_error;  /* of i915's item, positive */
    uint32_t length; /* of the answer */
    uint32_t second; /* that the driver reports when it fills a buffer */
    int calls;
    bool is_open;     /* the node, at each call */
    bool is_readable; /* i915's header was zero, as it wants it */
} driver;

int __wrap_drmIoctl(int fd, unsigned long request, void *arg);

static int play_i915(struct drm_i915_query *query)
{
    struct drm_i915_query_item item;
    static const unsigned char zeros[GTEL_I915_REGIONS_HEADER];
    memcpy(&item, (void *)(uintptr_t)query->items_ptr, sizeof(item));
    if (query->num_items != 1 || query->flags != 0)
        return EINVAL;
    unsigned char *data = (unsigned char *)(uintptr_t)item.data_ptr;
    if (driver.item_error > 0) {
        item.length = -driver.item_error;
    } else if (item.length == 0) {
        item.length = (int32_t)driver.length;
    } else if (item.length < (int32_t)driver.length) {
        item.length = -EINVAL;
    } else {
        driver.is_readable = memcmp(data, zeros, sizeof(zeros)) == 0;
        memset(data, 0x5a, driver.length);
        item.length = (int32_t)driver.second;
    }
    memcpy((void *)(uintptr_t)query->items_ptr, &item, sizeof(item));
    return 0;
}

static int play_xe(struct gtel_xe_device_query *query)
{
    if (query->extensions != 0 || query->reserved[0] != 0 || query->reserved[1] != 0 ||
        query->query == OLD_ITEM)
        return EINVAL;
    if (query->size == 0) {
        query->size = driver.length;
        return 0;
    }
    if (query->size != driver.length)
        return EINVAL;
    memset((void *)(uintptr_t)query->data, 0xa5, query->size);
    query->size = driver.second;
    return 0;
}

int __wrap_drmIoctl(int fd, unsigned long request, void *arg)
{
    int error = ENOTTY;
    driver.calls++;
    driver.is_open = driver.is_open && fcntl(fd, F_GETFD) == FD_CLOEXEC;
    if (driver.error_call > 0 && driver.calls >= driver.error_call)
        error = driver.error;
    else if (request == 0xc0106479) /* DRM_IOCTL_I915_QUERY */
        error = play_i915(arg);
    else if (request == 0xc0286440) /* DRM_IOCTL_XE_DEVICE_QUERY */
        error = play_xe(arg);
    errno = error;
    return error == 0 ? 0 : -1;
}

static const struct {
    const char *label;
    enum gtel_drm_driver driver;
    uint32_t item;
    size_t room;
    int error;
    int error_call;
    int item_error;
    uint32_t length;
    uint32_t second;
    int want;
    int calls;
} cases[] = {
    {"i915", GTEL_DRM_I915, 4, 256, 0, 0, 0, LENGTH, LENGTH, LENGTH, 1},
    {"i915, the length is known", GTEL_DRM_I915, 4, LENGTH, 0, 0, 0, LENGTH, LENGTH, LENGTH, 1},
    {"i915, no room", GTEL_DRM_I915, 4, 0, 0, 0, 0, LENGTH, 0, -E2BIG, 1},
    {"i915, an unknown item", GTEL_DRM_I915, 4, 256, 0, 0, EINVAL, 0, 0, -EOPNOTSUPP, 2},
    {"i915, no such call", GTEL_DRM_I915, 4, 256, EINVAL, 1, 0, 0, 0, -EOPNOTSUPP, 2},
    {"i915, an item with an error", GTEL_DRM_I915, 4, 256, 0, 0, ENODEV, 0, 0, -ENODEV, 1},
    {"i915, refused", GTEL_DRM_I915, 4, 256, EACCES, 1, 0, 0, 0, -EACCES, 1},
    {"i915, refused later", GTEL_DRM_I915, 4, 64, EIO, 2, 0, LENGTH, 0, -EIO, 2},
    {"i915, nothing to say", GTEL_DRM_I915, 4, 256, 0, 0, 0, 0, 0, 0, 1},
    {"i915, more than there is room for", GTEL_DRM_I915, 4, 256, 0, 0, 0, 257, 0, -E2BIG, 2},
    {"i915, as much as there is room for", GTEL_DRM_I915, 4, 256, 0, 0, 0, 256, 256, 256, 1},
    {"i915, reports more than it may", GTEL_DRM_I915, 4, 256, 0, 0, 0, LENGTH, 257, -EIO, 1},
    {"xe", GTEL_DRM_XE, 1, 256, 0, 0, 0, LENGTH, LENGTH, LENGTH, 3},
    {"xe, the length is known", GTEL_DRM_XE, 1, LENGTH, 0, 0, 0, LENGTH, LENGTH, LENGTH, 1},
    {"xe, the answer has grown", GTEL_DRM_XE, 1, LENGTH, 0, 0, 0, 192, 0, -E2BIG, 2},
    {"xe, the answer has shrunk", GTEL_DRM_XE, 1, LENGTH, 0, 0, 0, 96, 96, 96, 3},
    {"xe, an unknown query", GTEL_DRM_XE, OLD_ITEM, 256, 0, 0, 0, LENGTH, 0, -EOPNOTSUPP, 2},
    {"xe, our own mistake", GTEL_DRM_XE, 1, 256, EINVAL, 3, 0, LENGTH, 0, -EINVAL, 3},
    {"xe, wedged", GTEL_DRM_XE, 1, 256, ECANCELED, 1, 0, 0, 0, -ECANCELED, 1},
    {"xe, wedged between", GTEL_DRM_XE, 1, 256, ECANCELED, 2, 0, LENGTH, 0, -ECANCELED, 2},
    {"xe, wedged at last", GTEL_DRM_XE, 1, 256, ECANCELED, 3, 0, LENGTH, 0, -ECANCELED, 3},
    {"xe, gone", GTEL_DRM_XE, 1, LENGTH, ENODEV, 1, 0, 0, 0, -ENODEV, 1},
    {"xe, more than there is room for", GTEL_DRM_XE, 1, 256, 0, 0, 0, 0x80000000, 0, -E2BIG, 2},
    {"xe, nothing to say", GTEL_DRM_XE, 1, 256, 0, 0, 0, 0, 0, 0, 2},
    {"xe, more the second time", GTEL_DRM_XE, 1, 256, 0, 0, 0, LENGTH, 0xffffffff, -E2BIG, 3},
};

static void check_case(const struct gtel_env *env, size_t i)
{
    unsigned char answer[257];
    size_t room = cases[i].room;
    memset(answer, 1, sizeof(answer));
    memset(&driver, 0, sizeof(driver));
    driver.error = cases[i].error;
    driver.error_call = cases[i].error_call;
    driver.item_error = cases[i].item_error;
    driver.length = cases[i].length;
    driver.second = cases[i].second;
    driver.is_open = true;
    driver.is_readable = true;
    int64_t r = gtel_env_drm_query(env, "dev/null", cases[i].driver, cases[i].item, answer, room);
    CHECK_INT(r, cases[i].want);
    CHECK_INT(driver.calls, cases[i].calls);
    CHECK(driver.is_open);
    CHECK(driver.is_readable);
    CHECK(answer[room] == 1); /* never beyond the room */
    if (r > 0)
        CHECK(answer[0] == answer[r - 1] && answer[0] > 1);
}

int main(void)
{
    struct gtel_env env;
    if (!CHECK(gtel_env_posix_init("/", &env) == 0))
        return test_result();
    int first = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_label = cases[i].label;
        check_case(&env, i);
    }
    test_label = "";
    int second = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK_INT(second, first + 1); /* no node has stayed open */
    gtel_env_posix_done(&env);
    return test_result();
}
