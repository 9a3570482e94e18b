/* Telnet between a line's socket and the program that has it as its input and output.
 *
 * `line_input` takes telnet out of what a line receives before it is in the queue from which the program reads, and tells the host
 * the commands. `line_output` looks at what the program writes: it goes out as it is if telnet gives nothing of it a meaning; other
 * messages are redirected to the host by a TCP connection over loopback, the control connection, and the host writes them on the
 * line.
 *
 * Order: while the host has not written all that was redirected, all that follows is redirected too.
 *
 * A read that waits for a socket in a map of sockets fails with EAGAIN when anything else than input wakes it. So neither commands nor
 * output do: a piece of nothing but commands is given to a broken socket (`sinks`), which is the one way to be rid of it without
 * waking who reads; and a message that the line has no room for goes to the host, so that the line's socket never has to tell that it
 * has room again. The kernel stops at a piece that it gave away, and a read that finds two of them waiting fails too. They wait only
 * where several pieces came at once: before the program starts, where the host has the kernel look until none is left, or when the
 * network had delivered them out of order.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* The kernel lends some of its helpers only to programs under its own licence. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define MOST_LINES 16384

#define IAC 255
#define WILL 251
#define WONT 252
#define DONT 254
#define SB 250
#define SE 240
#define BINARY 0
#define CR '\r'
#define LF '\n'

/* How much input is looked at together. */
#define CHUNK 64
/* The kernel's longest piece of input; and how much it cuts off the head of one at once. */
#define LONGEST_PIECE (1 << 20)
#define MOST_CUT 4095
/* The longest message of a program that is searched. A power of two. */
#define LONGEST_OUTPUT 4096
/* Bytes that may wait on a line before they are sent. */
#define MOST_UNSENT 65536
/* The lines of a thread share a buffer for 11,000 events. A line of which twice as many wait as this is ended, before it takes the room
 * from others. */
#define MOST_TOLD 1024

/* Why a program's message is left to the host. */
enum reason { NONE, ESCAPE, LONG, FULL, BEHIND, REASONS };

/* The parser's state, as in the host's own framing. */
enum state { DATA, AFTER_CR, AFTER_IAC, VERB, INSIDE, INSIDE_IAC };

/* What the host knows of a line and its control connection. */
struct output {
	/* The end on which messages are redirected, and the number that TCP gives to its first byte: `control_opened` notes both. */
	__u64 control;
	__u64 first;
	/* The line's cookie: its key in `controls`. */
	__u64 cookie;
	/* Characters that were redirected and that the host has written on the line. */
	__u64 handled;
};

struct counts {
	/* Characters that passed; of output, those of messages that were offered. */
	__u64 input;
	__u64 output;
	/* Bytes of commands that the host was told; and lines that lost an event or input. */
	__u64 commands;
	__u64 lost;
	/* Characters of messages that were to be redirected, by reason. What a write does not take is counted again when it is repeated. */
	__u64 redirected[REASONS];
};

/* What the host is told of a piece: its commands. A piece without characters is told even if it has none, because the kernel stops
 * at it: the host has it look at what is behind. */
struct event {
	__u64 cookie;
	/* Input of the line, or an earlier event, was lost. It cannot go on. */
	__u32 lost;
	__u32 len;
	__u8 bytes[CHUNK + 4];
};

/* The parser of what a line receives. It is used by one CPU at a time, because the line's socket is locked meanwhile. */
struct parser {
	/* The first, because the host reads whether it has lost anything. */
	struct event event;
	__u32 state;
	/* Events that were told since the host had read the last one before `since`, a position in `events`. */
	__u32 told;
	__u64 since;
	/* WILL, WONT, DO or DONT, in the state VERB. */
	__u32 verb;
	/* The line sends carriage returns bare. The host always agrees to that. */
	__u32 binary;
	/* The piece under way: bytes that were read, and characters that were written in their place. */
	__u32 from, to;
	/* Bytes that are looked at, and the characters at their head that are for the program. */
	__u32 characters;
	__u8 bytes[CHUNK];
};

struct {
	__uint(type, BPF_MAP_TYPE_SOCKHASH);
	__uint(max_entries, MOST_LINES);
	__type(key, __u64);
	__type(value, __u64);
} lines SEC(".maps"), controls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} sinks SEC(".maps");

