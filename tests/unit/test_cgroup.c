/* SPDX-License-Identifier: MIT */
/* Where a process runs: unit, container and pod by its cgroup. */
#include "parse/cgroup.h"
#include "base/compiler.h"
#include "harness/test.h"
#include "parse/job.h"

#include <errno.h>

/* 64 digits, and the 12 of them that are shown. */
#define A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define A12 "0123456789ab"
#define B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define B12 "fedcba987654"
#define UID "7881ed9e-c63e-4425-b5e0-ac55a08ae939"
#define UID_ "7881ed9e_c63e_4425_b5e0_ac55a08ae939"
#define HASH "d9be2b9a0f3f8e0f2c1a4b5c6d7e8f90"
#define USER "/user.slice/user-1000.slice/user@1000.service"

struct cgroup_case {
    const char *label;
    const char *text;
    const char *unit;
    const char *container;
    const char *pod;
};

static const struct cgroup_case systemd_cases[] = {
    {"the root", "0::/\n", "", "", ""},
    {"a service", "0::/system.slice/jellyfin.service\n", "jellyfin.service", "", ""},
    {"no newline", "0::/system.slice/jellyfin.service", "jellyfin.service", "", ""},
    {"an instance", "0::/system.slice/system-getty.slice/getty@tty1.service\n",
     "getty@tty1.service", "", ""},
    {"init", "0::/init.scope\n", "init.scope", "", ""},
    {"a slice alone", "0::/system.slice/system-getty.slice\n", "", "", ""},
    {"a session", "0::/user.slice/user-1000.slice/session-2.scope\n", "session-2.scope", "", ""},
    {"a user's manager", "0::" USER "/init.scope\n", "user@1000.service", "", ""},
    {"a user's service", "0::" USER "/app.slice/steam.service\n", "steam.service", "", ""},
    {"a user's scope with escapes",
     "0::" USER "/app.slice/app-gnome-org.gnome.Nautilus\\x2dview-4711.scope\n",
     "app-gnome-org.gnome.Nautilus-view-4711.scope", "", ""},
    {"an escaped control character", "0::/system.slice/a\\x0ab\\x1b.service\n", "a?b?.service", "",
     ""},
    {"no escape", "0::/system.slice/a\\x2\\xzz\\.service\n", "a\\x2\\xzz\\.service", "", ""},
    {"an escape at the end", "0::/system.slice/a.service\\x2\n", "", "", ""},
    {"an escaped name", "0::/system.slice/_cpu.service\n", "cpu.service", "", ""},
    {"below a service", "0::/system.slice/ollama.service/workers/a\n", "ollama.service", "", ""},
    {"a bus name with colons", "0::/system.slice/dbus-:1.3-org.x.Problems@0.service\n",
     "dbus-:1.3-org.x.Problems@0.service", "", ""},
    {"other kinds", "0::/system.slice/mnt-data.mount\n", "mnt-data.mount", "", ""},
    {"a suffix alone", "0::/system.slice/.service\n", "", "", ""},
    {"a suffix within", "0::/system.slice/a.service.d\n", "", "", ""},
    {"being removed", "0::/system.slice/a.service (deleted)\n", "a.service", "", ""},
    {"not UTF-8", "0::/system.slice/a\xff.service\n", "a?.service", "", ""},
    {"a virtual machine of Proxmox", "0::/qemu.slice/101.scope\n", "101.scope", "", ""},
    {"version 1",
     "12:pids:/system.slice/a.service\n2:cpu,cpuacct:/system.slice\n"
     "1:name=systemd:/system.slice/a.service\n",
     "a.service", "", ""},
    {"both versions", "2:cpu,cpuacct:/\n1:name=systemd:/user.slice/b.scope\n0::/s/a.service\n",
     "a.service", "", ""},
    {"version 1, of which systemd's own is the best",
     "12:pids:/s/a.service\n1:name=systemd:/s/b.service\n", "b.service", "", ""},
    {"version 1, of which none is better", "12:pids:/s/a.service\n11:cpu:/s/b.service\n",
     "a.service", "", ""},
    {"version 2 is not used", "1:name=systemd:/system.slice/a.service\n0::/\n", "a.service", "",
     ""},
    {"a path with colons", "0::/a:b/c.service\n", "c.service", "", ""},
    {"lines that are none", "\nx\n0:/a.service\n-1::/b.service\n3:x:c.service\n0::/d.service\n",
     "d.service", "", ""},
};

