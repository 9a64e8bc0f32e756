/* SPDX-License-Identifier: MIT */
/*
 * Source amd_tool in parts: which GPUs and tools there are (tool_find.c), the runs of a tool
 * (tool_run.c), and readings of what it printed (tool.c).
 */
#ifndef GTEL_SOURCES_AMD_TOOL_H
#define GTEL_SOURCES_AMD_TOOL_H

#include "base/backoff.h"
#include "base/buf.h"
#include "sources/amd/tool_read.h"
#include "sources/drm/awake.h"
#include "sources/source.h"

enum { GTEL_AMD_TOOL_GPUS = 64, GTEL_AMD_TOOL_PATH_MAX = 256 };

/* What a run asks for. rocm-smi has the second alone. */
enum gtel_amd_tool_phase { GTEL_AMD_TOOL_STATIC, GTEL_AMD_TOOL_METRIC, GTEL_AMD_TOOL_PHASES };

struct gtel_amd_tool_gpu {
    char address[GTEL_PCI_TEXT_MAX];
    const char *driver;
    struct gtel_device *device; /* NULL: not registered */
    struct gtel_awake awake;
    bool is_found;                   /* by the search that runs */
    bool is_shared;                  /* between partitions, each a device of the tool */
    size_t at[GTEL_AMD_TOOL_PHASES]; /* 1 + its place in the answers; 0: none */
};

struct gtel_amd_tool {
    const struct gtel_env *env;
    bool may_wake;
    bool is_wsl; /* GPUs are known from the tool alone */
    char given[GTEL_AMD_TOOL_PATH_MAX];
    const char *path; /* of the tool in use; NULL: none was found */
    size_t place;     /* where to look for the next one */
    struct gtel_amd_tool_gpu gpu[GTEL_AMD_TOOL_GPUS];
    size_t n;
    struct gtel_amd_tool_answer answer[GTEL_AMD_TOOL_PHASES];
    uint64_t read_ns[GTEL_AMD_TOOL_PHASES];
    uint64_t valid_ns; /* until when the values may be repeated */
    bool is_new;       /* the counters were not reported yet */
    bool has_waited;   /* for the first answer */
    bool is_asleep;    /* a GPU was, when a run was due */
    bool has_asked;    /* in this run, for what is static */
    enum gtel_amd_tool_phase phase;
    int child_plus_1; /* 0: none runs */
    uint64_t start_ns;
    uint64_t due_ns;
    struct gtel_buf output;
    struct gtel_backoff pause;
    int error;
    char why[200];
};

/*
 * Counts the GPUs that a driver of AMD is bound to, and adds them to tool, which may be NULL. 0
 * where one of them has the driver's files: then another source reads them.
 */
size_t gtel_amd_tool_gpus(const struct gtel_env *env, struct gtel_amd_tool *tool);
/* In WSL there is neither sysfs nor PCI, but a tool may be built for it. */
bool gtel_amd_tool_is_wsl(const struct gtel_env *env);
/* The first tool that is there, counted from that place of four on; NULL when there is none. */
const char *gtel_amd_tool_find(const struct gtel_env *env, size_t from);
/* The GPU of that address, or NULL; and the same, added where it is missing and there is room. */
struct gtel_amd_tool_gpu *gtel_amd_tool_gpu(struct gtel_amd_tool *tool, const char *address);
struct gtel_amd_tool_gpu *gtel_amd_tool_add(struct gtel_amd_tool *tool, const char *address,
                                            const char *driver);
void gtel_amd_tool_register(struct gtel_amd_tool *tool, struct gtel_registry *registry,
                            struct gtel_amd_tool_gpu *gpu);
/* As gtel_awake_look; all are awake where that does not matter. */
int gtel_amd_tool_look(const struct gtel_amd_tool *tool, const struct gtel_amd_tool_gpu *gpu,
                       bool *ret_asleep);

bool gtel_amd_tool_is_rocm(const struct gtel_amd_tool *tool);
/* Goes on with the run, or begins one that is due; waits at most wait_ns for output. */
void gtel_amd_tool_advance(struct gtel_amd_tool *tool, struct gtel_registry *registry,
                           uint64_t wait_ns);
/* Ends the run, if there is one. */
void gtel_amd_tool_stop(struct gtel_amd_tool *tool);

#endif
