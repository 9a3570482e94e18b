/* TCP: segments bring keys, tasks read and write them, segments take their echoes away. */
#pragma once

#include "contexts.h"
#include "finished.h"
#include "flows.h"

/* ---- keys come ---- */

struct tcp_header {
	__be16 from, to;
	__be32 seq, ack;
	__u8 offset; /* of the data, in the upper four bits, in words */
};

/* The task that last accepted a connection at a port. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u16);
	__type(value, __u32);
} accepters SEC(".maps");

/* The beginnings of both versions of a packet. */
union internet_header {
	struct {
		__u8 version_length, service;
		__be16 whole, id, fragment;
		__u8 life, protocol;
		__be16 checksum;
		__be32 source, destination;
	} v4;
	struct {
		__u8 version, flow[3];
		__be16 payload;
		__u8 protocol, hops;
		__be32 source[4], destination[4];
	} v6;
};

/* Reads the ends of a segment, if it comes on a followed connection and has data. */
static __always_inline bool read_segment(struct sk_buff *skb, struct ends *ends)
{
	union internet_header ip;
	struct tcp_header tcp;

	bpf_probe_read_kernel(&ip, sizeof(ip), skb->data);
	bool is_v4 = ip.v4.version_length >> 4 == 4;
	__u32 length = is_v4 ? (ip.v4.version_length & 15) * 4 : sizeof(ip.v6);
	__u32 whole = is_v4 ? bpf_ntohs(ip.v4.whole) : length + bpf_ntohs(ip.v6.payload);

	if ((is_v4 ? ip.v4.protocol : ip.v6.protocol) != IPPROTO_TCP)
		return false;
	bpf_probe_read_kernel(&tcp, sizeof(tcp), skb->data + length);
	ends->remote_port = bpf_ntohs(tcp.from);
	ends->local_port = bpf_ntohs(tcp.to);
	if (!is_followed_port(ends->remote_port) || whole <= length + (tcp.offset >> 4) * 4)
		return false;
	ends->remote = is_v4 ? ip.v4.source : fold(ip.v6.source);
	ends->local = is_v4 ? ip.v4.destination : fold(ip.v6.destination);
	return true;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(segment_comes, struct sk_buff *skb)
{
	struct ends ends = {};

	if (!read_segment(skb, &ends))
		return 0;
	__u32 number = find_connection(&ends);
	struct connection *connection = connection_at(number ? number : add_connection(&ends));

	if (connection)
		connection->arrived = bpf_ktime_get_ns();
	return 0;
}

/* A key begins: it has come up the network stack to its socket. */
static __always_inline void announce_key(struct cpu *cpu, __u32 level, __u32 number, struct going *key, __u64 now)
{
	struct connection *connection = connection_at(number);
	struct visit *visit = add_visit(0, now);
	struct ready *ready = visit && connection ? announce(cpu, level, now) : 0;

	if (!ready)
		return;
	visit->ns[NETWORK_STACK] = since(key->begun, now);
	key->visit = visit->id;
	key->turn = add_recent(connection, key->to);
	ready->bundle.connection = number;
	ready->bundle.way = KEYS;
	ready->bundle.n = 1;
	ready->bundle.keys[0] = *key;
	count(COUNT_KEYS);
}

/* A login begins: the connection is there, before anything is said on it. The listener's reader is told next. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(connected, const struct sock *sk, int before, int after)
{
	if (before != TCP_SYN_RECV || after != TCP_ESTABLISHED || !is_internet(sk) || !is_followed(sk))
		return 0;
	struct cpu *cpu = this_cpu();
	struct ends ends = {};
	__u64 now = bpf_ktime_get_ns();
	struct going key = { .begun = now };

	read_ends(sk, &ends);
	__u32 number = add_connection(&ends), *accepter = bpf_map_lookup_elem(&accepters, &ends.local_port);
	struct connection *connection = connection_at(number);

	if (!cpu || !connection)
		return 0;
	__u32 level = level_of(cpu);
	struct scratch *scratch = scratch_at(level);
	struct ready *ready;

	connection->arrived = now;
	announce_key(cpu, level, number, &key, now);
	ready = bpf_map_lookup_elem(&ready_keys, &level);
	if (scratch && ready && accepter) /* it may be awake; if it is not, it will be woken */
		give(scratch, &ready->bundle, *accepter, false, now);
	return 0;
}

/* Whoever was woken for a login accepts connections. */
static __always_inline void note_accepter(struct bundle *ready, __u32 number)
{
	struct connection *connection = ready->keys[0].to ? 0 : connection_at(ready->connection);

	if (connection && connection->ends.local_port)
		bpf_map_update_elem(&accepters, &connection->ends.local_port, &number, BPF_ANY);
}