static const struct cgroup_case container_cases[] = {
    {"Docker", "0::/docker/" A "\n", "", A12, ""},
    {"Docker, systemd", "0::/system.slice/docker-" A ".scope\n", "docker-" A ".scope", A12, ""},
    {"Docker, a cgroup of its own below", "0::/system.slice/docker-" A ".scope/init\n",
     "docker-" A ".scope", A12, ""},
    {"Docker, rootless", "0::" USER "/user.slice/docker-" A ".scope\n", "docker-" A ".scope", A12,
     ""},
    {"Docker, version 1",
     "11:devices:/docker/" A "\n3:cpu,cpuacct:/docker/" A "\n1:name=systemd:/docker/" A "\n", "",
     A12, ""},
    {"Docker, both versions",
     "11:devices:/docker/" A "\n1:name=systemd:/docker/" A "\n"
     "0::/system.slice/containerd.service\n",
     "", A12, ""},
    {"Docker itself", "0::/system.slice/docker.service\n", "docker.service", "", ""},
    {"Docker's builds", "0::/docker/buildkit/x2xqv0l1v1gk5p6q3m4n5b6v7\n", "", "", ""},
    {"nerdctl", "0::/default/" A "\n", "", A12, ""},
    {"nerdctl, systemd", "0::/system.slice/nerdctl-" A ".scope\n", "nerdctl-" A ".scope", A12, ""},
    {"Podman", "0::/machine.slice/libpod-" A ".scope/container\n", "libpod-" A ".scope", A12, ""},
    {"Podman's monitor", "0::/machine.slice/libpod-conmon-" A ".scope\n",
     "libpod-conmon-" A ".scope", "", ""},
    {"Podman, rootless", "0::" USER "/user.slice/libpod-" A ".scope/container\n",
     "libpod-" A ".scope", A12, ""},
    {"Podman, no systemd", "0::/libpod_parent/libpod-" A "\n", "", A12, ""},
    {"Podman's monitor, no systemd", "0::/libpod_parent/conmon\n", "", "", ""},
    {"Podman, split", "0::/system.slice/web.service/libpod-payload-" A "\n", "web.service", A12,
     ""},
    {"Podman's monitor, split", "0::/system.slice/web.service/runtime\n", "web.service", "", ""},
    {"Podman, a pod", "0::/machine.slice/machine-libpod_pod_" B ".slice/libpod-" A ".scope\n",
     "libpod-" A ".scope", A12, B12},
    {"Podman, a pod, no systemd", "0::/libpod_parent/" B "/libpod-" A "\n", "", A12, B12},
    {"Podman, a pod in the root", "0::/libpod_pod_" B ".slice/libpod-" A ".scope\n",
     "libpod-" A ".scope", A12, B12},
    {"Podman, no slice", "0::/machine.slice/machine-libpod_pod_" B "\n", "", B12, ""},
    {"Podman, no pod's slice", "0::/machine.slice/machine-" B ".slice/libpod-" A ".scope\n",
     "libpod-" A ".scope", A12, ""},
    {"Podman, a short id", "0::/libpod_parent/abc/libpod-" A "\n", "", A12, ""},
    {"Podman, no hexadecimal digits",
     "0::/libpod_parent/g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/libpod-" A
     "\n",
     "", A12, ""},
    {"Podman, a user's pod",
     "0::" USER "/user.slice/user-libpod_pod_" B ".slice/libpod-" A ".scope/container\n",
     "libpod-" A ".scope", A12, B12},
    {"Amazon ECS", "9:memory:/ecs/gpu-cluster/5a081c13b1cf4d3c/" A "\n", "", A12, ""},
    {"one digit less", "0::/docker/123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
     "", "", ""},
    {"one digit more", "0::/docker/0" A "\n", "", "", ""},
    {"a word without a dash", "0::/docker" A "\n", "", "", ""},
    {"no hexadecimal digits",
     "0::/docker/g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n", "", "", ""},
    {"another cgroup namespace", "0::/../docker-" A ".scope\n", "docker-" A ".scope", A12, ""},
    {"another one, no systemd", "0::/../../" A "\n", "", A12, ""},
    {"a unit beyond one", "0::/../../system.slice/a.service\n", "a.service", "", ""},
    {"LXC", "0::/lxc.payload.c1\n", "", "c1", ""},
    {"LXC, a service in it", "0::/lxc.payload.c1/system.slice/a.service\n", "a.service", "c1", ""},
    {"LXC's monitor", "0::/lxc.monitor.c1\n", "", "", ""},
    {"LXC 3", "1:name=systemd:/lxc.payload/c1/init.scope\n", "init.scope", "c1", ""},
    {"LXC 3's monitor", "1:name=systemd:/lxc.monitor/c1\n", "", "", ""},
    {"LXC 2, names of one byte", "1:name=systemd:/lxc/a/b\n", "", "a", ""},
    {"LXC 2, from another namespace", "1:name=systemd:/../lxc/../c1\n", "", "c1", ""},
    {"LXC 2, twice a slash", "1:name=systemd:/lxc//c1\n", "", "c1", ""},
    {"LXC 2", "1:name=systemd:/lxc/c1/system.slice/a.service\n", "a.service", "c1", ""},
    {"LXC, a user's", "0::" USER "/app.slice/lxc.payload.c-1\n", "user@1000.service", "c-1", ""},
    {"LXC, version 2 is not used for it",
     "13:name=systemd:/init.scope\n12:rdma:/lxc.payload.c1\n7:memory:/lxc.payload.c1\n"
     "0::/init.scope\n",
     "", "c1", ""},
    {"Incus, a project", "0::/lxc.payload.ml_trainer\n", "", "ml_trainer", ""},
    {"Proxmox", "0::/lxc/101/ns/system.slice/a.service\n", "a.service", "101", ""},
    {"nspawn", "0::/machine.slice/machine-debian\\x2d12.scope/payload/system.slice/a.service\n",
     "a.service", "debian-12", ""},
    {"nspawn, a service", "0::/machine.slice/systemd-nspawn@web.service/payload\n",
     "systemd-nspawn@web.service", "web", ""},
    {"nspawn itself", "0::/machine.slice/systemd-nspawn@web.service/supervisor\n",
     "systemd-nspawn@web.service", "", ""},
    {"NixOS", "0::/machine.slice/container@web.service/payload/system.slice/a.service\n",
     "a.service", "web", ""},
    {"libvirt", "0::/machine.slice/machine-qemu\\x2d1\\x2dwin11.scope/libvirt/emulator\n",
     "machine-qemu-1-win11.scope", "qemu-1-win11", ""},
    {"a machine elsewhere", "0::/system.slice/machine-a.scope\n", "machine-a.scope", "", ""},
    {"Docker in LXC", "0::/lxc.payload.c1/system.slice/docker-" A ".scope\n", "docker-" A ".scope",
     A12, ""},
    {"Docker in LXC, version 1", "7:memory:/lxc/c1\n4:devices:/lxc/c1/docker/" A "\n", "", A12, ""},
    {"LXC in LXC", "0::/lxc.payload.c1/lxc.payload.c2\n", "", "c2", ""},
    {"Docker in Docker", "0::/docker/" A "/docker/" B "\n", "", B12, ""},
};

