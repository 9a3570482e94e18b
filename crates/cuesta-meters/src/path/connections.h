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

#define CONNECTIONS 8192
#define OF_ONE_PORT 4
#define RECENT 16
#define MOST_SENT 256 /* more is no answer to a key */

/* Set before loading, as `follower.rs` writes it. */
const volatile struct {
	__u16 first_port, last_port;  /* the clients' */
	__u8 terminals;               /* whether marked terminals are followed */
	__u8 controls;                /* whether every eighth key is not followed, to tell what following costs */
	__u8 sees_writes;             /* whether the kernel has `tcp_sendmsg_locked` */
	__u32 from;                   /* the only address that followed connections come from, as of `ends`; 0: any */
} settings = {};

/* The two ends of a connection, as this end sees them; of each address 32 bits. Of a terminal only its number, as `remote_port`. */
struct ends {
	__u32 local, remote;
	__u16 local_port, remote_port;
};

/* The beginning of a segment. */
struct tcp_header {
	__be16 from, to;
	__be32 seq, ack;
	__u8 offset; /* of the data, in the upper four bits, in words */
};

/* How often something has been sent for a key, and how many keys before it were not answered when it came: what is sent next may be
 * theirs. */
struct recent {
	__u32 to, sent, ahead;
};

/* Its place in `connections` is its number, which its port gives: to look it up in a hash table takes ten times as long. */
struct connection {
	struct ends ends;
	__u64 arrived;          /* when its last segment with data came */
	__u32 received;         /* bytes of which the programs have been told; keys of a terminal */
	__u32 next;
	struct recent recent[RECENT];
	__u32 reader;           /* the task that last read from it */
	bool is_unfollowed;     /* whether its last key is not followed: what is sent counts as sent for it, too */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CONNECTIONS);
	__type(key, __u32);
	__type(value, struct connection);
} connections SEC(".maps");

static __always_inline struct connection *connection_at(__u32 connection)
{
	__u32 at = connection % CONNECTIONS;

	return connection ? bpf_map_lookup_elem(&connections, &at) : 0;
}

static __always_inline bool is_followed_port(__u16 port)
{
	return port >= settings.first_port && port <= settings.last_port;
}

static __always_inline bool is_internet(const struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	return family == AF_INET || family == AF_INET6;
}

/* Not to be asked of what may be only the beginning of a socket, as those of connections that are not there yet. */
static __always_inline bool is_tcp(const struct sock *sk)
{
	return is_internet(sk) && sk->sk_protocol == IPPROTO_TCP;
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

/* Whether a connection comes from where followed ones do. */
static __always_inline bool is_from(const struct ends *ends)
{
	return is_followed_port(ends->remote_port) && (!settings.from || ends->remote == settings.from);
}

static __always_inline bool is_followed(const struct sock *sk)
{
	struct ends ends = {};

	if (!is_followed_port(bpf_ntohs(sk->__sk_common.skc_dport)))
		return false;
	if (!settings.from)
		return true;
	read_ends(sk, &ends);
	return is_from(&ends);
}

/* The places of a port: of its first connection, and of others that have it at the same time, from other clients or networks. */
static __always_inline __u32 place_of(const struct ends *ends, __u32 which)
{
	return 1 + (which << 11 | (ends->remote_port & 2047)) % (CONNECTIONS - 1);
}

/* The number of a connection; 0 if it is not known. */
static __always_inline __u32 find_connection(const struct ends *ends)
{
	for (__u32 which = 0; which < OF_ONE_PORT; which++) {
		__u32 number = place_of(ends, which);
		struct connection *connection = connection_at(number);

		if (connection && connection->ends.remote_port == ends->remote_port &&
		    connection->ends.local_port == ends->local_port && connection->ends.remote == ends->remote &&
		    connection->ends.local == ends->local)
			return number;
	}
	return 0;
}

static __always_inline __u32 find_connection_of(const struct sock *sk)
{
	struct ends ends = {};

	read_ends(sk, &ends);
	return find_connection(&ends);
}

/* Makes a connection anew; it takes the place of the one that has been silent for the longest time. */
static __always_inline __u32 add_connection(struct ends *ends)
{
	__u32 number = find_connection(ends);
	__u64 oldest = ~0ULL;

	if (!number) {
		for (__u32 which = 0; which < OF_ONE_PORT; which++) {
			struct connection *other = connection_at(place_of(ends, which));

			if (other && other->arrived < oldest) {
				oldest = other->arrived;
				number = place_of(ends, which);
			}
		}
	}
	struct connection *connection = connection_at(number);

	if (!connection)
		return 0;
	__builtin_memset(connection, 0, sizeof(*connection));
	connection->ends = *ends;
	return number;
}

/* Whether a key is one of every eighth that is not followed. */
static __always_inline bool is_control(__u32 port, __u32 to)
{
	__u32 mixed = (to ^ port * 2654435761U) * 2246822519U;

	return settings.controls && to && (mixed ^ mixed >> 15) * 3266489917U < 1U << 29;
}

/* Whether there is nothing more to be sent for a key: enough was, or its answer was and a newer key has come. */
static __always_inline bool is_over(struct connection *connection, __u32 to, __u32 turn)
{
	struct recent *recent = &connection->recent[turn % RECENT];

	return recent->to != to || recent->sent >= MOST_SENT || (recent->sent > recent->ahead && connection->received != to);
}

/* A key has come; its turn among the recent ones. */
static __always_inline __u32 add_recent(struct connection *connection, __u32 to)
{
	__u32 turn = connection->next++;
	struct recent *recent = &connection->recent[turn % RECENT], *before = &connection->recent[(turn - 1) % RECENT];

	connection->received = to;
	connection->is_unfollowed = false;
	recent->to = to;
	recent->sent = 0;
	recent->ahead = before->to && before->ahead >= before->sent ? before->ahead - before->sent + 1 : 0;
	return turn;
}

static __always_inline void count_sent(struct connection *connection, __u32 to, __u32 turn)
{
	struct recent *recent = &connection->recent[turn % RECENT];

	if (recent->to == to)
		recent->sent++;
}