/* A line's cookie -> its parser. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MOST_LINES);
	__type(key, __u64);
	__type(value, struct parser);
} parsers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct output);
} outputs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counts);
} counts SEC(".maps");

static const __u32 zero;

/* The host's process. */
static __u32 host;

SEC("raw_tp")
int i_am_the_host(void *context)
{
	host = bpf_get_current_pid_tgid() >> 32;
	return 0;
}

/* Notes where the control connection is. What the host sent to have this called goes nowhere. */
SEC("sk_msg")
int control_opened(struct sk_msg_md *msg)
{
	struct bpf_sock *socket = msg->sk;
	struct output *output = socket ? bpf_sk_storage_get(&outputs, socket, 0, 0) : 0;
	struct tcp_sock *control = socket ? bpf_skc_to_tcp_sock(socket) : 0;

	if (output && control) {
		output->control = (__u64)control;
		output->first = BPF_CORE_READ(control, write_seq);
	}
	return SK_DROP;
}

/* Given itself, a socket that is shut down for writing breaks when it receives anything. */
SEC("sk_skb/stream_verdict")
int sink_input(struct __sk_buff *skb)
{
	return bpf_sk_redirect_map(skb, &sinks, 0, 0);
}

/* A piece of input, and the parser that takes it. */
struct piece {
	struct __sk_buff *skb;
	struct parser *parser;
	/* Bytes that are not for the program. */
	__u32 removed;
	bool failed;
};

static __always_inline bool has_place(struct parser *parser)
{
	if (bpf_ringbuf_query(&events, BPF_RB_CONS_POS) >= parser->since) {
		parser->since = bpf_ringbuf_query(&events, BPF_RB_PROD_POS);
		parser->told = 0;
	}
	return parser->told++ < MOST_TOLD;
}

static __always_inline void tell(struct parser *parser)
{
	struct event *event = &parser->event;
	struct counts *count = bpf_map_lookup_elem(&counts, &zero);

	if (!has_place(parser) || bpf_ringbuf_output(&events, event, sizeof(*event), 0))
		event->lost = true;
	else if (count)
		__sync_fetch_and_add(&count->commands, event->len);
	event->len = 0;
}

static __always_inline void add(struct event *event, __u8 byte)
{
	event->bytes[event->len & (CHUNK - 1)] = byte;
	event->len++;
}

/* The state after a command's second byte. */
static __always_inline __u32 after_command(struct parser *parser, __u8 byte)
{
	parser->verb = byte;
	return byte >= WILL && byte <= DONT ? VERB : byte == SB ? INSIDE : DATA;
}

static __always_inline void negotiate(struct parser *parser, __u8 option)
{
	if (option == BINARY && (parser->verb == WILL || parser->verb == WONT))
		parser->binary = parser->verb == WILL;
}

/* Takes a byte. True: it is a character for the program. */
static __always_inline bool is_character(struct parser *parser, __u8 byte)
{
	struct event *event = &parser->event;

	switch (parser->state) {
	case AFTER_IAC:
		if (byte == IAC) {
			parser->state = DATA;
			return true;
		}
		add(event, IAC);
		parser->state = after_command(parser, byte);
		break;
	case VERB:
		negotiate(parser, byte);
		parser->state = DATA;
		break;
	case INSIDE:
		parser->state = byte == IAC ? INSIDE_IAC : INSIDE;
		break;
	case INSIDE_IAC:
		parser->state = byte == IAC ? INSIDE : byte == SE ? DATA : after_command(parser, byte);
		break;
	default: {
		bool after_cr = parser->state == AFTER_CR;

		parser->state = byte == IAC ? AFTER_IAC : byte == CR && !parser->binary ? AFTER_CR : DATA;
		return byte != IAC && !(after_cr && (byte == 0 || byte == LF));
	}
	}
	add(event, byte);
	return false;
}

static long take_byte(__u32 at, struct piece *piece)
{
	struct parser *parser = piece->parser;
	__u8 byte = parser->bytes[at & (CHUNK - 1)];

	if (is_character(parser, byte)) {
		parser->bytes[parser->characters & (CHUNK - 1)] = byte;
		parser->characters++;
	}
	if (parser->event.len > CHUNK - 4)
		tell(parser);
	return 0;
}