static const struct cgroup_case kubernetes_cases[] = {
    {"guaranteed", "0::/kubepods/pod" UID "/" A "\n", "", A12, UID},
    {"burstable", "0::/kubepods/burstable/pod" UID "/" A "\n", "", A12, UID},
    {"best effort", "0::/kubepods/besteffort/pod" UID "/" A "\n", "", A12, UID},
    {"a pod from a file", "0::/kubepods/burstable/pod" HASH "/" A "\n", "", A12, HASH},
    {"guaranteed, systemd",
     "0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" A ".scope\n",
     "cri-containerd-" A ".scope", A12, UID},
    {"burstable, systemd",
     "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
     ".slice/cri-containerd-" A ".scope\n",
     "cri-containerd-" A ".scope", A12, UID},
    {"best effort, systemd, CRI-O with crun",
     "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" A
     ".scope/container\n",
     "crio-" A ".scope", A12, UID},
    {"CRI-O's monitor", "0::/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" A ".scope\n",
     "crio-conmon-" A ".scope", "", UID},
    {"CRI-O, no systemd", "0::/kubepods/burstable/pod" UID "/crio-" A "\n", "", A12, UID},
    {"Docker", "5:devices:/kubepods.slice/kubepods-pod" HASH ".slice/docker-" A ".scope\n",
     "docker-" A ".scope", A12, HASH},
    {"Kata", "0::/kubepods/burstable/pod" UID "/kata_" A "\n", "", A12, UID},
    {"half systemd",
     "0::/system.slice/containerd.service/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" A
     "\n",
     "containerd.service", A12, UID},
    {"half systemd, in the root", "7:memory:/kubepods-pod" UID_ ".slice:cri-containerd:" A "\n", "",
     A12, UID},
    {"kind",
     "0::/docker/" B "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
     "kubelet-kubepods-besteffort-pod" UID_ ".slice/cri-containerd-" A ".scope\n",
     "cri-containerd-" A ".scope", A12, UID},
    {"kind, no systemd",
     "0::/system.slice/docker-" B ".scope/kubelet/kubepods/burstable/pod" UID "/" A "\n",
     "docker-" B ".scope", A12, UID},
    {"Docker in a pod", "0::/kubepods/pod" UID "/" A "/docker/" B "\n", "", B12, UID},
    {"from another namespace",
     "0::/../../kubepods-burstable-pod" UID_ ".slice/cri-containerd-" A ".scope\n",
     "cri-containerd-" A ".scope", A12, UID},
    {"another container of one's own pod", "0::/../" A "\n", "", A12, ""},
    {"a slice of one level", "0::/pod" UID_ ".slice/" A "\n", "", A12, UID},
    {"no uid, systemd", "0::/kubepods.slice/kubepods-podman.slice/" A "\n", "", A12, ""},
    {"no uid", "0::/kubepods/podman/" A "\n", "", A12, ""},
    {"dashes in a hash", "0::/kubepods/podd9be2b9a-f3f8e0f2c1a4b5c6d7e8f90/x\n", "", "", ""},
};

