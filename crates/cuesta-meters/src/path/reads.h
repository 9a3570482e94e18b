/* What a task has read and not passed on yet. One that serves many lines at once passes on in the order in which it has read. */
#pragma once

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#define MOST_READS 8

struct reads {
	__u32 n;
	__u32 renames;           /* the task's, at the last one: it has slept since if it has more now */
	__u32 lines[MOST_READS]; /* the first one first, each `connection << 1 | way`; 0: of no followed line */
};

/* Adds what is read now. What was read before a sleep and not passed on since will not be. */
static __always_inline void add_read(struct reads *reads, __u32 line, __u32 renames)
{
	if (reads->renames != renames)
		reads->n = 0;
	reads->renames = renames;
	if (reads->n < MOST_READS)
		reads->lines[reads->n++] = line;
}

/* The place of a connection among what is read; `MOST_READS` if it is not there. */
static __always_inline __u32 find_read(const struct reads *reads, __u32 connection)
{
#pragma unroll
	for (__u32 at = 0; at < MOST_READS; at++)
		if (at < reads->n && reads->lines[at] >> 1 == connection)
			return at;
	return MOST_READS;
}

/* Takes out what is at a place, if anything is; says what it was. */
static __always_inline __u32 take_read(struct reads *reads, __u32 at)
{
	if (at >= MOST_READS || at >= reads->n)
		return 0;
	__u32 line = reads->lines[at];

	if (!--reads->n)
		return line;
#pragma unroll
	for (__u32 next = 1; next < MOST_READS; next++)
		if (next > at)
			reads->lines[next - 1] = reads->lines[next];
	return line;
}

/* It passes on what it has read from this connection, if it has. */
static __always_inline void forget_read(struct reads *reads, __u32 connection)
{
	if (reads->n)
		take_read(reads, find_read(reads, connection));
}
