/* The tracers: where each CPU's time goes, to the nanosecond, as the kernel itself comes and goes.
 *
 * Each CPU keeps one account. At every event that changes what the CPU is doing, the time since the event before is charged
 * to what it did until then: so an account is whole by construction, and only ever written by its own CPU.
 *
 * The light tracer has the scheduler, interrupts and page faults; the full one also the ways into and out of system calls,
 * which is what costs. Idle is split by why the subject was not running: the tasks that wait for a page, for their program
 * to be loaded, for a device, or are barred by their quota are counted over all CPUs, and the clock of the first of these
 * that anybody waits for runs (`phase`); an idle CPU takes what these clocks moved on by while it was idle.
 *
 * How long each task of the subject was off its CPU, and in a run queue, is counted when it has a CPU again (`distributions.h`).
 */
#include "account.h"
#include "distributions.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* The kernel lends most of its helpers only to programs under its own licence. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Whether a control group of the subject holds a task. */
static __always_inline bool in_group(struct task_struct *task)
{
	struct cgroup *group = task->cgroups->dfl_cgrp;
	struct cgroup *above = 0;

	if (group->level < (int)settings.level)
		return false;
	const void *at = (const void *)group + bpf_core_field_offset(struct cgroup, ancestors) + settings.level * sizeof(above);

	bpf_probe_read_kernel(&above, sizeof(above), at);
	return BPF_CORE_READ(above, kn, id) == settings.group;
}

static __always_inline bool is_member(struct task_struct *task)
{
	__u32 tgid = task->tgid;
	__u32 *found = bpf_map_lookup_elem(&members, &tgid);

	return found && *found == MEMBER;
}

static __always_inline bool is_own(struct task_struct *task, struct task *known)
{
	if (settings.subject == PROCESSES)
		return known && known->own;
	return settings.subject == ALL || in_group(task);
}

/* What is known of a task. */
static __always_inline struct task *known(struct task_struct *task)
{
	struct task *found = bpf_task_storage_get(&tasks, task, 0, 0);

	if (found)
		return found;
	found = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (found && settings.subject == PROCESSES)
		found->own = is_member(task);
	return found;
}

/* Whether what a task of the subject does on this CPU counts. */
static __always_inline bool counts_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return settings.cpus[cpu / 64 % 16] >> cpu % 64 & 1;
}

/* Why a task leaves its CPU. */
static __always_inline __u32 reason(struct account *a, struct task_struct *task, bool waits)
{
	if (!waits) {
		bool has_quota = bpf_core_field_exists(struct sched_entity, cfs_rq) &&
				 bpf_core_field_exists(struct cfs_rq, throttle_count);

		return has_quota && BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0 ? ON_QUOTA : ON_PREEMPTION;
	}
	if (a->fault)
		return ON_PAGE;
	if (bpf_core_field_exists(struct task_struct, in_execve) && BPF_CORE_READ_BITFIELD_PROBED(task, in_execve))
		return ON_LOADING;
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) ? ON_IO : ON_SLEEP;
}

static __always_inline void leave(struct account *a, struct task_struct *task, bool waits, __u64 now)
{
	bool counts = a->owner == OWN && counts_here();

	if (!task->pid)
		return;
	a->run[a->owner & 1] += task->se.sum_exec_runtime - a->run_from;
	if (a->owner == OWN)
		a->switches[!waits]++;
	if (!counts && !a->fault && !a->call)
		return;
	struct task *kept = known(task);

	if (!kept)
		return;
	kept->fault = a->fault;
	kept->call = a->call;
	if (!counts)
		return;
	__u32 why = reason(a, task, waits);

	if (kept->wait) /* of before: that it had a CPU since was not told */
		wait_ended(a, kept, now);
	count_dispatch(a, task);
	kept->delay = run_delay(task);
	kept->since = now;
	kept->off = 1 + why;
	if (why < WAITS) {
		wait_changed(why, 1, now);
		__sync_lock_test_and_set(&kept->wait, 1 + why);
	}
}

/* A task runs from now on: what is known of it goes into the account. */
static __always_inline void enter(struct account *a, struct task_struct *task, struct task *kept, __u64 now)
{
	a->since = now;
	a->pid = task->pid;
	a->fault = a->call = a->thread = a->hard = a->soft = 0;
	if (!task->pid) {
		a->owner = NOBODY;
		a->stolen = stolen();
		look_at_waits(a, now, false);
		return;
	}
	a->dispatched = 1;
	a->delay_from = run_delay(task);
	if (kept) {
		a->fault = kept->fault;
		a->call = kept->call;
		kept->fault = kept->call = 0;
		if (kept->off) {
			a->delay_from = kept->delay;
			count(kept->off - 1, now > kept->since ? now - kept->since : 0);
			kept->off = 0;
		}
	}
	a->owner = is_own(task, kept) ? OWN : OTHERS;
	a->thread = (task->flags & PF_KTHREAD) != 0;
	a->run_from = task->se.sum_exec_runtime;
}

/* Some kernels do not tell of every switch: then another task leaves than came. How long it was there its own clock says. */
static __always_inline void make_good(struct account *a, struct task_struct *task, __u64 now)
{
	__u64 ran = task->pid ? task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime : 0;
	__u64 most = now - a->since; /* that clock may begin earlier: real-time tasks do not set it anew */

	if (ran > most)
		ran = most;
	__u64 from = now - ran;

	a->missed++;
	charge(a, from);
	enter(a, task, task->pid ? known(task) : 0, from);
	a->run_from = task->se.sum_exec_runtime - ran;
}

