/* What the tracers keep: an account for each CPU, what must be known of a task when it runs again, and the clocks of waits. */
#pragma once

#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Who runs. */
enum { OWN, OTHERS, NOBODY, OWNERS = 4 };
/* What a CPU does. `RUN` is the user's part; without the full tracer system calls are in it. */
enum { RUN, FAULT, CALL, LOADING, MAPPING, THREAD, HARD, SOFT, CLASSES };
/* Why a task of the subject does not run, as far as it matters for idle; the first that somebody waits for counts. */
enum { ON_PAGE, ON_LOADING, ON_IO, ON_QUOTA, WAITS };
/* What the subject is. */
enum { ALL, PROCESSES, GROUP };
/* In `members`: a process of the subject, or one of which only the children are. */
enum { MEMBER = 1, PARENT = 2 };

#define CALLS 512
#define PHASES 64

/* Set before loading. */
const volatile struct {
	__u64 group;           /* number of the control group's folder */
	__u32 subject;
	__u32 level;           /* how deep that folder lies */
	__u64 cpus[16];        /* whose tasks' waits count, a bit each */
	__u8 calls[CALLS];     /* class of each system call */
} settings = {};

/* First what is counted, in the order in which `account.rs` reads it. */
struct account {
	__u64 ns[OWNERS][CLASSES];
	__u64 run[2];                 /* by the scheduler's own clock, which leaves stolen time out: own, others' */
	__u64 interrupts[OWNERS][2];  /* hard, soft */
	__u64 idle[WAITS];
	__u64 faults[2];              /* own: minor, major */
	__u64 calls[CLASSES];         /* own */
	__u64 switches[2];            /* own: because it waited, because it was turned out */
	__u64 wakeups, forks, execs;  /* own */
	__u64 waits[WAITS], waited[WAITS];
	__u64 missed;                 /* switches that were not told */
	__u64 stolen;                 /* what the hypervisor has taken of this CPU; kept up while it is idle, and when it is read */
	__u64 idle_stolen;            /* of it while the CPU was idle: charged as idle, but none */

	__u64 since;                  /* up to when time is charged; 0 = not begun */
	__u64 run_from;               /* the running task's own clock, when it was last looked at */
	__u64 delay_from;             /* what the running task had waited in run queues, before it waited for this CPU */
	int pid;                      /* of the running task */
	__u64 marks[WAITS];           /* the clocks of waits, when they were last looked at */
	__u32 owner, fault, call, thread, hard, soft;
	__u32 dispatched;             /* the running task's wait for this CPU is not yet counted */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct account);
} accounts SEC(".maps");

/* What of a task must be known when it runs again. */
struct task {
	__u64 since;  /* when it left its CPU */
	__u64 wait;   /* 1 + why it waits, until it is woken */
	__u64 delay;  /* what it had waited in run queues when it left */
	__u32 off;    /* 1 + why it left, if that counts for the subject */
	__u32 own, fault, call;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} members SEC(".maps");

/* From `since` on the clock of `kind` - 1 runs, of none if it is 0; at `since` the clocks stood at `ns`. */
struct phase {
	__u64 since, kind;
	__u64 ns[WAITS];
};

/* A phase is written before it becomes the current one and not touched after, so that readers need no lock. */
struct clocks {
	__u32 current;
	struct phase phases[PHASES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct clocks);
} clocks SEC(".maps");

/* How many wait, and whose turn it is to write a phase: apart, since not every kind of program may see a lock. */
struct waits {
	struct bpf_spin_lock lock;
	__u32 waiting[WAITS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct waits);
} waits SEC(".maps");

static __always_inline struct account *here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&accounts, &zero);
}

/* Idle: takes what the clocks of waits moved on by, if it was idle until now, and looks at them anew. */
static __always_inline void look_at_waits(struct account *a, __u64 now, bool was_idle)
{
	__u32 zero = 0;
	struct clocks *all = bpf_map_lookup_elem(&clocks, &zero);

	if (!all)
		return;
	struct phase *phase = &all->phases[all->current % PHASES];
#pragma unroll
	for (int kind = 0; kind < WAITS; kind++) {
		__u64 at = phase->ns[kind];

		if (phase->kind == kind + 1 && now > phase->since)
			at += now - phase->since;
		if (was_idle && at > a->marks[kind])
			a->idle[kind] += at - a->marks[kind];
		a->marks[kind] = at;
	}
}

/* What the hypervisor has taken of this CPU, as far as the scheduler has noticed; at each switch it has. */
static __always_inline __u64 stolen(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!bpf_core_field_exists(struct cfs_rq, rq) || !bpf_core_field_exists(struct rq, prev_steal_time_rq))
		return 0;
	return task->se.cfs_rq->rq->prev_steal_time_rq;
}

/* Idle: whatever the hypervisor took since the last look. */
static __always_inline void look_at_steal(struct account *a)
{
	__u64 before = a->stolen;

	a->stolen = stolen();
	if (a->stolen > before)
		a->idle_stolen += a->stolen - before;
}

static __always_inline void charge(struct account *a, __u64 now)
{
	__u32 class = a->hard ? HARD : a->soft ? SOFT : a->fault ? FAULT : a->call ? a->call : a->thread ? THREAD : RUN;

	/* An interrupt or another task may have come between reading the clock and now, and charged further. */
	if (now <= a->since)
		return;
	a->ns[a->owner % OWNERS][class % CLASSES] += now - a->since;
	a->since = now;
	if (a->owner == NOBODY) {
		look_at_waits(a, now, class == RUN);
		look_at_steal(a);
	}
}

/* How many wait for something has changed: the clock of the first that anybody waits for runs. */
static __always_inline void wait_changed(__u32 kind, int by, __u64 now)
{
	__u32 zero = 0;
	struct waits *all = bpf_map_lookup_elem(&waits, &zero);
	struct clocks *write = bpf_map_lookup_elem(&clocks, &zero);

	if (!all || !write)
		return;
	bpf_spin_lock(&all->lock);
	all->waiting[kind % WAITS] += by;
	__u32 *n = all->waiting;
	__u32 first = n[ON_PAGE] ? 1 + ON_PAGE : n[ON_LOADING] ? 1 + ON_LOADING : n[ON_IO] ? 1 + ON_IO : n[ON_QUOTA] ? 1 + ON_QUOTA : 0;
	struct phase *old = &write->phases[write->current % PHASES];

	if (first != old->kind) {
		struct phase *next = &write->phases[(write->current + 1) % PHASES];

		if (now < old->since)
			now = old->since;
#pragma unroll
		for (int each = 0; each < WAITS; each++)
			next->ns[each] = old->ns[each] + (old->kind == each + 1 ? now - old->since : 0);
		next->since = now;
		next->kind = first;
		__sync_fetch_and_add(&write->current, 1);
	}
	bpf_spin_unlock(&all->lock);
}

static __always_inline void wait_ended(struct account *a, struct task *task, __u64 now)
{
	__u64 wait = __sync_lock_test_and_set(&task->wait, 0);

	if (!wait)
		return;
	__u32 kind = (wait - 1) % WAITS;

	wait_changed(kind, -1, now);
	a->waits[kind] += 1;
	if (now > task->since)
		a->waited[kind] += now - task->since;
}
