/* Pseudo-terminals: a worker of the kernel passes on what was written to one end. Keys of marked terminals begin and end here. */
#pragma once

#include "contexts.h"
#include "finished.h"

/* The function of terminals' workers; none if the kernel hides it. */
extern const void flush_to_ldisc __ksym __weak;

/* A terminal's port: characters for one of its ends. */
struct port {
	__u64 address; /* of the kernel's own */
	__u64 since;
	__u32 reader;  /* the task that last waited for them */
	__u32 writer;  /* the task that wrote them, and which way its keys went */
	__u32 writer_way;
	__u32 line;    /* the connection whose keys are written to it, if one task writes those of several */
	struct bundle bundle;
};

#define PORTS MARKS

/* Each at a place that its address gives; of two with one place the newer one stays. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PORTS);
	__type(key, __u32);
	__type(value, struct port);
} ports SEC(".maps");

/* The ports where keys wait. */
struct marks waited_at = {};

static __always_inline struct port *port_at(__u64 address)
{
	__u32 at = mark_of(address);

	return bpf_map_lookup_elem(&ports, &at);
}

/* What waits at a port, or who reads from it; 0 if nothing is known of it. */
static __always_inline struct port *find_port(__u64 address)
{
	struct port *port = address ? port_at(address) : 0;

	return port && port->address == address ? port : 0;
}

static __always_inline bool passes_characters(struct work_struct *work)
{
	return &flush_to_ldisc && work->func == (work_func_t)&flush_to_ldisc;
}

static __always_inline struct tty_port *port_of(struct work_struct *work)
{
	return (void *)work - bpf_core_field_offset(struct tty_port, buf.work);
}

/* Whether characters for this port are what a program at the terminal printed. */
static __always_inline bool is_master(struct tty_port *port)
{
	struct tty_driver *driver = BPF_CORE_READ(port, itty, driver);

	if (bpf_core_field_exists(driver->subtype))
		return BPF_CORE_READ(driver, subtype) == PTY_TYPE_MASTER;
	return BPF_CORE_READ((struct tty_driver___short *)driver, subtype) == PTY_TYPE_MASTER;
}

/* The followed connection that a marked terminal is, by the port of its other end; 0 if it is not marked. */
static __always_inline __u32 marked_terminal(struct tty_port *port)
{
	struct tty_struct *tty = BPF_CORE_READ(port, itty);

	if (!(BPF_CORE_READ(tty, link, flags) & 1UL << TTY_EXCLUSIVE))
		return 0;
	struct ends ends = { .remote_port = BPF_CORE_READ(tty, index) };
	__u32 number = find_connection(&ends);

	return number ? number : add_connection(&ends);
}

/* A key of a marked terminal is written to its master, by the driver. */
static __always_inline bool begin_at_terminal(struct scratch *scratch, struct tty_port *port, __u64 now)
{
	__u32 number = is_master(port) ? 0 : marked_terminal(port);
	struct connection *connection = connection_at(number);
	struct bundle *bundle = &scratch->bundle;

	if (!connection)
		return false;
	struct going key = { .begun = now, .from = connection->received, .to = connection->received + 1 };

	connection->arrived = now;
	key.turn = add_recent(connection, key.to);
	count(COUNT_KEYS);
	bundle->connection = number;
	bundle->way = KEYS;
	bundle->n = 1;
	bundle->keys[0] = key;
	return true;
}

SEC("tp_btf/workqueue_queue_work")
int BPF_PROG(queued, int cpu, void *queue, struct work_struct *work)
{
	if ((!settings.terminals && !is_numbered()) || !passes_characters(work))
		return 0;
	struct cpu *here = this_cpu();
	struct scratch *scratch = scratch_at(IN_TASK);
	struct tty_port *port = port_of(work);
	__u64 now = bpf_ktime_get_ns();

	if (!here || !scratch || level_of(here) != IN_TASK)
		return 0;
	__u64 address = number_from(here, port);
	struct port *known = port_at(address);

	if (!known)
		return 0;
	bool back = is_master(port);

	scratch->sink = address;
	if (known->address != address)
		known->reader = known->line = 0;
	if (!(settings.terminals && begin_at_terminal(scratch, port, now)) && !collect_written(scratch, here, &known->line, back, now))
		return 0;
	if (!scratch->bundle.n)
		return 0;
	__u32 writer_way = scratch->bundle.way;

	if (back)
		scratch->bundle.way = ECHOES;
	known->address = address;
	known->writer = running(here);
	known->writer_way = writer_way;
	copy_bundle(&known->bundle, &scratch->bundle);
	known->since = now;
	mark(&waited_at, address);
	return 0;
}

static __always_inline bool has_key(struct bundle *bundle, __u32 to)
{
	for (int at = 0; at < MOST_KEYS; at++)
		if (at < bundle->n && bundle->keys[at].to == to)
			return true;
	return false;
}