/* The account of the running task, up to date; none if it has not begun. */
static __always_inline struct account *charged(__u64 now)
{
	struct account *a = here();

	if (!a || !a->since)
		return 0;
	if (a->pid != (int)bpf_get_current_pid_tgid() && now > a->since)
		make_good(a, bpf_get_current_task_btf(), now);
	charge(a, now);
	return a;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	__u64 now = bpf_ktime_get_ns();
	struct account *a = here();

	if (!a)
		return 0;
	if (a->since) {
		if (a->pid != prev->pid && now > a->since)
			make_good(a, prev, now);
		charge(a, now);
		leave(a, prev, !preempt && prev_state, now);
	}
	struct task *kept = next->pid ? known(next) : 0;

	enter(a, next, kept, now);
	if (kept) /* woken before it had gone, or no longer barred */
		wait_ended(a, kept, now);
	return 0;
}

/* A CPU goes idle or wakes up; of use only where its switch to idle was not told. */
SEC("tp_btf/cpu_idle")
int BPF_PROG(idles)
{
	charged(bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *task)
{
	struct account *a = here();
	struct task *kept = known(task);

	if (!a)
		return 0;
	if (is_own(task, kept))
		a->wakeups++;
	if (kept && kept->wait)
		wait_ended(a, kept, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid, member = MEMBER;
	struct account *a = charged(bpf_ktime_get_ns());

	if (a && a->owner == OWN)
		a->forks++;
	if (settings.subject == PROCESSES && from != to && bpf_map_lookup_elem(&members, &from))
		bpf_map_update_elem(&members, &to, &member, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(freed, struct task_struct *task)
{
	__u32 tgid = task->tgid;

	if (settings.subject == PROCESSES && task->pid == tgid)
		bpf_map_delete_elem(&members, &tgid);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(loaded)
{
	struct account *a = charged(bpf_ktime_get_ns());

	if (a && a->owner == OWN)
		a->execs++;
	return 0;
}

static __always_inline int interrupted(bool hard, bool begins)
{
	struct account *a = charged(bpf_ktime_get_ns());

	if (!a)
		return 0;
	if (begins)
		a->interrupts[a->owner % OWNERS][!hard]++;
	if (hard)
		a->hard = begins;
	else
		a->soft = begins;
	return 0;
}

#define INTERRUPT(name, hard)			\
	SEC("tp_btf/" #name "_entry")		\
	int BPF_PROG(name##_entry)		\
	{					\
		return interrupted(hard, true);	\
	}					\
	SEC("tp_btf/" #name "_exit")		\
	int BPF_PROG(name##_exit)		\
	{					\
		return interrupted(hard, false); \
	}

INTERRUPT(softirq, false)
INTERRUPT(irq_handler, true)
/* What x86 has beside devices'; where a kernel has no such tracepoint, the program is left out. */
INTERRUPT(local_timer, true)
INTERRUPT(reschedule, true)
INTERRUPT(call_function, true)
INTERRUPT(call_function_single, true)
INTERRUPT(irq_work, true)

static __always_inline int fault_begins(unsigned long address)
{
	/* Of the kernel's own faults only those on a user's page, not those of a look that may fail. */
	struct account *a = (long)address < 0 ? 0 : charged(bpf_ktime_get_ns());

	if (a)
		a->fault = 1;
	return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(fault_of_user, unsigned long address)
{
	return fault_begins(address);
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(fault_of_kernel, unsigned long address)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return task->pagefault_disabled ? 0 : fault_begins(address);
}

/* The end of a fault has no tracepoint: the kernel's software events for faults fire there. */
static __always_inline int fault_ends(bool major)
{
	struct account *a = charged(bpf_ktime_get_ns());

	if (!a)
		return 0;
	a->fault = 0;
	if (a->owner == OWN)
		a->faults[major]++;
	return 0;
}

SEC("perf_event")
int fault_minor(void *context)
{
	return fault_ends(false);
}

SEC("perf_event")
int fault_major(void *context)
{
	return fault_ends(true);
}

/* A fault that failed has no end: whoever delivers the signal for it does. */
SEC("tp_btf/signal_deliver")
int BPF_PROG(signalled)
{
	struct account *a = charged(bpf_ktime_get_ns());

	if (a)
		a->fault = 0;
	return 0;
}

/* The full tracer's. */
SEC("tp_btf/sys_enter")
int BPF_PROG(call_begins, void *registers, long number)
{
	struct account *a = charged(bpf_ktime_get_ns());

	if (!a)
		return 0;
	a->fault = 0;
	a->call = number >= 0 && number < CALLS ? settings.calls[number & (CALLS - 1)] : CALL;
	if (a->owner == OWN)
		a->calls[a->call % CLASSES]++;
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_ends)
{
	struct account *a = charged(bpf_ktime_get_ns());

	if (a)
		a->fault = a->call = 0;
	return 0;
}

/* Begins this CPU's account, or brings it up to date: we run it on each CPU before we read. */
SEC("raw_tp")
int settle(void *context)
{
	__u64 now = bpf_ktime_get_ns();
	struct account *a = here();
	struct task_struct *task = bpf_get_current_task_btf();

	if (a && !a->since) {
		enter(a, task, task->pid ? known(task) : 0, now);
		a->dispatched = 0; /* before */
	} else if (charged(now) && a && task->pid) {
		__u64 run = task->se.sum_exec_runtime;

		a->run[a->owner & 1] += run - a->run_from;
		a->run_from = run;
		if (a->owner == OWN && counts_here())
			count_dispatch(a, task);
	}
	if (a)
		a->stolen = stolen();
	return 0;
}
