/* Keys on their way: who has them now, and by which visits they came there.
 *
 * A key is the last of the bytes that a segment brings. Who has it is a task, a terminal's port or a connection; each passes
 * it on with one more visit, whose parent is the one before. Visits are never changed, so that a key may go two ways.
 */
#pragma once

#include "connections.h"
#include "spent.h"

/* Kinds of a visit's time that are not a task's, after those of `spent.h`. */
enum { NETWORK_STACK = OWN_KINDS, WORKER_QUEUE, OTHERS_KEYS, SENT, HELD, BEYOND, KINDS };
/* Where to a key goes: to the program, or back with its echo. */
enum { KEYS, ECHOES, PASSING, BACK = 4 };
/* Why an echo is held, and of a task's visit why it waited, or that the end of its sleep was not seen; as `chain.rs` reads it. */
enum { HELD_OTHERWISE, HELD_BY_NAGLE, HELD_BY_CORK, HELD_BY_WINDOW, HELD_BY_CONGESTION, UNSEEN, QUOTA };

#define VISITS 32768
#define MOST_KEYS 8
#define MOST_VISITS 32

/* As `chain.rs` reads it. */
struct visit {
	__u64 ns[KINDS];
	__u64 ended;
	__u32 id, parent;
	__u32 call; /* what its task last slept in; of `BEYOND` the offset before what was sent */
	__u32 why;  /* as above; of `BEYOND`, as `rival` and `waker`, of a `struct beyond` */
	struct name task, rival, waker;
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, VISITS);
	__type(key, __u32);
	__type(value, struct visit);
} visits SEC(".maps");

__u32 last_visit = 0;

/* A key that goes on. */
struct going {
	__u64 begun;     /* when its segment came */
	__u32 from, to;  /* the segment's bytes in the stream: behind `from`, up to `to` */
	__u32 visit;     /* the last */
	__u32 turn;      /* as in `add_recent` */
	__u32 sink;      /* to what its holder has passed it on: part of a port's or a socket's address, or `THE_LINE`; 0 = to nothing yet */
	__u32 guess;     /* a holder that had passed it on answered it by itself, too: visits in between may be missing */
};

/* The line that the key came from, as a sink. */
#define THE_LINE 1

/* Keys of one connection that go the same way together. */
struct bundle {
	__u32 connection;
	__u32 way;
	__u32 n;
	struct going keys[MOST_KEYS];
};

/* Adds the keys of another bundle, which are of the same line and way. */
static __always_inline void add_keys(struct bundle *to, const struct bundle *from)
{
	to->connection = from->connection;
	to->way = from->way;
	for (int each = 0; each < MOST_KEYS; each++) {
		if (each >= from->n || to->n >= MOST_KEYS)
			break;
		to->keys[to->n++ % MOST_KEYS] = from->keys[each];
	}
}

/* With no more than it has: most have one key. */
static __always_inline void copy_bundle(struct bundle *to, const struct bundle *from)
{
	to->n = 0;
	add_keys(to, from);
}

/* A key that a task has. */
struct had {
	struct going key;
	__u64 since;
	struct spent spent;  /* by then */
};

struct holder {
	__u32 task;
	__u16 connection, way;
};

struct holding {
	struct holder holder;
	__u32 taken; /* which places of `keys` are: mostly one or two, which spares a look at the others */
	__u32 next;  /* the place that is taken next if all are */
	__u64 used;  /* when it last got a key */
	struct had keys[MOST_KEYS];
};

#define HOLDINGS 16384

/* Each at one of two places that its holder gives; where there is no room the one stays that was used last. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HOLDINGS);
	__type(key, __u32);
	__type(value, struct holding);
} held SEC(".maps");

/* Too large for the stack. Interrupts have their own. */
struct scratch {
	struct bundle bundle;
	struct spent spent;
	__u32 sink; /* to what keys are passed on that are collected with `PASSING` */
};

static __always_inline bool is_of(const struct holding *holding, __u32 task, __u32 connection, __u32 way)
{
	return holding->holder.task == task && holding->holder.connection == connection && holding->holder.way == way;
}