#define STEPD "0::/system.slice/slurmstepd.scope"
#define FLUX "0::/user.slice/user-765.slice/user@765.service"
#define KUBE "0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" A ".scope"

static const struct {
    const char *label;
    const char *text;
    const char *job;
} job_cases[] = {
    {"Slurm", STEPD "/job_1392969/step_0/user/task_0\n", "1392969"},
    {"Slurm, a job alone", STEPD "/job_1\n", "1"},
    {"Slurm, being removed", STEPD "/job_1 (deleted)\n", "1"},
    {"Slurm, 32 bits", STEPD "/job_4294967295/step_extern/user/task_4294967295", "4294967295"},
    {"Slurm, several daemons",
     "0::/system.slice/slurm-worker-1_slurmstepd.scope/job_4749/step_batch/user/task_special\n",
     "4749"},
    {"Slurm, a slice of its own", "0::/gpu.slice/slurmstepd.scope/job_7/step_0/user/task_0\n", "7"},
    {"Slurm, its daemon of the step", STEPD "/job_8/step_0/slurm\n", "8"},
    {"Slurm, a SLUID", STEPD "/s5K1KKYAYG5D00/step_0/user/task_0\n", "s5K1KKYAYG5D00"},
    {"Slurm, a SLUID, several daemons",
     "0::/system.slice/n1_slurmstepd.scope/sEKNKTV3WPV500/step_batch/user/task_0\n",
     "sEKNKTV3WPV500"},
    {"a digit less", STEPD "/s5K1KKYAYG5D0/step_0\n", ""},
    {"a digit more", STEPD "/s5K1KKYAYG5D000/step_0\n", ""},
    {"no such digits", STEPD "/sIIIIIIIIIIIII/step_0\n", ""},
    {"beyond 64 bits", STEPD "/sG000000000000/step_0\n", ""},
    {"small letters", STEPD "/s5k1kkyayg5d00/step_0\n", ""},
    {"a SLUID elsewhere", "0::/slurm/uid_0/s5K1KKYAYG5D00\n", ""},
    {"Slurm itself", STEPD "/system\n", ""},
    {"Slurm's daemon", "0::/system.slice/slurmd.service\n", ""},
    {"eleven digits", STEPD "/job_12345678901/step_0\n", ""},
    {"no number", STEPD "/job_/step_0\n", ""},
    {"a sign", STEPD "/job_-1/step_0\n", ""},
    {"a letter", STEPD "/job_1a/step_0\n", ""},
    {"Slurm 1",
     "10:devices:/slurm/uid_2101171/job_280678/step_interactive/task_0\n"
     "1:name=systemd:/system.slice/slurmd.service\n",
     "280678"},
    {"Slurm 1, several daemons", "9:memory:/slurm_node7/uid_1000/job_31/step_0+1/task_0\n", "31"},
    {"Slurm 1, elsewhere", "9:memory:/slurmy/uid_1000/job_31\n", ""},
    {"Slurm 1, no uid", "9:memory:/slurm/uid_a/job_31\n", ""},
    {"both versions, the job in the first",
     "9:memory:/slurm/uid_1000/job_31/step_0\n0::/system.slice/slurmd.service\n", "31"},
    {"two lines, two jobs: that of the better line",
     "9:memory:/slurm/uid_1000/job_31/step_0\n" STEPD "/job_32/step_0\n", "32"},
    {"a container's line has no job",
     "9:memory:/slurm/uid_1000/job_31/step_0\n8:pids:/docker/" A "\n", "31"},
    {"nested: the innermost", STEPD "/job_1/step_0/user/task_0/slurmstepd.scope/job_2/step_0\n",
     "2"},
    {"slurmd in a pod", KUBE "/system.slice/slurmstepd.scope/job_5/step_0/user/task_0\n", "5"},
    {"from another namespace", "0::/../../slurmstepd.scope/job_6/step_0\n", "6"},
    /* What a user can make. */
    {"a user's slice", "0::/user.slice/user-1000.slice/job_456\n", ""},
    {"a name that begins so", "0::/slurmstepd.scope.d/job_1\n", ""},
    {"a scope that ends so", "0::/xslurmstepd.scope/job_1\n", ""},
    {"forged: Slurm", "0::" USER "/slurmstepd.scope/job_1/step_0\n", ""},
    {"forged: deeper", "0::" USER "/app.slice/a.service/system.slice/slurmstepd.scope/job_1\n", ""},
    {"forged: a SLUID", "0::" USER "/n_slurmstepd.scope/s5K1KKYAYG5D00/step_0\n", ""},
    {"forged: Slurm 1", "1:name=systemd:" USER "/slurm/uid_0/job_1\n", ""},
    {"forged: PBS", "0::" USER "/pbs_jobs.service/jobid/1.s\n", ""},
    {"forged: Torque", "0::" USER "/torque/1.s\n", ""},
    {"forged: Grid Engine", "0::" USER "/a-jobs.slice/a.1.scope\n", ""},
    {"forged: OAR", "0::" USER "/oar/alice_1\n", ""},
    {"forged: OAR 3", "0::" USER "/oar.slice/oar-u1-j2\n", ""},
    {"forged: Flux", "0::" USER "/imp-shell-0-f123.service\n", ""},
    {"forged: a user's Flux", "0::" USER "/shell-0-f123.service\n", ""},
    {"forged: a strange user", "0::/user@x.service/slurmstepd.scope/job_1\n", ""},
    {"forged: in a rootless container",
     "0::" USER "/user.slice/docker-" A ".scope/system.slice/slurmstepd.scope/job_1\n", ""},
    {"forged: a user beyond 64 bits and one more",
     "0::/user@18446744073709551615.service/slurmstepd.scope/job_1\n", ""},
    {"a user's manager below a job", STEPD "/job_1/step_0/user/task_0/user@0.service/job_2\n", "1"},
    {"the rest of the folder", "0::/user@1.service\n" STEPD "/job_1\n", "1"},
    /* Others. */
    {"PBS", "4:memory:/pbs_jobs.service/jobid/2404743.opbs\n", "2404743.opbs"},
    {"PBS, an array", "4:memory:/pbs_jobs.service/jobid/12[3].pbs01/child\n", "12[3].pbs01"},
    {"PBS 2020", "4:devices:/pbspro.service/jobid/1.s\n", "1.s"},
    {"PBS, version 2", "0::/pbs_jobs.service/jobs/12345.2\n", "12345.2"},
    {"PBS, another name", "4:memory:/sched.service/jobid/7.s\n", "7.s"},
    {"PBS, another name, an array", "4:memory:/sched.service/jobid/7[1].s\n", "7[1].s"},
    {"PBS, another name, no server", "4:memory:/sched.service/jobid/7\n", ""},
    {"PBS, another name, no index", "4:memory:/sched.service/jobid/7[].s\n", ""},
    {"PBS, no service", "4:memory:/a/jobid/7.s\n", ""},
    {"PBS, no number", "4:memory:/pbs_jobs.service/jobid/opbs\n", ""},
    {"PBS 18", "4:cpuset:/pbspro.slice/pbspro-12\\x5b3\\x5d.pbs\\x2d01.slice\n", "12[3].pbs-01"},
    {"PBS 18, one digit", "4:cpuset:/pbspro.slice/pbspro-1.pbs.slice\n", "1.pbs"},
    {"PBS 18, no systemd", "4:cpuset:/pbspro/0.headnode\n", "0.headnode"},
    {"PBS 18 itself", "4:cpuset:/pbspro.slice/pbspro-mom.slice\n", ""},
    {"Torque", "4:cpuset:/torque/1182958.batch.example.com\n", "1182958.batch.example.com"},
    {"Torque, an array", "4:cpuset:/torque/123[4].server/0\n", "123[4].server"},
    {"Torque, one digit", "4:cpuset:/torque/1.server\n", "1.server"},
    {"Torque itself", "4:cpuset:/torque/x\n", ""},
    {"Flux", FLUX "/imp-shell-450-fPY66riwfnP.service\n", "fPY66riwfnP"},
    {"Flux, a user's own instance", FLUX "/shell-0-fTE9HHdZvi3.service\n", ""},
    {"Flux, an instance that root runs", "0::/user@0.service/shell-0-fTE9HHdZvi3.service\n", ""},
    {"Flux, an instance of a service", "0::/system.slice/shell-0-fTE9HHdZvi3.service\n",
     "fTE9HHdZvi3"},
    {"Flux, the last user of the system", "0::/user@999.service/imp-shell-0-fPY66riwfnP.service\n",
     "fPY66riwfnP"},
    {"Flux, the first user", "0::/user@1000.service/imp-shell-0-fPY66riwfnP.service\n", ""},
    {"Flux, after a job", FLUX "/housekeeping-450-fPY66riwfnP.service\n", ""},
    {"Flux, no rank", FLUX "/imp-shell-fPY66riwfnP.service\n", ""},
    {"Flux, no id", FLUX "/imp-shell-0-f.service\n", ""},
    {"Flux, no base 58", FLUX "/imp-shell-0-f0OIl.service\n", ""},
    {"Flux, another id", FLUX "/imp-shell-0-x1.service\n", ""},
    {"Gridware", "0::/ocs8012.slice/ocs8012-jobs.slice/ocs8012.21.scope\n", "21"},
    {"Gridware, an array", "0::/ocs8012.slice/ocs8012-jobs.slice/ocs8012.21.7.scope\n", "21.7"},
    {"Gridware, parallel",
     "0::/ocs8012.slice/ocs8012-jobs.slice/ocs8012-jobs-34.2.slice/ocs8012.34.2.master.scope\n",
     "34.2"},
    {"Gridware, a task", "0::/a.slice/a-jobs.slice/a-jobs-34.slice/a.34-5.scope\n", "34"},
    {"Gridware, one digit", "0::/a.slice/a-jobs.slice/a.3.scope\n", "3"},
    {"Gridware, another cell", "0::/a.slice/b-jobs.slice/a.34.scope\n", ""},
    {"Gridware, no scope", "0::/a.slice/a-jobs.slice/a.34.service\n", ""},
    {"Gridware, no number", "0::/a.slice/a-jobs.slice/a.b.scope\n", ""},
    {"Gridware, a word", "0::/a.slice/a-jobs.slice/a.34x.scope\n", ""},
    {"OAR 2", "4:cpuset:/oar/alice_b_4711\n", "4711"},
    {"OAR 2, the shortest", "4:cpuset:/oar/a_1\n", "1"},
    {"OAR 2, no user", "4:cpuset:/oar/_4711\n", ""},
    {"OAR 2, no number", "4:cpuset:/oar/alice_\n", ""},
    {"OAR 3", "0::/oar.slice/oar-u1000.slice/oar-u1000-j4711s0\n", "4711"},
    {"OAR 3, the shortest", "0::/oar.slice/oar-u7.slice/oar-u7-j4\n", "4"},
    {"OAR 3, no user", "0::/oar.slice/oar-u-j4711\n", ""},
    {"OAR 3, no job", "0::/oar.slice/oar-u1000-k4711\n", ""},
    {"OAR 3 elsewhere", "0::/oar-u1000-j4711\n", ""},
    /* Not jobs, on purpose. */
    {"HTCondor",
     "0::/system.slice/htcondor/_var_lib_condor_execute_slot1_1@n1.slice/"
     "_var_lib_condor_execute_slot1_1@n1.scope\n",
     ""},
    {"Nomad", "0::/nomad.slice/share.slice/" UID ".web.scope\n", ""},
};

