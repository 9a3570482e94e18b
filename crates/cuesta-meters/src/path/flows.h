/* Connections that are not followed themselves, and carry keys of lines that are: of a proxy to what is behind it, on this machine or on
 * another one.
 */
#pragma once

#include "contexts.h"

/* What was written to one, by its writer's ends. */
struct flow {
	struct bundle bundle;
	__u64 since;
	__u32 line;    /* as of a port */
	__u32 reader;  /* the task that last read it at the other end; if that is on another machine, who last read its answers */
	bool is_local; /* whether it has come to its other end, on this machine */
	struct bundle asked; /* the last keys, as long as that is not known; `n` of them so far */
	__u32 sent[MOST_KEYS]; /* of each the offset in the stream before it */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 2048);
	__type(key, struct ends);
	__type(value, struct flow);
} flows SEC(".maps");

/* A new one: too large for the stack. */
struct flow no_flow = {};

__u32 flowed = 0;

/* What the other end wrote last; none if it had no keys. */
static __always_inline struct flow *flow_to(const struct sock *sk)
{
	struct ends ends = {}, writer = {};

	if (!flowed)
		return 0;
	read_ends(sk, &ends);
	writer.local = ends.remote;
	writer.remote = ends.local;
	writer.local_port = ends.remote_port;
	writer.remote_port = ends.local_port;
	return bpf_map_lookup_elem(&flows, &writer);
}

/* What this end wrote last, if its other end is on another machine. */
static __always_inline struct flow *flow_beyond(const struct sock *sk)
{
	struct ends ends = {};

	if (!flowed)
		return 0;
	read_ends(sk, &ends);
	struct flow *flow = bpf_map_lookup_elem(&flows, &ends);

	return flow && !flow->is_local ? flow : 0;
}

/* Remembers what goes to another machine, which may answer much later, when more has gone there. */
static __always_inline void ask(struct flow *flow, const struct bundle *bundle, __u32 sent)
{
	if (flow->asked.connection != bundle->connection)
		flow->asked.n = 0;
	flow->asked.connection = bundle->connection;
	for (int each = 0; each < MOST_KEYS; each++) {
		if (each >= bundle->n)
			break;
		flow->sent[flow->asked.n % MOST_KEYS] = sent;
		flow->asked.keys[flow->asked.n++ % MOST_KEYS] = bundle->keys[each];
	}
}

/* A connection to another machine, as `chain.rs` reads it from a visit. */
struct beyond {
	struct name peer; /* its port in place of a number, its address (IPv6) in place of a name */
	__u32 port;       /* of this end */
	__u32 answered;   /* bytes that have come */
};

static __always_inline void read_beyond(struct beyond *beyond, const struct sock *sk)
{
	beyond->port = sk->__sk_common.skc_num;
	beyond->answered = BPF_CORE_READ((const struct tcp_sock *)sk, bytes_received);
	beyond->peer.pid = bpf_ntohs(sk->__sk_common.skc_dport);
	if (sk->__sk_common.skc_family == AF_INET) {
		__be32 address[4] = { 0, 0, bpf_htonl(0xffff), sk->__sk_common.skc_daddr };

		__builtin_memcpy(beyond->peer.comm, address, NAME);
	} else {
		BPF_CORE_READ_INTO((__be32(*)[4])&beyond->peer.comm, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr32);
	}
}

/* How far the stream of a connection that this end opened has been written: with the data its SYN was acknowledged. */
static __always_inline __u32 offset_of(const struct tcp_sock *tcp)
{
	return BPF_CORE_READ(tcp, bytes_acked) + BPF_CORE_READ(tcp, write_seq) - BPF_CORE_READ(tcp, snd_una) - 1;
}

