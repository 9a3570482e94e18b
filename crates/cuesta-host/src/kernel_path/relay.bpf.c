/* The relay: characters between a line's socket and its program's socket, without the host.
 *
 * A session has three sockets in the maps: the line's, and both ends of a TCP connection over loopback, of which the program has
 * one and the host the other. What a line receives is sent on the host's end by a worker of the kernel (`line_input`), and what is
 * sent there, by the worker or by the host, goes straight into the program's queue (`host_output`). What a program sends goes out
 * on the line (`program_output`). What telnet gives a meaning to is left to the host, which reads it where it always does: from the
 * line, or from its end of the connection.
 *
 * Order: `handled` says how much of what was left to the host it has passed on. Only when that is everything does the relay take
 * over again. The host, before it sends input of its own, waits until the worker has sent all (`pending`).
 *
 * Why not from the line straight into the program's queue: there the worker first queues, then wakes the program, and a program
 * that was awake in between finds nothing to read when it is woken, which the kernel reports to it as EAGAIN. On this way the
 * program's socket is locked meanwhile.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* The kernel lends some of its helpers only to programs under its own licence. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define MOST_SESSIONS 16384

#define IAC 255
#define CR '\r'
#define LF '\n'

/* Longest piece of telnet that is searched; a longer one is left to the host. Powers of two. */
#define LONGEST_INPUT 512
#define LONGEST_OUTPUT 4096

/* Characters, with their sockets' overhead, that may wait for a program that does not read; more is left to the host, which
 * stops reading the line. */
#define MOST_UNREAD 65536
/* Pieces that may wait to be moved to the program's queue. */
#define MOST_MOVING 64

/* Why characters are left to the host. */
enum reason { NONE, ESCAPE, LONG, UNREAD, BEHIND, REASONS };

/* The numbers that TCP gives to what one end of a session's connection sends to the other. */
struct numbers {
	__u32 first;
	bool known;
};

/* What the relay knows of a session. */
struct session {
	/* Characters of input that were left to the host. */
	__u64 input;
	/* Both ends of the connection, to look at them. They are only read, with care, because they may be gone. */
	__u64 host;
	__u64 program;
	struct numbers of_host;
	struct numbers of_program;
};

/* What the host has told of a session. */
struct handled {
	/* Characters of input that it has passed on. */
	__u64 input;
	/* Characters of output that it has passed on. */
	__u64 output;
	/* The line speaks telnet. */
	__u64 telnet;
};

struct counts {
	/* Characters that were relayed. */
	__u64 input;
	__u64 output;
	/* Characters that were left to the host, by reason. */
	__u64 input_left[REASONS];
	__u64 output_left[REASONS];
};

struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__uint(max_entries, MOST_SESSIONS);
	__type(key, __u32);
	__type(value, __u64);
} lines SEC(".maps"), hosts SEC(".maps"), programs SEC(".maps");

/* A line's cookie -> its session. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MOST_SESSIONS);
	__type(key, __u64);
	__type(value, __u32);
} session_of_line SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} session_of_end SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MOST_SESSIONS);
	__type(key, __u32);
	__type(value, struct session);
} sessions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MOST_SESSIONS);
	__type(key, __u32);
	__type(value, struct handled);
} handled SEC(".maps");

/* 1 = the host has been told that there is input for it. It sets 0 before it reads. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MOST_SESSIONS);
	__type(key, __u32);
	__type(value, __u32);
} told SEC(".maps");

/* Sessions with input for the host. It has room for each session once. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 * MOST_SESSIONS);
} news SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8[LONGEST_INPUT]);
} pieces SEC(".maps");

static const __u32 zero;

/* Pieces that the worker has not sent on the host's end yet. */
static __always_inline __u32 moving(const struct sock *host)
{
	/* The lowest bits are flags. */
	struct sk_psock *psock = (void *)((__u64)BPF_CORE_READ(host, sk_user_data) & ~7ULL);

	return psock ? BPF_CORE_READ(psock, ingress_skb.qlen) : 0;
}

/* How many characters an end has sent by TCP: those that were not relayed. Called before anything is sent, and then each time. */
static __always_inline __u32 sent_by(const struct tcp_sock *end, struct numbers *numbers)
{
	__u32 next = BPF_CORE_READ(end, write_seq);

	if (!numbers->known) {
		numbers->first = next;
		numbers->known = true;
	}
	return next - numbers->first;
}

/* Why nothing may be added to the program's queue, which it reads before what arrives by TCP. */
static __always_inline enum reason not_open(struct session *session)
{
	struct sock *program = (void *)session->program;

	if (!program)
		return BEHIND;
	__u32 by_tcp = sent_by((struct tcp_sock *)session->host, &session->of_host);

	if ((__u32)BPF_CORE_READ((struct tcp_sock *)program, bytes_received) != by_tcp ||
	    BPF_CORE_READ(program, sk_receive_queue.qlen))
		return BEHIND;
	return BPF_CORE_READ(program, sk_backlog.rmem_alloc.counter) > MOST_UNREAD ? UNREAD : NONE;
}

static __always_inline enum reason scan_input(struct __sk_buff *skb)
{
	__u32 len = skb->len;
	__u8 *piece = bpf_map_lookup_elem(&pieces, &zero);

	if (!piece || len == 0 || len > LONGEST_INPUT)
		return LONG;
	if (bpf_skb_load_bytes(skb, 0, piece, len))
		return LONG;
	for (__u32 i = 0; i < LONGEST_INPUT && i < len; i++)
		if (piece[i] == IAC || piece[i] == CR)
			return ESCAPE;
	return NONE;
}