static void check_jobs(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(job_cases); i++) {
        struct gtel_cgroup got = {.unit = ""};
        test_label = job_cases[i].label;
        CHECK_INT(gtel_cgroup_parse(gtel_str_of(job_cases[i].text), &got), 0);
        CHECK_STR(gtel_str_of(got.job), job_cases[i].job);
        CHECK_INT(got.is_sluid, job_cases[i].job[0] == 's');
    }
    test_label = "what goes with a job";
    struct gtel_cgroup got = {.unit = ""};
    CHECK_INT(
        gtel_cgroup_parse(GTEL_STR(STEPD "/s5K1KKYAYG5D00/step_0/user/task_0 (deleted)\n"), &got),
        0);
    CHECK_STR(got.job_step, "/system.slice/slurmstepd.scope/s5K1KKYAYG5D00/step_0");
    CHECK_STR(gtel_str_of(got.unit), "slurmstepd.scope");
    CHECK_INT(got.job_manager_plus_1, 0);
    CHECK_INT(gtel_cgroup_parse(GTEL_STR("0::/../slurmstepd.scope/s5K1KKYAYG5D00/step_0\n"), &got),
              0);
    CHECK_STR(gtel_str_of(got.job), "s5K1KKYAYG5D00");
    CHECK_STR(got.job_step, ""); /* nobody knows where that is */
    CHECK_INT(gtel_cgroup_parse(GTEL_STR(FLUX "/imp-shell-4-f1.service\n"), &got), 0);
    CHECK_INT(got.job_manager_plus_1, 766);
    CHECK_INT(gtel_cgroup_parse(GTEL_STR(KUBE "/slurmstepd.scope/job_5/step_0\n"), &got), 0);
    CHECK_STR(gtel_str_of(got.container), A12);
    CHECK_STR(gtel_str_of(got.pod), UID);
    test_label = "";
}

