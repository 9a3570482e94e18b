/* In which context a CPU runs, and the keys that have just come there, for whom is woken next. */
#pragma once

#include "keys.h"

/* What a CPU is doing; each may interrupt those before. */
enum { IN_TASK, IN_SOFT, IN_HARD, LEVELS };

/* The most ns from a key's arrival to the waking for it, in a task's own context: no tracepoint marks the end of the function that wakes. */
#define SOON 20000

struct cpu {
	__u32 running;            /* the number of its task, if that has held a key */
	__u32 soft, hard, timer;  /* whether it is in a soft interrupt, in one of hardware, in the handler of a timer */
	__u32 ready[LEVELS];      /* whether keys have just come, in `ready_keys` */
	__u64 address;            /* as in `number_from` */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

/* Keys that have just come to a socket. */
struct ready {
	struct bundle bundle;
	__u64 at;
	__u32 pid; /* in whose context */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LEVELS);
	__type(key, __u32);
	__type(value, struct ready);
} ready_keys SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LEVELS);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline struct cpu *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

/* An address as a number. The verifier forbids arithmetic with pointers, and takes a value that is read from a map for a number. */
static __always_inline __u64 number_from(struct cpu *cpu, const void *address)
{
	cpu->address = (__u64)address;
	return *(volatile __u64 *)&cpu->address;
}

static __always_inline __u32 level_of(struct cpu *cpu)
{
	return cpu->hard || cpu->timer ? IN_HARD : cpu->soft ? IN_SOFT : IN_TASK;
}

static __always_inline struct scratch *scratch_at(__u32 level)
{
	return bpf_map_lookup_elem(&scratches, &level);
}

/* Keys have come to a socket: the tasks that this function wakes next are woken for them. */
static __always_inline struct ready *announce(struct cpu *cpu, __u32 level, __u64 now)
{
	struct ready *ready = bpf_map_lookup_elem(&ready_keys, &level);

	if (!ready || level >= LEVELS)
		return 0;
	cpu->ready[level] = 1;
	ready->at = now;
	ready->pid = bpf_get_current_task_btf()->pid;
	return ready;
}

static __always_inline void end_announcement(struct cpu *cpu, __u32 level)
{
	if (level < LEVELS)
		cpu->ready[level] = 0;
}

/* The keys for which a task is woken now; none if it is woken for something else. */
static __always_inline struct bundle *find_ready(struct cpu *cpu, __u32 level, __u64 now)
{
	struct ready *ready = level < LEVELS && cpu->ready[level] ? bpf_map_lookup_elem(&ready_keys, &level) : 0;

	if (!ready)
		return 0;
	if (level == IN_TASK) {
		end_announcement(cpu, IN_TASK);
		if (now - ready->at > SOON || ready->pid != (__u32)bpf_get_current_task_btf()->pid)
			return 0;
	}
	return &ready->bundle;
}

/* The number of the running task, which holds a key from now on. */
static __always_inline __u32 make_running(struct cpu *cpu, __u64 now)
{
	return cpu->running = make_number(bpf_get_current_task_btf(), ON_CPU, now);
}

/* The running worker has keys now, or none any more. */
static __always_inline struct task *begin_work(struct cpu *cpu, __u64 port, __u64 now)
{
	struct task *worker = task_at(make_running(cpu, now));

	if (!worker)
		return 0;
	set_away(worker, false);
	charge(worker, worker->state, ON_CPU, now);
	worker->unseen = worker->throttled = false;
	worker->rival.pid = worker->waker.pid = 0;
	worker->port = port;
	worker->woke = 0;
	return worker;
}

static __always_inline void end_work(struct cpu *cpu, struct task *worker)
{
	worker->port = worker->now = 0;
	cpu->running = 0;
}

/* The number of the running task, if it has held a key; else 0. It had none when it came to its CPU if it holds its first one.
 *
 * Some machines hide from all tracers what happens while certain tasks have a CPU. If its own coming was hidden, it counts as
 * having come now. */
static __always_inline __u32 running(struct cpu *cpu)
{
	struct task_struct *current = bpf_get_current_task_btf();

	if (!cpu->running && may_hold(current, bpf_get_current_task()))
		cpu->running = number_of(current);
	struct task *task = task_at(cpu->running);

	if (task && task->state != ON_CPU) {
		task->unseen = task->state == SLEEPING;
		charge(task, task->state, ON_CPU, bpf_ktime_get_ns());
	}
	return cpu->running;
}

/* Fetches the keys that a task answers, by what it runs itself or by itself. */
static __always_inline bool collect_answered(struct scratch *scratch, __u32 number, __u32 connection, __u64 now)
{
	return connection && (collect(scratch, number, connection, ECHOES | PASSING | BACK, now) ||
			      collect(scratch, number, connection, KEYS | PASSING | BACK, now));
}

/* Which keys a task passes on now by writing to something, as `connection << 1 | way`; `line`: whose keys were written there before, 0
 * if that is not known. */
static __always_inline __u32 find_passed_on(struct task *task, __u32 *line)
{
	struct reads *reads = &task->reads;
	__u32 known = *line ? find_read(reads, *line) : MOST_READS;

	if (!reads->n || (reads->n > 1 && *line && known == MOST_READS))
		return *line ? *line << 1 | KEYS : task->now;
	bool is_only = reads->n == 1;
	__u32 passed_on = take_read(reads, known < MOST_READS ? known : 0);

	if (is_only && (passed_on & 1) == KEYS)
		*line = passed_on >> 1;
	return passed_on;
}

/* Fetches the keys for which the running task writes to something, a terminal or a connection within this machine. */
static __always_inline bool collect_written(struct scratch *scratch, struct cpu *cpu, __u32 *line, bool back, __u64 now)
{
	__u32 number = running(cpu);
	struct task *task = task_at(number);

	if (!task)
		return false;
	if (back) {
		forget_read(&task->reads, task->now >> 1);
		return collect_answered(scratch, number, task->now >> 1, now);
	}
	__u32 passed_on = find_passed_on(task, line);

	if (passed_on && collect(scratch, number, passed_on >> 1, (passed_on & 1) | PASSING, now))
		return true;
	task->strayed = now;
	return false;
}

/* Fetches the keys for which the running task works now, as `collect` does. */
static __always_inline bool collect_current(struct scratch *scratch, struct cpu *cpu, __u64 now)
{
	__u32 number = running(cpu);
	struct task *task = task_at(number);

	return task && task->now && collect(scratch, number, task->now >> 1, task->now & 1, now);
}

static __always_inline int enter(bool hard, bool begins)
{
	struct cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	if (hard) {
		cpu->hard = begins;
	} else {
		cpu->soft = begins;
		end_announcement(cpu, IN_SOFT);
	}
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(soft_begins)
{
	return enter(false, true);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(soft_ends)
{
	return enter(false, false);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(hard_begins)
{
	return enter(true, true);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(hard_ends)
{
	return enter(true, false);
}

static __always_inline int expire(bool begins)
{
	struct cpu *cpu = this_cpu();

	if (cpu)
		cpu->timer = begins;
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(precise_begins)
{
	return expire(true);
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(precise_ends)
{
	return expire(false);
}

SEC("tp_btf/timer_expire_entry")
int BPF_PROG(timer_begins)
{
	return expire(true);
}

SEC("tp_btf/timer_expire_exit")
int BPF_PROG(timer_ends)
{
	return expire(false);
}