static __always_inline struct holding *holding_at(__u32 task, __u32 connection, __u32 way, __u32 second)
{
	__u32 at = ((task * 2654435761U ^ (connection << 1 | way) * 2246822519U) >> 16 & (HOLDINGS - 1)) ^ second;

	return bpf_map_lookup_elem(&held, &at);
}

/* What a task holds of a connection; 0 if nothing. */
static __always_inline struct holding *find_holding(__u32 task, __u32 connection, __u32 way)
{
	struct holding *holding = holding_at(task, connection, way, 0);

	if (holding && is_of(holding, task, connection, way))
		return holding;
	holding = holding_at(task, connection, way, 1);
	return holding && is_of(holding, task, connection, way) ? holding : 0;
}

/* The same, made if there is none. */
static __always_inline struct holding *make_holding(__u32 task, __u32 connection, __u32 way)
{
	struct holding *holding = find_holding(task, connection, way);

	if (holding)
		return holding;
	struct holding *first = holding_at(task, connection, way, 0), *second = holding_at(task, connection, way, 1);

	if (!first || !second)
		return 0;
	holding = first->used <= second->used ? first : second;
	holding->holder.task = task;
	holding->holder.connection = connection;
	holding->holder.way = way;
	holding->taken = 0;
	return holding;
}

static __always_inline bool is_taken(const struct holding *holding, __u32 at)
{
	return holding->taken >> at & 1;
}

/* Takes a free place for a key; if there is none, one after another. */
static __always_inline struct had *take_place(struct holding *holding)
{
	for (__u32 at = 0; at < MOST_KEYS; at++)
		if (!is_taken(holding, at)) {
			__sync_fetch_and_or(&holding->taken, 1 << at);
			return &holding->keys[at];
		}
	return &holding->keys[holding->next++ % MOST_KEYS];
}

static __always_inline void free_place(struct holding *holding, __u32 at)
{
	__sync_fetch_and_and(&holding->taken, ~(1 << at));
}

static __always_inline struct visit *visit_at(__u32 id)
{
	__u32 at = id % VISITS;
	struct visit *visit = id ? bpf_map_lookup_elem(&visits, &at) : 0;

	return visit && visit->id == id ? visit : 0;
}

/* A visit of no time so far; 0 if there is none. */
static __always_inline struct visit *add_visit(__u32 parent, __u64 now)
{
	__u32 id = __sync_fetch_and_add(&last_visit, 1) + 1;
	__u32 at = id % VISITS;
	struct visit *visit = id ? bpf_map_lookup_elem(&visits, &at) : 0;

	if (!visit)
		return 0;
	__builtin_memset(visit, 0, sizeof(*visit));
	visit->id = id;
	visit->parent = parent;
	visit->ended = now;
	return visit;
}

static __always_inline void name_visit(struct visit *visit, struct task *task)
{
	visit->task = task->self;
	visit->rival = task->rival;
	visit->waker = task->waker;
	visit->call = task->call;
	visit->why = task->unseen ? UNSEEN : task->throttled ? QUOTA : 0;
}

/* Adds a visit that all keys of a bundle had together: `ns` of a kind, at a task if there is one. */
static __always_inline void add_visits(struct bundle *bundle, __u32 kind, __u64 ns, struct task *task, __u64 now)
{
	for (int each = 0; each < MOST_KEYS; each++) {
		if (each >= bundle->n)
			break;
		struct visit *visit = add_visit(bundle->keys[each].visit, now);

		if (!visit)
			continue;
		visit->ns[kind] = ns;
		if (task)
			name_visit(visit, task);
		bundle->keys[each].visit = visit->id;
	}
}

/* Splits its CPU time: until it last did something for another connection, that was for others' keys. */
static __always_inline void split_cpu(struct visit *visit, struct task *task, struct had *had, __u64 connection)
{
	__u64 until = task->doing == connection ? task->others_cpu : task->doing_cpu;
	__u64 before = had->spent.ns[ON_CPU];
	__u64 others = until > before ? until - before : 0;

	if (others > visit->ns[ON_CPU])
		others = visit->ns[ON_CPU];
	visit->ns[ON_CPU] -= others;
	visit->ns[OTHERS_KEYS] = others;
}

