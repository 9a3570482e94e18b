/* TCP: tasks write to followed connections, segments take the echoes away. */
#pragma once

#include "contexts.h"
#include "finished.h"
#include "flows.h"

/* What was written to a followed connection and has not left yet. */
struct written {
	struct going key;
	__u64 at;
	__u32 seq;     /* of its first byte */
	__u32 ended;   /* the call that wrote it has ended */
	__u32 why;     /* why it had not left by then */
};

struct outgoing {
	__u32 next;    /* the place that is taken next if none is free */
	__u32 waiting; /* how many have not left */
	struct written written[MOST_KEYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CONNECTIONS);
	__type(key, __u32);
	__type(value, struct outgoing);
} outgoing SEC(".maps");

static __always_inline struct outgoing *outgoing_of(__u32 connection)
{
	__u32 at = connection % CONNECTIONS;

	return at ? bpf_map_lookup_elem(&outgoing, &at) : 0;
}

/* Takes a free place, mostly the first one, which spares a look at the others; if there is none, one after another. */
static __always_inline struct written *take_written(struct outgoing *out)
{
	for (__u32 at = 0; at < MOST_KEYS; at++)
		if (!out->written[at].key.begun) {
			out->waiting++;
			return &out->written[at];
		}
	return &out->written[out->next++ % MOST_KEYS];
}

static __always_inline void write_followed(struct scratch *scratch, const struct sock *sk, __u32 number, __u32 seq, __u64 now)
{
	struct task *task = task_at(number);
	__u32 connection = find_connection_of(sk);
	struct outgoing *out = outgoing_of(connection);

	if (!connection || !out)
		return;
	scratch->sink = THE_LINE;
	if (!task || !collect_answered(scratch, number, connection, now)) {
		count(COUNT_UNKNOWN);
		return;
	}
	does(task, connection, now);
	forget_read(&task->reads, connection);
	for (int each = 0; each < MOST_KEYS; each++) {
		if (each >= scratch->bundle.n)
			break;
		struct written *written = take_written(out);

		written->key = scratch->bundle.keys[each];
		written->at = now;
		written->seq = seq;
		written->ended = written->why = 0;
	}
}

SEC("tp_btf/tcp_sendmsg_locked")
int BPF_PROG(writes, const struct sock *sk)
{
	bool followed = is_followed(sk);

	if (!followed && !is_numbered())
		return 0;
	struct cpu *cpu = this_cpu();
	struct scratch *scratch = cpu ? scratch_at(level_of(cpu)) : 0;
	__u32 number = cpu ? running(cpu) : 0;
	struct task *task = task_at(number);
	__u64 now = bpf_ktime_get_ns();

	if (scratch && followed)
		write_followed(scratch, sk, number, BPF_CORE_READ((const struct tcp_sock *)sk, write_seq), now);
	else if (cpu && scratch && task)
		write_flow(scratch, cpu, sk, task, now);
	return 0;
}

static __always_inline __u32 why_held(const struct tcp_sock *tcp)
{
	__u8 nonagle = BPF_CORE_READ_BITFIELD_PROBED(tcp, nonagle);
	__u32 packets = BPF_CORE_READ(tcp, packets_out), window = BPF_CORE_READ(tcp, snd_wnd);
	__u32 unacknowledged = BPF_CORE_READ(tcp, write_seq) - BPF_CORE_READ(tcp, snd_una);

	return nonagle & TCP_NAGLE_CORK ? HELD_BY_CORK :
	       unacknowledged > window ? HELD_BY_WINDOW :
	       packets >= BPF_CORE_READ(tcp, snd_cwnd) ? HELD_BY_CONGESTION :
	       !(nonagle & TCP_NAGLE_OFF) && packets ? HELD_BY_NAGLE : HELD_OTHERWISE;
}

/* The call that wrote has ended: what has not left by now is held. */
SEC("tp_btf/sock_send_length")
int BPF_PROG(written_all, struct sock *sk)
{
	if (!is_internet(sk) || !is_followed(sk))
		return 0;
	struct outgoing *out = outgoing_of(find_connection_of(sk));

	if (!out || !out->waiting)
		return 0;
	__u32 why = why_held((const struct tcp_sock *)sk);

	for (__u32 at = 0, seen = 0; at < MOST_KEYS && seen < out->waiting; at++) {
		struct written *written = &out->written[at];

		if (!written->key.begun)
			continue;
		seen++;
		if (!written->ended) {
			written->ended = 1;
			written->why = why;
		}
	}
	return 0;
}

static __always_inline void leave(struct path *path, struct written *written, __u64 now)
{
	struct visit *last = add_visit(written->key.visit, now);

	if (!last)
		return;
	last->ns[written->ended ? HELD : SENT] = since(written->at, now);
	last->why = written->why;
	written->key.visit = last->id;
	finish(path, &written->key, now);
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(segment_leaves, struct sk_buff *skb)
{
	struct sock *sk = skb->sk;

	if (!sk || !is_internet(sk) || !is_followed(sk))
		return 0;
	struct cpu *cpu = this_cpu();
	__u32 level = cpu ? level_of(cpu) : 0, number = find_connection_of(sk);
	struct outgoing *out = outgoing_of(number);
	struct path *path = bpf_map_lookup_elem(&path_scratches, &level);
	struct scratch *scratch = scratch_at(level);
	struct connection *connection = connection_at(number);

	if (!cpu || !out || !path || !connection || !scratch)
		return 0;
	if (settings.sees_writes && !out->waiting && !connection->is_unfollowed)
		return 0;
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct tcp_header header;
	unsigned char *segment = skb->head + skb->transport_header;

	bpf_probe_read_kernel(&header, sizeof(header), segment);
	__u32 before = segment - skb->data + (header.offset >> 4) * 4, seq = bpf_ntohl(header.seq);
	__u32 length = skb->len > before ? skb->len - before : 0;

	if (!length)
		return 0;
	__u64 now = bpf_ktime_get_ns();

	if (connection->is_unfollowed)
		connection->recent[(connection->next - 1) % RECENT].sent++;
	if (!settings.sees_writes && level == IN_TASK)
		write_followed(scratch, sk, running(cpu), seq, now);
	path->ends = connection->ends;
	path->echo_from = BPF_CORE_READ(tcp, bytes_acked) + seq - BPF_CORE_READ(tcp, snd_una);
	path->echo_to = path->echo_from + length;
	__u32 waiting = out->waiting, seen = 0;

	for (__u32 at = 0; at < MOST_KEYS && seen < waiting; at++) {
		struct written *written = &out->written[at];

		if (!written->key.begun)
			continue;
		seen++;
		if ((__s32)(seq + length - written->seq) <= 0)
			continue;
		leave(path, written, now);
		count_sent(connection, written->key.to, written->key.turn);
		written->key.begun = 0;
		out->waiting--;
	}
	return 0;
}
