/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Runs in the kernel, once for each open file of each process (kernel: kernel/bpf/task_iter.c), and
 * writes those that are DRM devices (major 226) or accelerators (261) as struct gtel_drm_fd. It
 * reads and changes nothing else. Threads that share their files are passed over by the kernel.
 *
 * Only the members named here are used; libbpf finds where the running kernel has them.
 */
typedef unsigned short u16;
typedef unsigned int u32;

#define IN_KERNEL __attribute__((preserve_access_index))
#define SECTION(name) __attribute__((section(name), used))

struct inode {
    u16 i_mode;
    u32 i_rdev;
} IN_KERNEL;

struct file {
    struct inode *f_inode;
} IN_KERNEL;

struct task_struct {
    int tgid;
} IN_KERNEL;

struct seq_file;

struct bpf_iter_meta {
    struct seq_file *seq;
} IN_KERNEL;

struct bpf_iter__task_file {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
    u32 fd;
    struct file *file;
} IN_KERNEL;

/* BPF_FUNC_seq_write, of include/uapi/linux/bpf.h */
static long (*const seq_write)(struct seq_file *seq, const void *data, u32 n) = (void *)127;

/* As struct gtel_drm_fd. */
struct found {
    u32 pid;
    u32 fd;
    u32 major;
    u32 minor;
};

SECTION("iter/task_file") int gtel_drm_fds(struct bpf_iter__task_file *context)
{
    struct file *file = context->file;
    struct task_struct *task = context->task;
    if (!file || !task)
        return 0;
    struct inode *inode = file->f_inode;
    if ((inode->i_mode & 0170000) != 0020000) /* S_IFCHR */
        return 0;
    u32 device = inode->i_rdev; /* 12 bits of major, 20 of minor (include/linux/kdev_t.h) */
    if (device >> 20 != 226 && device >> 20 != 261)
        return 0;
    struct found found = {(u32)task->tgid, context->fd, device >> 20, device & 0xfffff};
    seq_write(context->meta->seq, &found, sizeof(found));
    return 0;
}

/* The helper above is for programs under the GPL, too. */
char terms[] SECTION("license") = "Dual MIT/GPL";