/* `collect` and `give` are not static, as `spent_between`.
 *
 * Fetches the keys that a task has of a connection, each with its visit there, into `scratch->bundle`. Says whether there are any.
 * `way` may be with `PASSING`: to a terminal or over a connection; and with `BACK`: towards where the keys came from. What was passed
 * on there before is not fetched again, but for answers: these may come in pieces. */
__noinline int collect(struct scratch *scratch, __u32 number, __u32 connection, __u32 way, __u64 now)
{
	bool passes = way & PASSING, back = way & BACK;

	if (!scratch)
		return false;
	way &= 1;
	struct holding *holding = find_holding(number, connection, way);
	struct task *task = task_at(number);
	struct connection *line = connection_at(connection);
	struct bundle *bundle = &scratch->bundle;
	bool has_any = false;
	__u32 n = 0;

	bundle->connection = connection;
	bundle->way = way;
	bundle->n = 0;
	if (!holding || !task || !line)
		return false;
	read_spent(task, &scratch->spent);
	for (int at = 0; at < MOST_KEYS; at++) {
		if (!is_taken(holding, at))
			continue;
		struct had *had = &holding->keys[at];

		if (is_over(line, had->key.to, had->key.turn)) {
			free_place(holding, at);
			continue;
		}
		has_any = true;
		if (passes && !back && way == KEYS && had->key.sink == scratch->sink)
			continue;
		struct visit *visit = add_visit(had->key.visit, now);

		if (!visit)
			continue;
		spent_between(&had->spent, had->since, &scratch->spent, now, (struct amounts *)visit->ns);
		name_visit(visit, task);
		split_cpu(visit, task, had, connection);
		struct going *going = &bundle->keys[n++ % MOST_KEYS];

		*going = had->key;
		going->visit = visit->id;
		if (passes) {
			if (back && (going->sink ? going->sink != scratch->sink : way == KEYS && task->strayed > had->since))
				going->guess = true;
			had->key.sink = scratch->sink;
		}
	}
	bundle->n = n;
	return has_any;
}

static __always_inline void put(struct had *had, struct going *key, struct spent *spent, __u64 now)
{
	had->key = *key;
	had->key.sink = 0;
	had->since = now;
	had->spent = *spent;
}

/* Whether a task has a key anew that it had already, instead of as it came first: if it `slept` until now it was this one that it waited
 * for. What it has passed on does not come again on the way to the program, and answers that come after one that it has passed on
 * are others. */
static __always_inline bool is_renewed(const struct had *had, __u32 way, bool slept)
{
	return way == KEYS ? slept && !had->key.sink : slept || had->key.sink;
}

/* Gives keys to a task, which may have `slept` until now. */
__noinline int give(struct scratch *scratch, struct bundle *bundle, __u32 number, bool slept, __u64 now)
{
	if (!scratch || !bundle)
		return 0;
	struct task *task = task_at(number);
	struct holding *holding = make_holding(number, bundle->connection, bundle->way);

	if (!task || !holding)
		return 0;
	holding->used = now;
	read_spent(task, &scratch->spent);
	for (int each = 0; each < MOST_KEYS; each++) {
		if (each >= bundle->n)
			break;
		struct going *key = &bundle->keys[each];
		bool known = false;

		for (int at = 0; at < MOST_KEYS; at++) {
			struct had *had = &holding->keys[at];

			if (is_taken(holding, at) && had->key.begun == key->begun && had->key.to == key->to) {
				known = true;
				if (is_renewed(had, bundle->way, slept))
					put(had, key, &scratch->spent, now);
			}
		}
		if (!known)
			put(take_place(holding), key, &scratch->spent, now);
	}
	if (slept)
		add_read(&task->reads, bundle->connection << 1 | bundle->way, task->renames);
	if (slept || !task->now) /* what is awake works for what it has read last */
		task->now = bundle->connection << 1 | bundle->way;
	return 0;
}
