/* TCP: segments bring keys to connections, tasks read them. */
#pragma once

#include "echoes.h"
#include "flows.h"

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
	return is_from(ends);
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
	struct outgoing *out = outgoing_of(number);

	if (!cpu || !connection || !out)
		return 0;
	__u32 level = level_of(cpu);
	struct scratch *scratch = scratch_at(level);
	struct ready *ready;

	connection->arrived = now;
	__builtin_memset(out, 0, sizeof(*out));
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
		add_recent(connection, received);
		connection->is_unfollowed = true;
		return;
	}
	announce_key(cpu, level, number, &key, now);
	struct ready *ready = bpf_map_lookup_elem(&ready_keys, &level);

	if (ready && connection->reader) /* it may be awake; if it is not, it will be woken */
		give(scratch, &ready->bundle, connection->reader, false, now);
}

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
	struct flow *flow = task ? flow_to(sk) : 0, *beyond = task && !flow ? flow_beyond(sk) : 0;

	if (!task)
		return;
	if (beyond)
		flow = beyond;
	does(task, flow ? flow->bundle.connection : (__u64)sk, now);
	if (flow) {
		flow->reader = number;
		task->now = flow->bundle.connection << 1 | (beyond ? ECHOES : flow->bundle.way);
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