/* The worker was queued once for all that was written until it began: adds the keys that the writer has had since. */
static __always_inline void add_later_keys(struct scratch *scratch, struct port *port, __u64 now)
{
	struct bundle *first = &port->bundle;
	struct connection *connection = connection_at(first->connection);

	if (!connection || has_key(first, connection->received))
		return;
	if (!collect(scratch, port->writer, first->connection, port->writer_way, now))
		return;
	for (int at = 0; at < MOST_KEYS; at++) {
		struct going *key = &scratch->bundle.keys[at];

		if (at < scratch->bundle.n && first->n < MOST_KEYS && !has_key(first, key->to))
			first->keys[first->n++ % MOST_KEYS] = *key;
	}
}

SEC("tp_btf/workqueue_execute_start")
int BPF_PROG(worker_begins, struct work_struct *work)
{
	struct cpu *cpu = passes_characters(work) ? this_cpu() : 0;
	__u64 address = cpu ? number_from(cpu, port_of(work)) : 0;

	if (!cpu || !is_marked(&waited_at, address))
		return 0;
	struct port *port = find_port(address);
	struct scratch *scratch = scratch_at(IN_TASK);
	__u64 now = bpf_ktime_get_ns();
	struct task *worker = port && port->bundle.n ? begin_work(cpu, address, now) : 0;

	if (!scratch || !worker)
		return 0;
	unmark(&waited_at, address);
	add_visits(&port->bundle, WORKER_QUEUE, since(port->since, now), worker, now);
	add_later_keys(scratch, port, now);
	copy_bundle(&scratch->bundle, &port->bundle);
	port->bundle.n = 0;
	give(scratch, &scratch->bundle, cpu->running, true, now);
	return 0;
}

/* The echo is at the master of a marked terminal: its keys, in `scratch->bundle`, have arrived. */
static __always_inline void end_at_terminal(struct scratch *scratch, struct connection *connection, __u64 now)
{
	__u32 level = IN_TASK;
	struct path *path = bpf_map_lookup_elem(&path_scratches, &level);

	if (!path)
		return;
	path->ends = connection->ends;
	path->echo_from = path->echo_to = 0;
	for (int each = 0; each < MOST_KEYS; each++) {
		if (each >= scratch->bundle.n)
			break;
		struct going *key = &scratch->bundle.keys[each];

		finish(path, key, now);
		count_sent(connection, key->to, key->turn);
	}
}

/* Whether a port is the master's of the marked terminal that a connection is. */
static __always_inline bool is_end_of(struct connection *connection, __u64 address)
{
	struct tty_port *port = (struct tty_port *)address;

	return connection && !connection->ends.local_port && is_master(port) &&
	       BPF_CORE_READ(port, itty, index) == connection->ends.remote_port;
}

/* A worker, as a terminal's, has woken the reader. Says whether that ended the path of its keys, which are in `scratch->bundle`. */
static __always_inline bool wake_reader(struct scratch *scratch, struct task *waker, __u32 reader, __u64 now)
{
	struct port *port = waker ? find_port(waker->port) : 0;
	struct connection *connection = port ? connection_at(waker->now >> 1) : 0;

	if (!port)
		return false;
	port->reader = reader;
	if (waker->woke++ || !is_end_of(connection, waker->port))
		return false;
	end_at_terminal(scratch, connection, now);
	return true;
}

/* The task that writes to a terminal's other end: it probably reads there, too. 0 if it is not known. */
static __always_inline __u32 writer_of_other_end(struct cpu *cpu, __u64 address)
{
	struct tty_port *port = (struct tty_port *)address;
	struct port *other = find_port(number_from(cpu, BPF_CORE_READ(port, itty, link, port)));

	return other ? other->writer : 0;
}

SEC("tp_btf/workqueue_execute_end")
int BPF_PROG(worker_ends, struct work_struct *work)
{
	struct cpu *cpu = this_cpu();
	__u32 number = cpu ? cpu->running : 0;
	struct task *worker = task_at(number);

	if (!cpu || !worker || !worker->port)
		return 0;
	struct scratch *scratch = scratch_at(IN_TASK);
	struct port *port = find_port(worker->port);
	struct connection *connection = connection_at(worker->now >> 1);
	__u64 now = bpf_ktime_get_ns();

	if (scratch && port && connection && !worker->woke && collect_current(scratch, cpu, now)) { /* its reader is awake */
		if (is_end_of(connection, worker->port))
			end_at_terminal(scratch, connection, now);
		else
			give(scratch, &scratch->bundle, port->reader ? port->reader : writer_of_other_end(cpu, worker->port), false, now);
	}
	struct holding *holding = find_holding(number, worker->now >> 1, worker->now & 1);

	if (holding)
		holding->holder.task = holding->used = 0;
	end_work(cpu, worker);
	return 0;
}
