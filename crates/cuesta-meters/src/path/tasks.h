/* Tasks pass keys on: by waking others, and to their children. */
#pragma once

#include "contexts.h"
#include "segments.h"
#include "terminals.h"

static __always_inline void leave_cpu(struct task *task, struct task_struct *it, bool sleeps)
{
	set_away(task, task->port);
	__u32 state = !sleeps ? RUN_QUEUE : BPF_CORE_READ_BITFIELD(it, in_iowait) ? DISK : SLEEPING;

	charge(task, ON_CPU, state, bpf_ktime_get_ns());
	task->waker.pid = 0;
	task->unseen = false;
	task->throttled = !sleeps && (task->throttled || (bpf_core_field_exists(it->throttled) && it->throttled));
	if (sleeps && !(it->flags & PF_KTHREAD)) {
		struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(it);

		task->call = CALL_OF(registers);
	}
}

/* A task that was woken while another one had the CPU waited for that one. If its waking was hidden, its sleep lasts until now. */
static __always_inline void take_cpu(struct task *task, struct task_struct *before)
{
	set_away(task, false);
	__u32 kind = task->state == WAKING && before->pid ? RUN_QUEUE : task->state;

	task->unseen = kind == SLEEPING;
	if (kind == RUN_QUEUE)
		write_name(&task->rival, before);
	charge(task, kind, ON_CPU, bpf_ktime_get_ns());
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	struct cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	bool comes_one = may_hold(next, number_from(cpu, next));

	if (!comes_one && !cpu->running && !is_numbered())
		return 0;
	__u32 coming = comes_one ? number_of(next) : 0;
	struct task *leaves = task_at(running(cpu)), *comes = task_at(coming);

	if (leaves)
		leave_cpu(leaves, prev, !preempt && prev_state);
	if (comes)
		take_cpu(comes, prev);
	cpu->running = coming;
	return 0;
}

/* It loads another program, or gives itself a name. */
SEC("tp_btf/task_rename")
int BPF_PROG(renamed, struct task_struct *it, const char *name)
{
	struct task *task = it->bpf_storage ? task_at(number_of(it)) : 0;

	if (task)
		bpf_probe_read_kernel_str(task->self.comm, NAME, name);
	return 0;
}

/* Its sleep ends, by a task, a timer or another interrupt. */
static __always_inline void end_sleep(struct task *task, struct cpu *cpu, __u32 level, __u64 now)
{
	if (level == IN_TASK)
		write_name(&task->waker, bpf_get_current_task_btf());
	else
		task->waker.pid = 0;
	charge(task, cpu->timer && task->state == SLEEPING ? TIMER : task->state, WAKING, now);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *woken)
{
	struct task_struct *current = bpf_get_current_task_btf();

	struct cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	__u32 level = level_of(cpu);
	bool may_pass = cpu->ready[level] || (level == IN_TASK && (cpu->running || may_hold(current, bpf_get_current_task())));

	if (!may_pass && !may_hold(woken, number_from(cpu, woken)))
		return 0;
	__u32 number = number_of(woken);
	struct task *task = task_at(number);
	__u64 now = bpf_ktime_get_ns();

	if (task && task->state != ON_CPU && task->state != RUN_QUEUE)
		end_sleep(task, cpu, level, now);
	if (!may_pass || woken->flags & PF_WQ_WORKER)
		return 0;
	struct scratch *scratch = scratch_at(level);
	struct bundle *bundle = find_ready(cpu, level, now);

	if (!scratch)
		return 0;
	if (!bundle) {
		if (level != IN_TASK || !collect_current(scratch, cpu, now))
			return 0;
		bundle = &scratch->bundle;
	}
	if (!number)
		number = make_number(woken, WAKING, now);
	if (bundle == &scratch->bundle) {
		if (wake_reader(scratch, task_at(running(cpu)), number, now))
			return 0;
	} else {
		note_accepter(bundle, number);
	}
	give(scratch, bundle, number, true, now);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	if (!parent->bpf_storage)
		return 0;
	struct cpu *cpu = this_cpu();
	struct scratch *scratch = scratch_at(IN_TASK);
	__u64 now = bpf_ktime_get_ns();

	if (!cpu || !scratch || !collect_current(scratch, cpu, now))
		return 0;
	give(scratch, &scratch->bundle, make_number(child, RUN_QUEUE, now), true, now);
	return 0;
}
