/* What our programs know of the kernel: its helpers' types, and of its structures the few fields that are read. */
#pragma once

#include <types.h>

/* linux/bpf.h */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_SOCKMAP = 15,
	BPF_MAP_TYPE_SOCKHASH = 18,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_F_NO_PREALLOC = 1 };
enum { BPF_RB_CONS_POS = 2, BPF_RB_PROD_POS = 3 };
enum sk_action { SK_DROP = 0, SK_PASS = 1 };

/* net/sock.h */
enum { RCV_SHUTDOWN = 1 };

/* What programs are given: this layout is the kernel's promise to programs, and the verifier translates it. */
struct bpf_sock;

struct __sk_buff {
	__u32 len;
	__u32 before_sk[41];
	struct bpf_sock *sk;
};

struct sk_msg_md {
	void *data;
	void *data_end;
	__u32 addresses[13];
	__u32 size;
	struct bpf_sock *sk;
};

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

/* linux/skbuff.h, net/sock.h, linux/tcp.h */
struct sk_buff_head {
	__u32 qlen;
} OF_KERNEL;

struct sock {
	struct sk_buff_head sk_receive_queue;
	__u32 sk_wmem_queued;
	__u32 sk_sndbuf;
	__u8 sk_shutdown;
} OF_KERNEL;

struct tcp_sock {
	__u32 write_seq;
	__u32 snd_nxt;
} OF_KERNEL;