/* Whether telnet gives one of these bytes a meaning. `x - 1` has its highest bit set only if x is 0. Without branches, because the
 * verifier follows each of them. */
static __always_inline bool has_escape(const __u8 *bytes)
{
	__u32 found = 0;

	for (__u32 i = 0; i < CHUNK; i++) {
		__u32 here = bytes[i];

		found |= ((here ^ IAC) - 1) | ((here ^ CR) - 1);
	}
	return found >> 31;
}

/* Reads the next bytes of a piece. Returns how many, or 0 if that failed. */
static __always_inline __u32 load(struct __sk_buff *skb, struct parser *parser)
{
	__u32 len = skb->len - parser->from;

	if (len > CHUNK)
		len = CHUNK;
	__builtin_memset(parser->bytes, 0, CHUNK);
	if (len == 0 || bpf_skb_load_bytes(skb, parser->from, parser->bytes, len))
		return 0;
	return len;
}

/* Writes the characters among the last `len` bytes into their place, unless they are there. */
static __always_inline bool store(struct __sk_buff *skb, struct parser *parser, __u32 len)
{
	__u32 characters = parser->characters;

	if (characters > CHUNK)
		return false;
	if (characters && (parser->to != parser->from || characters != len) &&
	    bpf_skb_store_bytes(skb, parser->to, parser->bytes, characters, 0))
		return false;
	parser->from += len;
	parser->to += characters;
	return true;
}

static long take_chunk(__u32 index, struct piece *piece)
{
	struct parser *parser = piece->parser;
	__u32 len = load(piece->skb, parser);

	parser->characters = 0;
	if (parser->state == DATA && !has_escape(parser->bytes))
		parser->characters = len;
	else
		bpf_loop(len, take_byte, piece, 0);
	if (len && store(piece->skb, parser, len))
		return 0;
	piece->failed = true;
	return 1;
}

/* Moves the last characters that are not moved yet to the end of the piece. */
static long shift_chunk(__u32 index, struct piece *piece)
{
	struct parser *parser = piece->parser;
	__u32 len = parser->to;

	if (len > CHUNK)
		len = CHUNK;
	if (len == 0)
		return 1;
	parser->to -= len;
	piece->failed = bpf_skb_load_bytes(piece->skb, parser->to, parser->bytes, len) ||
			bpf_skb_store_bytes(piece->skb, parser->to + piece->removed, parser->bytes, len, 0);
	return piece->failed;
}

/* Cuts the next bytes off the head of a piece. */
static long cut(__u32 index, struct piece *piece)
{
	__u32 len = piece->removed;

	if (len > MOST_CUT)
		len = MOST_CUT;
	if (len == 0)
		return 1;
	piece->failed = bpf_skb_adjust_room(piece->skb, -(__s32)len, 0, 0);
	piece->removed -= len;
	return piece->failed;
}

/* Shortens a piece to the characters at its head. The kernel cuts only short pieces at their end, longer ones at their head. */
static __always_inline bool shorten(struct __sk_buff *skb, struct piece *piece)
{
	if (!bpf_skb_change_tail(skb, piece->parser->to, 0))
		return true;
	bpf_loop(LONGEST_PIECE / CHUNK, shift_chunk, piece, 0);
	if (!piece->failed)
		bpf_loop(LONGEST_PIECE / MOST_CUT, cut, piece, 0);
	return !piece->failed && piece->removed == 0;
}

/* Whether nothing can follow this piece on its line. */
static __always_inline bool is_last(struct __sk_buff *skb)
{
	struct sock *line = skb->sk ? (struct sock *)bpf_skc_to_tcp_sock(skb->sk) : 0;

	return line && BPF_CORE_READ(line, sk_shutdown) & RCV_SHUTDOWN && !BPF_CORE_READ(line, sk_receive_queue.qlen);
}