static const struct {
    const char *title;
    const char *job;
} title_cases[] = {
    {"slurmstepd: [3385.0]", "3385"},
    {"slurmstepd: [3385.batch]", "3385"},
    {"slurmstepd: [3385.extern stepmgr]", "3385"},
    {"slurmstepd: [4294967295.interactive]", "4294967295"},
    {"slurmstepd: [12345678901.0]", ""},
    {"slurmstepd: [3385.]", ""},
    {"slurmstepd: [3385]", ""},
    {"slurmstepd: [.0]", ""},
    {"slurmstepd: [s5K1KKYAYG5D00.0]", ""},
    {"slurmstepd: [3385.0", ""},
    {"slurmstepd: [3385.0] x", ""},
    {"slurmstepd: []", ""},
    {"slurmstepd", ""},
    {"/usr/sbin/slurmstepd infinity", ""},
    {"xslurmstepd: [1.0]", ""},
    {"", ""},
};

static void check_titles(void)
{
    struct gtel_str job;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(title_cases); i++) {
        test_label = title_cases[i].title;
        job = GTEL_STR_NONE;
        CHECK_INT(gtel_job_title(gtel_str_of(title_cases[i].title), &job),
                  title_cases[i].job[0] != '\0');
        CHECK_STR(job, title_cases[i].job);
    }
    test_label = "what stands behind a NUL";
    CHECK(gtel_job_title(GTEL_STR("slurmstepd: [9.0]\0\0]"), &job));
    CHECK_STR(job, "9");
    CHECK(!gtel_job_title(GTEL_STR("slurmstepd: \0[9.0]"), &job));
    test_label = "";
}

