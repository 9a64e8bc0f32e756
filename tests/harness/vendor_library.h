/* SPDX-License-Identifier: MIT */
/*
 * The source of a vendor library with a real shared object: files and clock of a recorded machine,
 * libraries of the real one, and of these one file only. One world at a time.
 *
 * A test program of it is also the helper of its own tests, as `PROGRAM --lane NAME … --fake FILE`:
 * the helpers of gtel have a clean environment, so that no variable could lead them to another
 * library.
 */
#ifndef GTEL_TESTS_HARNESS_VENDOR_LIBRARY_H
#define GTEL_TESTS_HARNESS_VENDOR_LIBRARY_H

#include "gtel.h"
#include "recording/tree.h"

#define SECOND_NS 1000000000u

/* What a library is about. */
struct vendor {
    const char *machine; /* the recorded one, without its last line */
    const char *name;    /* whose GPUs */
    const char *lane;
    const char *soname;
    enum gtel_metric metric; /* one that it always has */
};

struct world {
    const struct vendor *vendor;
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_env real;
    struct gtel_env_ops ops;
    char file[1024];
};

extern struct world world;

/* file: of the library, or a name for the dynamic loader. */
bool begin_world(const struct vendor *vendor, const char *file);
/* The same with FOLDER/NAME/SONAME; a failure is a check that fails, under that name. */
bool begin_variant(const struct vendor *vendor, const char *folder, const char *name);
void end_world(void);

/* A context on the world, and what it has put and said. */
struct front {
    struct {
        unsigned puts[GTEL_M_COUNT]; /* of the last gather */
        double last[GTEL_M_COUNT];
        char log[2048];
    } view;
    struct gtel_options options;
    struct gtel_sink sink;
    const char *helper_args[3];
    struct gtel_context *context;
};

/* helper: this program; NULL runs the source in here. */
bool start(struct front *front, const char *helper);
void gather(struct front *front);
/* Gathers until a metric is there, at most 5 s. */
bool gather_until(struct front *front, enum gtel_metric metric);
void nap(unsigned ms);

/* A call that never returns costs this lane its readings, and nobody else any time. */
void test_hang(const struct vendor *vendor, const char *folder, const char *helper);
/* A library that crashes ends its helper; a new one is started after a pause. */
void test_crash(const struct vendor *vendor, const char *folder, const char *helper);
/* What the front end starts: serves the lane with that library. Its status. */
int serve_lane(const struct vendor *vendor, int argc, char **argv);

#endif