/* Takes telnet out of a piece. True: there are characters for the program, or their end. */
static __always_inline bool take(struct __sk_buff *skb, struct parser *parser, __u64 cookie)
{
	__u32 len = skb->len;
	struct piece piece = { .skb = skb, .parser = parser };
	struct counts *count = bpf_map_lookup_elem(&counts, &zero);

	if (parser->event.lost || !count) {
		tell(parser);
		return false;
	}
	parser->event.cookie = cookie;
	parser->from = parser->to = 0;
	bpf_loop((len + CHUNK - 1) / CHUNK, take_chunk, &piece, 0);
	__u32 characters = parser->to;
	bool passes = characters || is_last(skb);

	piece.removed = len - characters;
	if (piece.failed || (passes && piece.removed && !shorten(skb, &piece)))
		parser->event.lost = true;
	if (parser->event.len || !passes || parser->event.lost)
		tell(parser);
	if (parser->event.lost)
		__sync_fetch_and_add(&count->lost, 1);
	else if (passes)
		__sync_fetch_and_add(&count->input, characters);
	return passes && !parser->event.lost;
}

SEC("sk_skb/stream_verdict")
int line_input(struct __sk_buff *skb)
{
	__u64 cookie = bpf_get_socket_cookie(skb);
	struct parser *parser = bpf_map_lookup_elem(&parsers, &cookie);

	/* The end of the line has no characters. */
	if (skb->len == 0)
		return SK_PASS;
	if (!parser)
		return SK_DROP;
	return take(skb, parser, cookie) ? SK_PASS : bpf_sk_redirect_map(skb, &sinks, 0, 0);
}

/* Whether a line's socket takes a message at once. What it does not take the kernel would forget to show us the next time. */
static __always_inline bool has_room(const struct tcp_sock *line, __u32 len)
{
	const struct sock *sock = (void *)line;

	return BPF_CORE_READ(line, write_seq) - BPF_CORE_READ(line, snd_nxt) + len <= MOST_UNSENT &&
	       BPF_CORE_READ(sock, sk_wmem_queued) <= BPF_CORE_READ(sock, sk_sndbuf) >> 1;
}

static __always_inline enum reason scan(struct sk_msg_md *msg)
{
	__u32 len = msg->size;

	if (len > LONGEST_OUTPUT || bpf_msg_pull_data(msg, 0, len, 0))
		return LONG;
	__u8 *at = msg->data, *end = msg->data_end;
	/* As in `has_escape`. */
	__u32 found = 0, after_cr = 0;

	for (__u32 i = 0; i < LONGEST_OUTPUT && at + i + 1 <= end; i++) {
		__u32 here = at[i];

		found |= ((here ^ IAC) - 1) | (after_cr & ~((here ^ LF) - 1));
		after_cr = (here ^ CR) - 1;
		asm volatile("" : "+r"(found), "+r"(after_cr));
	}
	return (found | after_cr) >> 31 ? ESCAPE : NONE;
}

static __always_inline enum reason not_passed(struct sk_msg_md *msg, struct output *output, struct tcp_sock *line)
{
	struct tcp_sock *control = (void *)output->control;

	/* What was redirected, as far as the connection took it. The host counts modulo 2^32 here. */
	if (BPF_CORE_READ(control, write_seq) - (__u32)output->first != (__u32)output->handled)
		return BEHIND;
	if (!has_room(line, msg->size))
		return FULL;
	return scan(msg);
}

/* Redirects a message to the host. Where the host has ended the line, the write fails by the broken socket, and not by SK_DROP, which
 * the kernel would go on to do to all that follows, the host's last messages included. */
static __always_inline int leave_to_host(struct sk_msg_md *msg, struct output *output)
{
	if (output && bpf_msg_redirect_hash(msg, &controls, &output->cookie, 0) == SK_PASS)
		return SK_PASS;
	return bpf_msg_redirect_map(msg, &sinks, 0, 0);
}

SEC("sk_msg")
int line_output(struct sk_msg_md *msg)
{
	struct bpf_sock *socket = msg->sk;
	struct output *output = socket ? bpf_sk_storage_get(&outputs, socket, 0, 0) : 0;
	struct tcp_sock *line = socket ? bpf_skc_to_tcp_sock(socket) : 0;
	struct counts *count = bpf_map_lookup_elem(&counts, &zero);

	if (!output || !line || !count)
		return leave_to_host(msg, output);
	/* It has looked for room before. */
	if (bpf_get_current_pid_tgid() >> 32 == host)
		return SK_PASS;
	enum reason reason = not_passed(msg, output, line);

	if (reason == NONE) {
		__sync_fetch_and_add(&count->output, msg->size);
		return SK_PASS;
	}
	__sync_fetch_and_add(&count->redirected[reason], msg->size);
	return leave_to_host(msg, output);
}
