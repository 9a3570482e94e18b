/* What a followed task spends its time on. Only tasks that have held a key are charged. */
#pragma once

#include "marks.h"
#include "reads.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* Why time passed, as `chain.rs` reads it: the kinds of a task's own. */
enum spending { ON_CPU, RUN_QUEUE, WAKING, TIMER, DISK, SLEEPING, OWN_KINDS };

#define TASKS 16384

/* The time since an instant; another CPU may have noted it a moment after `now`. */
static __always_inline __u64 since(__u64 then, __u64 now)
{
	return now > then ? now - then : 0;
}

/* A task that another one has to do with. */
struct name {
	__u32 pid; /* 0: none */
	char comm[NAME];
};

struct task {
	__u64 address;    /* the kernel's own */
	__u64 since;      /* up to when its time is charged */
	__u32 sequence;   /* odd while it is changed; two for each charge */
	__u32 state;      /* what its time is charged to */
	__u64 ns[OWN_KINDS];
	__u64 renamed;    /* of its last states whose kind was known only at their ends: whether it was another one; the newest lowest */
	__u32 renames;    /* how many states `renamed` has had */
	__u32 call;       /* the system call that it last slept in */
	__u64 others_cpu; /* its CPU time when it last did something for another connection, before `doing` */
	__u64 doing_cpu;  /* its CPU time when it last did something for `doing` */
	__u64 doing;      /* the connection that it last read from or wrote to */
	__u64 port;       /* the terminal's port whose characters it, a worker, passes on now */
	__u32 now;        /* the connection that it works for, and which way: `connection << 1 | way`; 0 = none */
	struct reads reads;
	__u64 strayed;    /* when it last wrote somewhere, and for which line was not known */
	__u32 woke;       /* tasks that this worker woke for `port` */
	bool away;        /* as a worker: it lost its CPU with keys, and is in `away` */
	bool unseen;      /* the end of its last sleep was not seen */
	bool throttled;   /* since its last sleep a quota has taken its CPU from it */
	struct name self;
	struct name rival; /* who had the CPU that it last waited for */
	struct name waker; /* who last woke it; none: an interrupt */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TASKS);
	__type(key, __u32);
	__type(value, struct task);
} tasks SEC(".maps");

/* The number of a task in `tasks`, which another one may have taken since. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} numbers SEC(".maps");

/* The first task's number is 1. */
__u32 last_number = 0;

static __always_inline struct task *task_at(__u32 number)
{
	__u32 at = number % TASKS;

	return number ? bpf_map_lookup_elem(&tasks, &at) : 0;
}

/* The number of a task that has held a key; else 0. */
static __always_inline __u32 number_of(struct task_struct *task)
{
	if (!task->bpf_storage)
		return 0;
	__u32 *number = bpf_task_storage_get(&numbers, task, 0, 0);

	if (!number)
		return 0;
	struct task *known = task_at(*number);

	return known && known->self.pid == (__u32)task->pid ? *number : 0;
}

/* Workers that have lost their CPU while they had keys. */
__s32 away = 0;

/* The tasks that have a number. */
struct marks numbered = {};

/* Whether a task may have keys. Workers do most of their work for lines that are not followed: one counts only while it has keys. */
static __always_inline bool may_hold(const struct task_struct *task, __u64 address)
{
	return is_marked(&numbered, address) && (!(task->flags & PF_WQ_WORKER) || away);
}

/* Whether the running task may have a number. */
static __always_inline bool is_numbered(void)
{
	return is_marked(&numbered, bpf_get_current_task());
}

static __always_inline void set_away(struct task *worker, bool is_away)
{
	if (worker->away == is_away)
		return;
	worker->away = is_away;
	__sync_fetch_and_add(&away, is_away ? 1 : -1);
}

static __always_inline void write_name(struct name *name, const struct task_struct *task)
{
	name->pid = task->pid;
	__builtin_memcpy(name->comm, task->comm, NAME);
}

