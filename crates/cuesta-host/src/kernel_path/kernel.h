/* What the relay knows of the kernel: its helpers' types, and of its structures the few fields that are read. */
#pragma once

#include <types.h>

/* linux/bpf.h */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_SOCKMAP = 15,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_F_NO_PREALLOC = 1, BPF_F_INGRESS = 1 };
enum sk_action { SK_DROP = 0, SK_PASS = 1 };

/* What programs are given: this layout is the kernel's promise to programs, and the verifier translates it. */
struct __sk_buff {
	__u32 len;
};

struct bpf_sock;

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

/* linux/skbuff.h, net/sock.h, linux/skmsg.h, linux/tcp.h */
typedef struct {
	int counter;
} atomic_t;

struct sk_buff_head {
	__u32 qlen;
} OF_KERNEL;

struct sock {
	struct sk_buff_head sk_receive_queue;
	struct {
		atomic_t rmem_alloc;
	} sk_backlog;
	void *sk_user_data;
} OF_KERNEL;

struct sk_psock {
	struct sk_buff_head ingress_skb;
} OF_KERNEL;

struct tcp_sock {
	__u32 write_seq;
	__u64 bytes_received;
} OF_KERNEL;
