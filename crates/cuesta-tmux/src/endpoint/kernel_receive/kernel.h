/* What the program knows of the kernel: its helpers' types. */
#pragma once

#include <types.h>

/* linux/bpf.h */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
};
enum { BPF_F_INGRESS = 1, BPF_F_MMAPABLE = 1 << 10 };
enum bpf_adj_room_mode { BPF_ADJ_ROOM_NET = 0 };

/* linux/pkt_cls.h: what becomes of a packet. TCX_NEXT: other programs decide, and then the stack. */
enum { TCX_NEXT = -1, TCX_DROP = 2 };

/* What programs are given: this layout is the kernel's promise to programs, and the verifier translates it. */
struct __sk_buff {
	__u32 len;
	__u32 pkt_type;
	__u32 mark;
	__u32 queue_mapping;
	__u32 protocol;
	__u32 vlan_present;
};