static __always_inline void key_comes(struct cpu *cpu, __u32 level, const struct sock *sk, __u64 now)
{
	__u32 number = find_connection_of(sk);
	struct connection *connection = connection_at(number);
	struct scratch *scratch = scratch_at(level);

	if (!connection || !connection->arrived || !scratch)
		return;
	__u32 received = BPF_CORE_READ((const struct tcp_sock *)sk, bytes_received);
	struct going key = { .begun = connection->arrived, .from = connection->received, .to = received };

	if (received == connection->received)
		return;
	if (is_control(connection->ends.remote_port, received)) {
		connection->received = received;
		return;
	}
	announce_key(cpu, level, number, &key, now);
	struct ready *ready = bpf_map_lookup_elem(&ready_keys, &level);

	if (ready && connection->reader) /* it may be awake; if it is not, it will be woken */
		give(scratch, &ready->bundle, connection->reader, false, now);
}

/* ---- sockets are told, read and written ---- */

SEC("tp_btf/sk_data_ready")
int BPF_PROG(data_ready, const struct sock *sk)
{
	struct cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	__u32 level = level_of(cpu);

	if (is_tcp(sk) && is_followed(sk)) {
		end_announcement(cpu, level);
		key_comes(cpu, level, sk, bpf_ktime_get_ns());
	} else if (sk->__sk_common.skc_state != TCP_LISTEN || !is_internet(sk)) { /* after `connected` it is told of the login */
		end_announcement(cpu, level);
		if (flowed && is_internet(sk))
			flow_comes(cpu, level, sk, bpf_ktime_get_ns());
	}
	return 0;
}

/* A task that has held keys reads from a connection that is not followed. What comes there may be of one that is. */
static __always_inline void read_other(struct cpu *cpu, const struct sock *sk, __u64 now)
{
	__u32 number = running(cpu);
	struct task *task = task_at(number);
	struct flow *flow = task ? flow_to(sk) : 0;

	if (!task)
		return;
	does(task, flow ? flow->bundle.connection : (__u64)sk, now);
	if (flow) {
		flow->reader = number;
		task->now = flow->bundle.connection << 1 | flow->bundle.way;
	} else {
		task->now = 0; /* another line's */
	}
	add_read(&task->reads, task->now, task->renames);
}

/* A task reads from a connection: it works for it from now on. */
SEC("tp_btf/sock_recv_length")
int BPF_PROG(reads, struct sock *sk, int length, int flags)
{
	if (length <= 0 || !is_tcp(sk))
		return 0;
	bool followed = is_followed(sk);

	if (!followed && !is_numbered())
		return 0;
	struct cpu *cpu = this_cpu();
	__u64 now = bpf_ktime_get_ns();

	if (!cpu)
		return 0;
	if (!followed) {
		read_other(cpu, sk, now);
		return 0;
	}
	__u32 at = find_connection_of(sk), number = make_running(cpu, now);
	struct connection *connection = connection_at(at);
	struct task *task = task_at(number);

	if (!connection || !task)
		return 0;
	connection->reader = number;
	task->now = at << 1 | KEYS;
	add_read(&task->reads, task->now, task->renames);
	does(task, at, now);
	return 0;
}

/* What was written to a followed connection and has not left yet. */
struct written {
	struct going key;
	__u64 at;
	__u32 seq;     /* of its first byte */
	__u32 ended;   /* the call that wrote it has ended */
	__u32 why;     /* why it had not left by then */
};

struct outgoing {
	__u32 n;
	__u32 waiting; /* how many of them have not left */
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
		struct written *written = &out->written[out->n++ % MOST_KEYS];

		written->key = scratch->bundle.keys[each];
		written->at = now;
		written->seq = seq;
		written->ended = written->why = 0;
	}
	out->waiting += scratch->bundle.n;
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

	for (int each = 0; each < MOST_KEYS; each++) {
		struct written *written = &out->written[each];

		if (written->key.begun && !written->ended) {
			written->ended = 1;
			written->why = why;
		}
	}
	return 0;
}

/* ---- echoes leave ---- */

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

	if (!cpu || !out || !path || !connection || !scratch || (settings.sees_writes && !out->waiting))
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

	if (!settings.sees_writes && level == IN_TASK)
		write_followed(scratch, sk, running(cpu), seq, now);
	path->ends = connection->ends;
	path->echo_from = BPF_CORE_READ(tcp, bytes_acked) + seq - BPF_CORE_READ(tcp, snd_una);
	path->echo_to = path->echo_from + length;
	for (int each = 0; each < MOST_KEYS; each++) {
		struct written *written = &out->written[each];

		if (!written->key.begun || (__s32)(seq + length - written->seq) <= 0)
			continue;
		leave(path, written, now);
		count_sent(connection, written->key.to, written->key.turn);
		written->key.begun = 0;
	}
	out->waiting = 0;
	for (int each = 0; each < MOST_KEYS; each++)
		out->waiting += out->written[each].key.begun != 0;
	return 0;
}
