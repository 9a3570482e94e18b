/* What the follower knows of the kernel: its helpers' types, and of its structures the few fields that are read.
 *
 * Nothing here fixes an offset: libbpf looks each field up in the running kernel's own description of its types (CO-RE).
 */
#pragma once

#include <types.h>

/* linux/bpf.h */
enum { BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_PERCPU_ARRAY = 6, BPF_MAP_TYPE_LRU_HASH = 9 };
enum { BPF_MAP_TYPE_RINGBUF = 27, BPF_MAP_TYPE_TASK_STORAGE = 29 };
enum { BPF_ANY = 0, BPF_F_NO_PREALLOC = 1, BPF_LOCAL_STORAGE_GET_F_CREATE = 1, BPF_RB_NO_WAKEUP = 1 };

/* linux/sched.h */
#define PF_WQ_WORKER 0x00000020
#define PF_KTHREAD 0x00200000
#define NAME 16 /* TASK_COMM_LEN */

/* linux/socket.h, linux/in.h, net/tcp_states.h */
#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6
enum { TCP_ESTABLISHED = 1, TCP_SYN_RECV = 3, TCP_LISTEN = 10 };

/* linux/tty_driver.h, linux/tty.h */
enum tty_driver_subtype { PTY_TYPE_MASTER = 1 };
#define TTY_EXCLUSIVE 3

/* net/tcp.h: bits of `nonagle` */
#define TCP_NAGLE_OFF 1
#define TCP_NAGLE_CORK 2

struct bpf_local_storage;

struct task_struct {
	unsigned int flags;
	int pid;
	char comm[NAME];
	unsigned int in_iowait : 1;
	bool throttled; /* since Linux 6.18 */
	struct bpf_local_storage *bpf_storage;
} OF_KERNEL;

#ifdef __TARGET_ARCH_x86
struct pt_regs {
	unsigned long orig_ax;
} OF_KERNEL;
#define CALL_OF(registers) ((registers)->orig_ax)
#else
struct pt_regs {
	int syscallno;
} OF_KERNEL;
#define CALL_OF(registers) ((registers)->syscallno)
#endif

struct in6_addr {
	union {
		__be32 u6_addr32[4];
	} in6_u;
} OF_KERNEL;

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
} OF_KERNEL;

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
} OF_KERNEL;

struct tcp_sock {
	__u32 snd_wnd;
	__u32 snd_cwnd;
	__u32 write_seq;
	__u32 snd_una;
	__u32 packets_out;
	__u64 bytes_received;
	__u64 bytes_acked;
	__u8 nonagle : 4;
} OF_KERNEL;

struct sk_buff {
	struct sock *sk;
	unsigned int len;
	__u16 transport_header;
	unsigned char *head;
	unsigned char *data;
} OF_KERNEL;

struct work_struct;

typedef void (*work_func_t)(struct work_struct *work);

struct work_struct {
	work_func_t func;
} OF_KERNEL;

struct tty_driver {
	enum tty_driver_subtype subtype;
} OF_KERNEL;

/* Before Linux 6.17. */
struct tty_driver___short {
	short subtype;
} OF_KERNEL;

struct tty_port;

struct tty_struct {
	int index;
	unsigned long flags;
	struct tty_driver *driver;
	struct tty_struct *link;
	struct tty_port *port;
} OF_KERNEL;

struct tty_bufhead {
	struct work_struct work;
} OF_KERNEL;

struct tty_port {
	struct tty_bufhead buf;
	struct tty_struct *itty;
} OF_KERNEL;
