/* The lines whose keys are followed: TCP connections, and terminals of this machine.
 *
 * The driver marks its probe lines in ways that the kernel sees, so that neither side must be told: a connection comes from a range of
 * ports, the master of a pseudo-terminal is exclusive (TIOCEXCL).
 */
#pragma once

#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define CONNECTIONS 4096
#define RECENT 16
#define MOST_SENT 256

/* Set before loading, as `follower.rs` writes it. */
const volatile struct {
	__u16 first_port, last_port;  /* the clients' */
	__u8 terminals;               /* whether marked terminals are followed */
	__u8 controls;                /* whether every eighth key is not followed, to tell what following costs */
	__u8 sees_writes;             /* whether the kernel has `tcp_sendmsg_locked` */
} settings = {};

/* The two ends of a connection, as this end sees them; of each address 32 bits. Of a terminal only its number, as `remote_port`. */
struct ends {
	__u32 local, remote;
	__u16 local_port, remote_port;
};

/* How often something has been sent for a key. */
struct recent {
	__u32 to, sent;
};

struct connection {
	struct ends ends;
	__u64 arrived;          /* when its last segment with data came */
	__u32 received;         /* bytes of which the programs have been told; keys of a terminal */
	__u32 newest_sent;      /* the newest key for which something has been sent */
	__u32 next;
	struct recent recent[RECENT];
	__u32 reader;           /* the task that last read from it */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CONNECTIONS);
	__type(key, __u32);
	__type(value, struct connection);
} connections SEC(".maps");

/* The numbers of connections; the first is 1. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CONNECTIONS);
	__type(key, struct ends);
	__type(value, __u32);
} by_ends SEC(".maps");

__u32 last_connection = 0;

static __always_inline struct connection *connection_at(__u32 connection)
{
	__u32 at = connection % CONNECTIONS;

	return connection ? bpf_map_lookup_elem(&connections, &at) : 0;
}

static __always_inline bool is_followed_port(__u16 port)
{
	return port >= settings.first_port && port <= settings.last_port;
}

static __always_inline bool is_followed(const struct sock *sk)
{
	return is_followed_port(bpf_ntohs(sk->__sk_common.skc_dport));
}

static __always_inline bool is_internet(const struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	return family == AF_INET || family == AF_INET6;
}

static __always_inline __u32 fold(const __u32 address[4])
{
	/* ::ffff:a.b.c.d is a.b.c.d. */
	return !address[0] && !address[1] && address[2] == bpf_htonl(0xffff) ? address[3] :
	       address[0] ^ address[1] ^ address[2] ^ address[3];
}

static __always_inline void read_ends(const struct sock *sk, struct ends *ends)
{
	ends->local_port = sk->__sk_common.skc_num;
	ends->remote_port = bpf_ntohs(sk->__sk_common.skc_dport);
	if (sk->__sk_common.skc_family == AF_INET) {
		ends->local = sk->__sk_common.skc_rcv_saddr;
		ends->remote = sk->__sk_common.skc_daddr;
	} else {
		__u32 local[4], remote[4];

		BPF_CORE_READ_INTO(&local, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32);
		BPF_CORE_READ_INTO(&remote, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr32);
		ends->local = fold(local);
		ends->remote = fold(remote);
	}
}

static __always_inline __u32 find_connection(struct ends *ends)
{
	__u32 *number = bpf_map_lookup_elem(&by_ends, ends);

	return number ? *number : 0;
}

static __always_inline __u32 find_connection_of(const struct sock *sk)
{
	struct ends ends = {};

	read_ends(sk, &ends);
	return find_connection(&ends);
}

static __always_inline __u32 add_connection(struct ends *ends)
{
	__u32 number = __sync_fetch_and_add(&last_connection, 1) % (CONNECTIONS - 1) + 1;
	struct connection *connection = connection_at(number);

	if (!connection)
		return 0;
	__builtin_memset(connection, 0, sizeof(*connection));
	connection->ends = *ends;
	bpf_map_update_elem(&by_ends, ends, &number, BPF_ANY);
	return number;
}

/* Whether a key is one of every eighth that is not followed. */
static __always_inline bool is_control(__u32 to)
{
	return settings.controls && to && to * 2654435761U < 1U << 29;
}

/* Whether there is nothing more to be sent for a key: enough was, or it is long ago. */
__noinline int is_over(__u32 number, __u32 to)
{
	struct connection *connection = connection_at(number);

	if (!connection)
		return true;
	for (int at = 0; at < RECENT; at++) {
		struct recent *recent = &connection->recent[at];

		if (recent->to == to)
			return recent->sent >= MOST_SENT || (recent->sent >= 2 && (__s32)(connection->newest_sent - to) > 0);
	}
	return true;
}

static __always_inline void add_recent(struct connection *connection, __u32 to)
{
	struct recent *recent = &connection->recent[connection->next++ % RECENT];

	recent->to = to;
	recent->sent = 0;
}

static __always_inline void count_sent(struct connection *connection, __u32 to)
{
	for (int at = 0; at < RECENT; at++)
		if (connection->recent[at].to == to)
			connection->recent[at].sent++;
	if ((__s32)(to - connection->newest_sent) > 0)
		connection->newest_sent = to;
}

/* Nothing more is sent for the keys so far. */
static __always_inline void end_recent(struct connection *connection)
{
	for (int at = 0; at < RECENT; at++)
		connection->recent[at].sent = MOST_SENT;
}