/* The number of a task that holds a key from now on. */
static __always_inline __u32 make_number(struct task_struct *task, __u32 state, __u64 now)
{
	__u32 known = number_of(task);

	if (known)
		return known;
	__u32 *number = bpf_task_storage_get(&numbers, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!number)
		return 0;
	__u32 next = __sync_fetch_and_add(&last_number, 1) + 1;
	struct task *new = task_at(next);

	if (!new)
		return 0;
	__builtin_memset(new, 0, sizeof(*new));
	new->since = now;
	new->state = state;
	write_name(&new->self, task);
	new->address = (__u64)task;
	mark(&numbered, *(volatile __u64 *)&new->address);
	*number = next;
	return next;
}

/* Whether the kind of a state is known only when it ends: a sleep may be ended by a timer, and an idle CPU may not be idle. */
static __always_inline bool is_preliminary(__u32 state)
{
	return state == SLEEPING || state == WAKING;
}

/* Charges its time until now to `kind`, and from now on to `state`. */
static __always_inline void charge(struct task *task, __u32 kind, __u32 state, __u64 now)
{
	task->sequence++;
	if (kind < OWN_KINDS)
		task->ns[kind] += since(task->since, now);
	if (is_preliminary(task->state)) {
		task->renamed = task->renamed << 1 | (kind != task->state);
		task->renames++;
	}
	task->since = now;
	task->state = state;
	task->sequence++;
}

struct amounts {
	__u64 ns[OWN_KINDS];
};

/* What a task has spent, and since when it is in its state. */
struct spent {
	__u64 ns[OWN_KINDS];
	__u64 since, renamed;
	__u32 sequence, state, renames;
};

/* Read again if another CPU was just charging it. */
static __noinline void read_spent(struct task *task, struct spent *spent)
{
	for (int tries = 0; tries < 3; tries++) {
		spent->sequence = *(volatile __u32 *)&task->sequence;
		spent->since = *(volatile __u64 *)&task->since;
		spent->renamed = *(volatile __u64 *)&task->renamed;
		spent->renames = *(volatile __u32 *)&task->renames;
		spent->state = *(volatile __u32 *)&task->state;
#pragma unroll
		for (int kind = 0; kind < OWN_KINDS; kind++)
			spent->ns[kind] = *(volatile __u64 *)&task->ns[kind];
		if (!(spent->sequence & 1) && spent->sequence == *(volatile __u32 *)&task->sequence)
			return;
	}
}

/* The kind that the state turned out to be which a task was in at the first of two readings. */
static __always_inline __u32 kind_of_first(struct spent *first, struct spent *last)
{
	__u32 later = last->renames - first->renames;

	if (!is_preliminary(first->state) || !later || later > 64 || !(last->renamed >> (later - 1) & 1))
		return first->state;
	return first->state == SLEEPING ? TIMER : RUN_QUEUE;
}

/* What the time between two readings was spent on, up to `now`; `from`: when the first was made. Not static, so that the kernel
 * checks it by itself: with its callers that takes too long. */
__noinline int spent_between(struct spent *first, __u64 from, struct spent *last, __u64 now, struct amounts *amounts)
{
	if (!first || !last || !amounts)
		return 0;
	__u32 open = kind_of_first(first, last);
	__u64 before = since(first->since, from);

#pragma unroll
	for (int kind = 0; kind < OWN_KINDS; kind++) {
		__u64 ns = since(first->ns[kind], last->ns[kind]);

		if (kind == last->state)
			ns += since(last->since, now);
		if (kind == open)
			ns = ns > before ? ns - before : 0;
		amounts->ns[kind] = ns;
	}
	return 0;
}

/* It now does something for a connection. */
static __always_inline void does(struct task *task, __u64 connection, __u64 now)
{
	__u64 cpu = task->ns[ON_CPU] + (task->state == ON_CPU ? since(task->since, now) : 0);

	if (task->doing != connection) {
		task->others_cpu = task->doing_cpu;
		task->doing = connection;
	}
	task->doing_cpu = cpu;
}
