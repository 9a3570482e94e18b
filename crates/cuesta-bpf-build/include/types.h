/* The kernel's basic types, for programs that run in it. */
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false, true };

/* Nothing here fixes an offset: libbpf looks each field up in the running kernel's own description of its types (CO-RE). */
#define OF_KERNEL __attribute__((preserve_access_index))