static void check(const struct cgroup_case *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct gtel_cgroup got = {.unit = ""};
        test_label = c[i].label;
        CHECK_INT(gtel_cgroup_parse(gtel_str_of(c[i].text), &got), 0);
        CHECK_STR(gtel_str_of(got.unit), c[i].unit);
        CHECK_STR(gtel_str_of(got.container), c[i].container);
        CHECK_STR(gtel_str_of(got.pod), c[i].pod);
    }
    test_label = "";
}

static void check_none(void)
{
    static const char *const texts[] = {
        "", "\n", "x", "0::", "0::\n", "0:/\n", ":::/\n", "0::a/\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct gtel_cgroup got = {.unit = "kept"};
        test_label = texts[i];
        CHECK_INT(gtel_cgroup_parse(gtel_str_of(texts[i]), &got), -ENODATA);
        CHECK_STR(gtel_str_of(got.unit), "kept");
    }
    test_label = "";
}

/* Texts that are too long are cut between two characters. */
static void check_long(void)
{
    char text[700];
    char name[300];
    struct gtel_cgroup got;
    for (size_t i = 0; i + 1 < 250; i += 2)
        memcpy(name + i, "\xc3\xa4", 2);
    name[250] = '\0';
    (void)snprintf(text, sizeof(text), "0::/lxc.payload.%s/%s.scope\n", name, name);
    CHECK_INT(gtel_cgroup_parse(gtel_str_of(text), &got), 0);
    CHECK_INT(strlen(got.unit), 126);
    CHECK(memcmp(got.unit, name, 126) == 0);
    CHECK_INT(strlen(got.container), 64);
    CHECK(memcmp(got.container, name, 64) == 0);
}

int main(void)
{
    check(systemd_cases, sizeof(systemd_cases) / sizeof(systemd_cases[0]));
    check(container_cases, sizeof(container_cases) / sizeof(container_cases[0]));
    check(kubernetes_cases, sizeof(kubernetes_cases) / sizeof(kubernetes_cases[0]));
    check_jobs();
    check_titles();
    check_none();
    check_long();
    return test_result();
}
