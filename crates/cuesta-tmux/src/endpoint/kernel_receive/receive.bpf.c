/* Takes messages of TMux apart in the kernel: each segment becomes a packet of its own, which the TUN device receives.
 *
 * Only what nothing is wrong with: whole IPv4 datagrams of protocol 18 from a peer to the address that it knows, of at most 64 segments,
 * all of TCP or UDP with right headers, and at most four with SYN. Everything else is left to the stack and the agent, which count
 * what is wrong. A datagram is looked at as a whole before the first segment is delivered, so that none is delivered by both. The
 * agent is slower: it must not get what a peer sends in good order, because later messages would overtake it.
 */
#include "kernel.h"

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* The kernel lends some of its helpers only to programs under its own licence. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define MOST_PEERS 1024
#define MOST_SEGMENTS 64
#define MOST_SYNS 4
/* Octets that are removed from a packet at once: the kernel allows 4,095, and `advance` needs an even number. No packet is longer
 * than this many steps.
 */
#define STEP 4092
#define MOST_STEPS 17

#define ETHERNET 14
#define IPV4 20
#define MINI_HEADER 4
#define TCP 6
#define TCP_HEADER 20
#define UDP 17
#define UDP_HEADER 8
#define TMUX 18
#define TTL 64
#define DO_NOT_FRAGMENT 0x40
#define SYN 0x02
/* linux/if_packet.h: sent to this host's link address. */
#define PACKET_HOST 0

/* Addresses of a datagram, in network order. */
struct addresses {
	__be32 source;
	__be32 destination;
};

struct peer {
	__u32 number;
	/* The TUN device. */
	__u32 device;
};

/* What was received from a peer in the kernel. */
struct heard {
	/* When, in nanoseconds of the monotonic clock. */
	__u64 at;
	__u64 messages;
	__u64 segments;
	/* Octets of messages, their IP headers included. */
	__u64 octets;
	/* Segments among them that the kernel could not give to the device, for example because it had no memory. */
	__u64 lost;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MOST_PEERS);
	__type(key, struct addresses);
	__type(value, struct peer);
} peers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MOST_PEERS);
	__type(key, __u32);
	__type(value, struct heard);
} heard SEC(".maps");

static __always_inline __u32 number(const __u8 *octets)
{
	return octets[0] << 8 | octets[1];
}

