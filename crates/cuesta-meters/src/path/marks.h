/* Sets of addresses, each small enough to stay in a CPU's cache: a look at the tasks and terminals themselves mostly misses it.
 *
 * Addresses that share a place are told apart by what they stand for.
 */
#pragma once

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#define MARKS 16384

struct marks {
	__u64 bits[MARKS / 64];
};

static __always_inline __u32 mark_of(__u64 address)
{
	return address * 11400714819323198485ULL >> 50;
}

static __always_inline bool is_marked(const struct marks *marks, __u64 address)
{
	__u32 at = mark_of(address);

	return marks->bits[at / 64] >> at % 64 & 1;
}

static __always_inline void mark(struct marks *marks, __u64 address)
{
	__u32 at = mark_of(address);

	__sync_fetch_and_or(&marks->bits[at / 64], 1ULL << at % 64);
}

static __always_inline void unmark(struct marks *marks, __u64 address)
{
	__u32 at = mark_of(address);

	__sync_fetch_and_and(&marks->bits[at / 64], ~(1ULL << at % 64));
}