/* Notes where the ends of a session's connection are. */
static __always_inline void find_ends(struct session *session, __u32 *index)
{
	struct bpf_sock *host = bpf_map_lookup_elem(&hosts, index);
	struct bpf_sock *program = bpf_map_lookup_elem(&programs, index);

	if (host && program) {
		session->host = (__u64)bpf_skc_to_tcp_sock(host);
		session->program = (__u64)bpf_skc_to_tcp_sock(program);
	}
	if (host)
		bpf_sk_release(host);
	if (program)
		bpf_sk_release(program);
}

static __always_inline enum reason not_relayed(struct __sk_buff *skb, struct session *session, __u32 *index)
{
	struct handled *done = bpf_map_lookup_elem(&handled, index);

	if (!done || session->input != done->input)
		return BEHIND;
	enum reason reason = done->telnet ? scan_input(skb) : NONE;

	if (!reason)
		reason = not_open(session);
	if (!reason && moving((struct sock *)session->host) > MOST_MOVING)
		reason = UNREAD;
	return reason;
}

static __always_inline void tell(__u32 *index)
{
	__u32 *already = bpf_map_lookup_elem(&told, index);

	if (already && !*already) {
		*already = 1;
		bpf_ringbuf_output(&news, index, sizeof(*index), 0);
	}
}

SEC("sk_skb/stream_verdict")
int line_input(struct __sk_buff *skb)
{
	__u64 cookie = bpf_get_socket_cookie(skb);
	__u32 *index = bpf_map_lookup_elem(&session_of_line, &cookie);
	struct session *session = index ? bpf_map_lookup_elem(&sessions, index) : 0;
	struct counts *count = bpf_map_lookup_elem(&counts, &zero);

	if (!index || !session || !count)
		return SK_PASS;
	if (!session->host)
		find_ends(session, index);
	/* The end of the line has no characters. */
	enum reason reason = skb->len ? not_relayed(skb, session, index) : BEHIND;

	if (reason == NONE) {
		count->input += skb->len;
		return bpf_sk_redirect_map(skb, &hosts, *index, 0);
	}
	session->input += skb->len;
	count->input_left[reason] += skb->len;
	tell(index);
	return SK_PASS;
}

/* What the worker and the host send. What is not relayed goes by TCP, which holds the sender up. */
SEC("sk_msg")
int host_output(struct sk_msg_md *msg)
{
	struct bpf_sock *socket = msg->sk;
	__u32 *index = socket ? bpf_sk_storage_get(&session_of_end, socket, 0, 0) : 0;
	struct session *session = index ? bpf_map_lookup_elem(&sessions, index) : 0;

	if (!index || !session || not_open(session))
		return SK_PASS;
	return bpf_msg_redirect_map(msg, &programs, *index, BPF_F_INGRESS);
}

static __always_inline enum reason scan_output(struct sk_msg_md *msg)
{
	__u32 len = msg->size;

	if (len > LONGEST_OUTPUT || bpf_msg_pull_data(msg, 0, len, 0))
		return LONG;
	__u8 *at = msg->data, *end = msg->data_end;
	/* `x - 1` has its highest bit set only if x is 0. Without branches, because the verifier follows each of them. */
	__u32 found = 0, after_cr = 0;

	for (__u32 i = 0; i < LONGEST_OUTPUT && at + i + 1 <= end; i++) {
		__u32 here = at[i];

		found |= ((here ^ IAC) - 1) | (after_cr & ~((here ^ LF) - 1));
		after_cr = (here ^ CR) - 1;
		asm volatile("" : "+r"(found), "+r"(after_cr));
	}
	return (found | after_cr) >> 31 ? ESCAPE : NONE;
}

SEC("sk_msg")
int program_output(struct sk_msg_md *msg)
{
	struct bpf_sock *socket = msg->sk;
	__u32 *index = socket ? bpf_sk_storage_get(&session_of_end, socket, 0, 0) : 0;
	struct session *session = index ? bpf_map_lookup_elem(&sessions, index) : 0;
	struct handled *done = index ? bpf_map_lookup_elem(&handled, index) : 0;
	struct counts *count = bpf_map_lookup_elem(&counts, &zero);
	struct tcp_sock *program = socket ? bpf_skc_to_tcp_sock(socket) : 0;

	if (!index || !session || !done || !count || !program)
		return SK_PASS;
	__u32 by_tcp = sent_by(program, &session->of_program);
	enum reason reason = by_tcp != (__u32)done->output ? BEHIND : done->telnet ? scan_output(msg) : NONE;

	if (reason == NONE) {
		count->output += msg->size;
		return bpf_msg_redirect_map(msg, &lines, *index, 0);
	}
	count->output_left[reason] += msg->size;
	return SK_PASS;
}

/* How many pieces of the session `args[0]` the worker has not sent yet. Run on demand. */
SEC("raw_tp")
int pending(struct bpf_raw_tracepoint_args *context)
{
	__u32 index = context->args[0];
	struct session *session = bpf_map_lookup_elem(&sessions, &index);

	return session && session->host ? moving((struct sock *)session->host) : 0;
}