/* The sum of a header's 16-bit words, which is 0xffff if its checksum is right. */
static __always_inline __u32 sum(const __u8 *header)
{
	__u32 sum = 0;

#pragma unroll
	for (int i = 0; i < IPV4; i += 2)
		sum += number(header + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* Whether a packet is a message to this host and has all its octets; reads its IP header. */
static __always_inline bool is_message(struct __sk_buff *skb, __u8 *ip)
{
	/* The tag of a VLAN is not among the octets: but for it, a packet of the VLAN looks like one of the interface itself. */
	if (skb->pkt_type != PACKET_HOST || skb->vlan_present || skb->protocol != bpf_htons(0x0800))
		return false;
	if (bpf_skb_load_bytes(skb, ETHERNET, ip, IPV4))
		return false;
	bool is_fragment = (ip[6] & 0x3f) || ip[7];
	bool is_truncated = skb->len < ETHERNET + number(ip + 2);

	return ip[0] == 0x45 && ip[9] == TMUX && !is_fragment && !is_truncated && sum(ip) == 0xffff;
}

static __always_inline __u32 padded(__u32 length)
{
	return (length + 3) & ~3U;
}

/* Whether a segment of `length` octets at `at` has a right header of TCP; counts those with SYN. */
static __always_inline bool is_tcp(struct __sk_buff *skb, __u32 at, __u32 length, __u32 *syns)
{
	__u8 octets[2];

	if (length < TCP_HEADER || bpf_skb_load_bytes(skb, at + 12, octets, sizeof(octets)))
		return false;
	__u32 header = (octets[0] >> 4) * 4;

	*syns += !!(octets[1] & SYN);
	return header >= TCP_HEADER && header <= length;
}

static __always_inline bool is_udp(struct __sk_buff *skb, __u32 at, __u32 length)
{
	__u8 octets[2];

	if (length < UDP_HEADER || bpf_skb_load_bytes(skb, at + 4, octets, sizeof(octets)))
		return false;
	return number(octets) >= UDP_HEADER && number(octets) <= length;
}

/* How many segments a message of `total` octets has; 0 if it is left to the agent. */
static __always_inline __u32 segments(struct __sk_buff *skb, __u32 total)
{
	__u32 count = 0, syns = 0, at = IPV4;

	for (int i = 0; i <= MOST_SEGMENTS; i++) {
		__u8 mini[MINI_HEADER];

		/* One to three octets at the end are padding. */
		if (at + MINI_HEADER > total)
			return syns <= MOST_SYNS ? count : 0;
		if (bpf_skb_load_bytes(skb, ETHERNET + at, mini, sizeof(mini)))
			return 0;
		__u32 length = number(mini), segment = ETHERNET + at + MINI_HEADER;

		if ((mini[0] ^ mini[1] ^ mini[2]) != mini[3] || length < MINI_HEADER || at + length > total)
			return 0;
		if (mini[2] == TCP ? !is_tcp(skb, segment, length - MINI_HEADER, &syns) :
		    mini[2] != UDP || !is_udp(skb, segment, length - MINI_HEADER))
			return 0;
		at += padded(length);
		count++;
	}
	return 0;
}

/* Makes `ip` the header of a packet of this length. */
static __always_inline void complete(__u8 *ip, __u8 protocol, __u32 length)
{
	ip[2] = length >> 8;
	ip[3] = length;
	ip[4] = ip[5] = 0;
	ip[6] = DO_NOT_FRAGMENT;
	ip[7] = 0;
	ip[8] = TTL;
	ip[9] = protocol;
	ip[10] = ip[11] = 0;
	__u32 checksum = ~sum(ip);

	ip[10] = checksum >> 8;
	ip[11] = checksum;
}

/* Removes octets behind the IP header; returns 0 if that succeeds. It is not static, so that the verifier checks its loop once,
 * and not for every segment.
 */
__noinline int remove(struct __sk_buff *skb, __u32 octets)
{
	for (int i = 0; i < MOST_STEPS && octets; i++) {
		__u32 step = octets < STEP ? octets : STEP;

		if (bpf_skb_adjust_room(skb, -(__s32)step, BPF_ADJ_ROOM_NET, 0))
			return 1;
		octets -= step;
	}
	return octets != 0;
}

/* Removes the segment before, of `before` octets, and the next mini-header, so that the next segment follows the IP header.
 *
 * A network card may have summed the packet (CHECKSUM_COMPLETE), and TCP relies on that sum. It stays right without
 * BPF_F_RECOMPUTE_CSUM, because the old IP header and the new one both sum to 0xffff, and because everything that is removed
 * begins at an even offset and has an even length.
 */
static __always_inline bool advance(struct __sk_buff *skb, __u8 *ip, __u32 *before)
{
	__u8 mini[MINI_HEADER];

	if (bpf_skb_load_bytes(skb, ETHERNET + IPV4 + *before, mini, sizeof(mini)))
		return false;
	if (remove(skb, *before + MINI_HEADER))
		return false;
	__u32 length = number(mini) - MINI_HEADER;

	*before = padded(length);
	complete(ip, mini[2], IPV4 + length);
	return !bpf_skb_store_bytes(skb, ETHERNET, ip, IPV4, 0);
}

/* Gives every segment to `device`, and counts those that are `lost`. `ip` is the header of them all. */
static __always_inline int deliver(struct __sk_buff *skb, __u8 *ip, __u32 count, __u32 device, __u64 *lost)
{
	__u32 before = 0;

	for (__u32 i = 0; i < MOST_SEGMENTS && i < count; i++) {
		if (!advance(skb, ip, &before)) {
			__sync_fetch_and_add(lost, count - i);
			break;
		}
		if (i + 1 == count)
			return bpf_redirect(device, BPF_F_INGRESS);
		/* What follows the segment is cut off where the packet is received. A positive result: the device has dropped the
		 * packet, and counts it.
		 */
		if (bpf_clone_redirect(skb, device, BPF_F_INGRESS) < 0)
			__sync_fetch_and_add(lost, 1);
	}
	return TCX_DROP;
}

SEC("tcx/ingress")
int receive(struct __sk_buff *skb)
{
	__u8 ip[IPV4];

	if (!is_message(skb, ip))
		return TCX_NEXT;
	struct addresses addresses;

	__builtin_memcpy(&addresses, ip + 12, sizeof(addresses));
	struct peer *peer = bpf_map_lookup_elem(&peers, &addresses);
	struct heard *known = peer ? bpf_map_lookup_elem(&heard, &peer->number) : 0;
	__u32 total = number(ip + 2);
	__u32 count = known ? segments(skb, total) : 0;

	if (!count)
		return TCX_NEXT;
	known->at = bpf_ktime_get_ns();
	__sync_fetch_and_add(&known->messages, 1);
	__sync_fetch_and_add(&known->segments, count);
	__sync_fetch_and_add(&known->octets, total);
	return deliver(skb, ip, count, peer->device, &known->lost);
}
