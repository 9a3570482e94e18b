/* What the tracers know of the kernel: its helpers' types, and of its structures the few fields that are read.
 *
 * Nothing here fixes an offset: libbpf looks each field up in the running kernel's own description of its types (CO-RE).
 */
#pragma once

#include <types.h>

/* linux/bpf.h */
enum { BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_PERCPU_ARRAY = 6, BPF_MAP_TYPE_TASK_STORAGE = 29 };
enum { BPF_ANY = 0, BPF_F_NO_PREALLOC = 1, BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };

struct bpf_spin_lock {
	__u32 val;
};

/* linux/sched.h */
#define PF_KTHREAD 0x00200000

struct kernfs_node {
	__u64 id;
} OF_KERNEL;

struct cgroup {
	struct kernfs_node *kn;
	int level;
	struct cgroup *ancestors[];
} OF_KERNEL;

struct css_set {
	struct cgroup *dfl_cgrp;
} OF_KERNEL;

struct rq {
	__u64 prev_steal_time_rq;
} OF_KERNEL;

struct cfs_rq {
	int throttle_count;
	struct rq *rq;
} OF_KERNEL;

struct sched_entity {
	__u64 sum_exec_runtime;
	__u64 prev_sum_exec_runtime;
	struct cfs_rq *cfs_rq;
} OF_KERNEL;

struct sched_info {
	unsigned long long run_delay;
} OF_KERNEL;

struct task_struct {
	unsigned int flags;
	int pid;
	int tgid;
	int pagefault_disabled;
	unsigned int in_execve : 1;
	unsigned int in_iowait : 1;
	struct sched_entity se;
	struct sched_info sched_info;
	struct css_set *cgroups;
} OF_KERNEL;