/* Another machine answers: for any of the keys that went there and are not over. Not static, as `collect`. */
__noinline int collect_asked(struct flow *flow, struct bundle *bundle, struct beyond *beyond, __u64 now)
{
	struct connection *line = flow ? connection_at(flow->asked.connection) : 0;
	__u32 n = 0;

	if (!line || !bundle || !beyond)
		return false;
	bundle->connection = flow->asked.connection;
	bundle->way = ECHOES;
	for (__u32 at = 0; at < MOST_KEYS; at++) {
		struct going *key = &flow->asked.keys[at];
		struct visit *before = visit_at(key->visit);

		if (at >= flow->asked.n || !before || is_over(line, key->to, key->turn))
			continue;
		struct visit *visit = add_visit(key->visit, now);

		if (!visit)
			continue;
		struct going *going = &bundle->keys[n++ % MOST_KEYS];

		visit->ns[BEYOND] = since(before->ended, now);
		visit->rival = beyond->peer;
		visit->waker.pid = beyond->port;
		visit->call = flow->sent[at];
		visit->why = beyond->answered;
		*going = *key;
		going->visit = visit->id;
	}
	bundle->n = n;
	return n > 0;
}

/* What another machine answers, or what came of this one, is for the task that last read it. It may be awake; if it is not, it will be
 * woken. */
static __always_inline void give_reader(__u32 level, struct flow *flow, struct ready *ready, __u64 now)
{
	struct scratch *scratch = scratch_at(level);

	if (scratch && flow->reader)
		give(scratch, &ready->bundle, flow->reader, false, now);
}

static __always_inline void answer_comes(struct cpu *cpu, __u32 level, const struct sock *sk, __u64 now)
{
	struct flow *flow = flow_beyond(sk);
	struct ready *ready = flow ? announce(cpu, level, now) : 0;
	struct beyond beyond = {};

	if (!ready)
		return;
	read_beyond(&beyond, sk);
	if (collect_asked(flow, &ready->bundle, &beyond, now))
		give_reader(level, flow, ready, now);
	else
		end_announcement(cpu, level);
}

/* Something has come on a connection that is not followed. */
static __always_inline void flow_comes(struct cpu *cpu, __u32 level, const struct sock *sk, __u64 now)
{
	struct flow *flow = flow_to(sk);

	if (!flow) {
		answer_comes(cpu, level, sk, now);
		return;
	}
	flow->is_local = true;
	struct ready *ready = flow->bundle.n ? announce(cpu, level, now) : 0;

	if (!ready)
		return;
	copy_bundle(&ready->bundle, &flow->bundle);
	flow->bundle.n = 0;
	add_visits(&ready->bundle, NETWORK_STACK, since(flow->since, now), 0, now);
	give_reader(level, flow, ready, now);
}

/* Whether what a task passes on next is a key of another connection. */
static __always_inline bool has_read_key_of_other(struct task *task, __u32 connection)
{
	return task->reads.n && (task->reads.lines[0] & 1) == KEYS && task->reads.lines[0] >> 1 != connection;
}

static __always_inline void write_flow(struct scratch *scratch, struct cpu *cpu, const struct sock *sk, struct task *task, __u64 now)
{
	struct ends ends = {};

	read_ends(sk, &ends);
	struct flow *flow = flowed ? bpf_map_lookup_elem(&flows, &ends) : 0;
	__u32 line = flow ? flow->line : 0;

	scratch->sink = number_from(cpu, sk);
	struct flow *comes = flow_to(sk);
	bool answers = comes && comes->bundle.way == KEYS;
	bool has = answers && collect_answered(scratch, running(cpu), comes->bundle.connection, now);

	if (!has && (line || task->reads.n) && (!answers || has_read_key_of_other(task, comes->bundle.connection)))
		has = collect_written(scratch, cpu, &line, false, now);

	does(task, has ? scratch->bundle.connection : (__u64)sk, now);
	if (!has || !scratch->bundle.n)
		return;
	if (!flow) {
		bpf_map_update_elem(&flows, &ends, &no_flow, BPF_ANY);
		flow = bpf_map_lookup_elem(&flows, &ends);
	}
	if (!flow)
		return;
	if (flow->bundle.connection != scratch->bundle.connection || flow->bundle.way != scratch->bundle.way)
		flow->bundle.n = 0;
	add_keys(&flow->bundle, &scratch->bundle); /* to those that have not arrived yet */
	if (!flow->is_local && scratch->bundle.way == KEYS)
		ask(flow, &scratch->bundle, offset_of((const struct tcp_sock *)sk));
	flow->since = now;
	flow->line = line;
	flowed = 1;
}
