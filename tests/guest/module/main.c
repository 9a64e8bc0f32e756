/* SPDX-License-Identifier: GPL-2.0-only */
/* The driver: binds to QEMU's pci-testdev and makes a DRM device of it. */
#include "guest.h"

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_ioctl.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/pm_runtime.h>

enum { QEMU_VENDOR = 0x1b36, QEMU_TESTDEV = 0x0005 };
/*
 * Battlemage G21 (Arc B580), and Alder Lake-P, an integrated GPU (include/drm/intel/pciids.h).
 * The queries are DRM_XE_DEVICE_QUERY and DRM_I915_QUERY.
 */
#ifdef GUEST_XE
enum { GPU_DEVICE = 0xe20b, QUERY = 0x00 };
#else
enum { GPU_DEVICE = 0x46a6, QUERY = 0x39 };
#endif

static struct drm_ioctl_desc guest_ioctls[] = {
    [QUERY] = {.func = guest_query, .flags = DRM_RENDER_ALLOW, .name = "QUERY"},
    [0x3f] = {.cmd = DRM_IOW(DRM_COMMAND_BASE + 0x3f, struct guest_busy),
              .func = guest_client_busy,
              .flags = DRM_RENDER_ALLOW,
              .name = "GUEST_BUSY"},
};

static const struct drm_driver guest_driver = {
    .driver_features = DRIVER_GEM | DRIVER_RENDER,
    .open = guest_client_open,
    .postclose = guest_client_close,
    .ioctls = guest_ioctls,
    .num_ioctls = ARRAY_SIZE(guest_ioctls),
    .fops = &guest_files,
    .name = GUEST_NAME,
    .desc = "made-up GPU for tests",
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
    .date = "20260101",
#endif
    .major = 1,
};

static DEFINE_MUTEX(bound_lock);
static struct guest_gpu *bound;

/*
 * What the driver reports of a hang that a reset has fixed: i915 three messages (gt/intel_reset.c),
 * xe one, from drm_dev_wedged_event of Linux 6.15.
 */
static void report_hang(struct guest_gpu *gpu)
{
#ifdef GUEST_XE
    static const char *const texts[] = {"WEDGED=none"};
#else
    static const char *const texts[] = {"ERROR=1", "RESET=1", "ERROR=0"};
#endif
    unsigned int i;
    for (i = 0; i < ARRAY_SIZE(texts); i++) {
        char *envp[] = {(char *)texts[i], NULL};
        kobject_uevent_env(&gpu->drm.primary->kdev->kobj, KOBJ_CHANGE, envp);
    }
}

static int set_hangs(const char *text, const struct kernel_param *param)
{
    unsigned int n;
    int r = kstrtouint(text, 10, &n);
    mutex_lock(&bound_lock);
    for (; r == 0 && bound && n > 0; n--)
        report_hang(bound);
    mutex_unlock(&bound_lock);
    return r;
}

static const struct kernel_param_ops hangs_ops = {.set = set_hangs};
module_param_cb(hangs, &hangs_ops, NULL, 0200);
MODULE_PARM_DESC(hangs, "writing a number reports that many hangs");

static void set_bound(struct guest_gpu *gpu)
{
    mutex_lock(&bound_lock);
    bound = gpu;
    mutex_unlock(&bound_lock);
}

/* May sleep after a tenth of a second, once somebody writes "auto" to power/control. */
static void start_runtime_pm(struct device *dev)
{
    pm_runtime_set_autosuspend_delay(dev, 100);
    pm_runtime_use_autosuspend(dev);
    pm_runtime_mark_last_busy(dev);
    pm_runtime_put_autosuspend(dev);
}

static int guest_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
    struct guest_gpu *gpu;
    int r = pci_enable_device(pdev);
    if (r)
        return r;
    gpu = devm_drm_dev_alloc(&pdev->dev, &guest_driver, struct guest_gpu, drm);
    if (IS_ERR(gpu)) {
        pci_disable_device(pdev);
        return PTR_ERR(gpu);
    }
    gpu->pdev = pdev;
    gpu->bound_ns = ktime_get_ns();
    guest_load_restart(gpu->bound_ns);
    pci_set_drvdata(pdev, gpu);
    r = drm_dev_register(&gpu->drm, 0);
    if (r)
        goto disable;
    /* As the real drivers: the card is there before its PMU and its folders are. */
    r = guest_pmu_register(gpu);
    if (r)
        goto unplug;
    r = guest_gt_add(gpu);
    if (r)
        goto unregister;
    start_runtime_pm(&pdev->dev);
    set_bound(gpu);
    return 0;
unregister:
    guest_pmu_unregister(gpu);
unplug:
    drm_dev_unplug(&gpu->drm);
disable:
    pci_disable_device(pdev);
    return r;
}

static void guest_remove(struct pci_dev *pdev)
{
    struct guest_gpu *gpu = pci_get_drvdata(pdev);
    pm_runtime_get_sync(&pdev->dev);
    pm_runtime_dont_use_autosuspend(&pdev->dev);
    set_bound(NULL);
    if (!guest_is_old)
        guest_gt_remove(gpu);
    guest_pmu_unregister(gpu);
    if (guest_is_old)
        guest_gt_remove(gpu);
    drm_dev_unplug(&gpu->drm);
    pci_disable_device(pdev);
}

static int guest_runtime_suspend(struct device *dev)
{
    return 0;
}

static int guest_runtime_resume(struct device *dev)
{
    return 0;
}

static const struct dev_pm_ops guest_pm = {
    SET_RUNTIME_PM_OPS(guest_runtime_suspend, guest_runtime_resume, NULL)};

static const struct pci_device_id guest_ids[] = {
    {PCI_DEVICE(PCI_VENDOR_ID_INTEL, GPU_DEVICE)},
    {},
};

static struct pci_driver guest_pci = {
    .name = GUEST_NAME,
    .id_table = guest_ids,
    .probe = guest_probe,
    .remove = guest_remove,
    .driver.pm = &guest_pm,
};

/* The device as the one that the driver is for: all programs read these numbers in sysfs. */
static void dress_up(struct pci_dev *pdev)
{
    pdev->vendor = PCI_VENDOR_ID_INTEL;
    pdev->device = GPU_DEVICE;
    pdev->subsystem_vendor = PCI_VENDOR_ID_INTEL;
    pdev->subsystem_device = 0x2212;
    pdev->class = PCI_CLASS_DISPLAY_VGA << 8;
}

static int __init guest_init(void)
{
    struct pci_dev *pdev = pci_get_device(QEMU_VENDOR, QEMU_TESTDEV, NULL);
    int r;
    if (!pdev)
        return -ENODEV;
    dress_up(pdev);
    pci_dev_put(pdev);
    guest_ioctls[QUERY].cmd = guest_query_command;
    guest_events_init();
    r = guest_pmu_init();
    if (r)
        return r;
    r = pci_register_driver(&guest_pci);
    if (r)
        guest_pmu_exit();
    return r;
}

static void __exit guest_exit(void)
{
    pci_unregister_driver(&guest_pci);
    guest_pmu_exit();
}

module_init(guest_init);
module_exit(guest_exit);
MODULE_DESCRIPTION("Made-up GPU for tests in a virtual machine");
MODULE_LICENSE("GPL");
