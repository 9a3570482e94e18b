//! Explores every interleaving of two stations over a line that loses and damages units, or over one that delays them.
//!
//! A unit arrives before any timer ends, unless answers may be late; so time passes only while the line is empty. Timers that end
//! within [`world::DRIFT`] of each other end in either order. States that differ only by the instant are one.

mod conversational;
mod world;

use std::collections::hash_map::Entry;
use std::time::Duration;

use foldhash::HashMap;

use self::world::{Action, World};
use crate::wire::bisync::{Framing, Profile};

/// How the machine is broken, to see that the model notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mutation {
    None,
    /// The last block is sent again in place of each ENQ that asks for its answer.
    RepeatsUnasked,
    /// Every ACK acknowledges the block, whatever its number.
    IgnoresNumbers,
    /// The other station waits for a block much longer than the primary believes.
    BidsTooSoon,
    /// A station asks for the answer to its reply with ENQ, in place of the same text.
    AsksAboutReply,
    /// A reply sent again is taken for the next block.
    TakesReplyTwice,
    /// A station that withdraws its reply returns to control mode.
    LeavesWithReply,
}

/// What is explored.
#[derive(Clone)]
struct Setting {
    profile: Profile,
    framing: Framing,
    /// Which station may reply with text.
    conversational: [bool; 2],
    /// What each station sends.
    messages: [&'static [&'static [u8]]; 2],
    /// Whether the last character of each message is offered apart.
    in_parts: bool,
    /// Units that may be lost or damaged.
    faults: u8,
    /// Times that an answer may be late: that a reply timeout ends before units arrive which are on their way.
    late: u8,
    /// Times that a station may have no room for a block.
    full: u8,
    /// Whether all must be delivered: the limits are above the number of faults.
    must_deliver: bool,
    mutation: Mutation,
}

#[derive(Debug)]
struct Explored {
    states: usize,
    /// States in which a reply waits for its answer.
    replies: usize,
    transitions: usize,
    ends: usize,
}

/// A state on the path that is being explored.
struct Step {
    world: World,
    key: u64,
    actions: Vec<Action>,
    next: usize,
}

impl Step {
    fn new(world: World, setting: &Setting) -> Self {
        Self { key: world.key(), actions: world.actions(setting), world, next: 0 }
    }
}

/// Explores depth first all that can happen. An error tells the path to it. A state that comes again on its own path would be a
/// transmission without end.
fn explore(setting: &Setting) -> Result<Explored, String> {
    let mut explored = Explored { states: 1, replies: 0, transitions: 0, ends: 0 };
    let mut path = vec![Step::new(World::new(setting), setting)];
    // Whether all that follows is explored; it is not for the states of the path.
    let mut complete = HashMap::from_iter([(path[0].key, false)]);
    while let Some(step) = path.last_mut() {
        let Some(action) = step.actions.get(step.next).copied() else {
            complete.insert(step.key, true);
            path.pop();
            continue;
        };
        step.next += 1;
        explored.transitions += 1;
        let outcome = step.world.apply(action, setting).and_then(|world| {
            let next = Step::new(world, setting);
            if next.actions.is_empty() {
                explored.ends += 1;
                next.world.check_end(setting)?;
            }
            Ok(next)
        });
        let problem = match outcome {
            Err(problem) => problem,
            Ok(next) => match complete.entry(next.key) {
                Entry::Occupied(entry) if *entry.get() => continue,
                Entry::Occupied(_) => "this has no end".into(),
                Entry::Vacant(entry) => {
                    entry.insert(false);
                    explored.states += 1;
                    explored.replies += usize::from(next.world.has_reply());
                    path.push(next);
                    continue;
                }
            },
        };
        let path: Vec<_> = path.iter().map(|step| format!("{:?}", step.actions[step.next - 1])).collect();
        return Err(format!("{problem}\nafter {}", path.join(", ")));
    }
    Ok(explored)
}

/// Blocks of two characters; limits that six faults do not reach.
fn setting() -> Setting {
    let profile = Profile {
        enq_limit: 7,
        nak_limit: 7,
        wack_limit: 2,
        ttd_limit: 1,
        block_wait: Duration::from_millis(27_500),
        block_size: 2,
        ..Profile::default()
    };
    Setting {
        profile,
        framing: Framing::Line,
        conversational: [false; 2],
        messages: [&[b"abcde", b"f"], &[b"g", b"hij"]],
        in_parts: false,
        faults: 6,
        late: 0,
        full: 0,
        must_deliver: true,
        mutation: Mutation::None,
    }
}

/// Limits that the faults exceed.
fn limits(limit: u32) -> Setting {
    let Setting { profile, .. } = setting();
    let block_wait = Profile::default().block_wait;
    let profile = Profile { enq_limit: limit, nak_limit: limit, block_wait, ..profile };
    Setting { profile, must_deliver: false, ..setting() }
}

#[track_caller]
fn assert_holds(setting: &Setting, least: usize) -> Explored {
    setting.profile.check().expect("is consistent");
    match explore(setting) {
        Ok(explored) => {
            println!("{explored:?}");
            assert!(explored.states >= least && explored.ends > 0, "{explored:?}");
            explored
        }
        Err(problem) => panic!("{problem}"),
    }
}

#[track_caller]
fn assert_fails(setting: &Setting, expected: &str) {
    let problem = explore(setting).expect_err("the machine is broken");
    println!("{problem}");
    assert!(problem.contains(expected), "{problem}");
}

#[test]
fn six_faults_within_the_limits_lose_nothing_and_double_nothing() {
    assert_holds(&setting(), 100_000);
}

#[test]
fn six_faults_beyond_the_default_limits_are_reported() {
    assert_holds(&limits(3), 100_000);
}

#[test]
fn six_faults_beyond_lower_limits_are_reported() {
    assert_holds(&limits(1), 50_000);
    assert_holds(&limits(0), 50_000);
}

#[test]
fn a_station_without_room_loses_nothing() {
    assert_holds(&Setting { faults: 3, full: 1, ..limits(3) }, 100_000);
}

#[test]
fn a_message_in_parts_is_whole_or_reported() {
    assert_holds(&Setting { faults: 3, in_parts: true, ..limits(1) }, 50_000);
}

#[test]
fn late_answers_over_tcp_lose_nothing_and_double_nothing() {
    assert_holds(&Setting { framing: Framing::Hercules, faults: 0, late: 6, ..limits(3) }, 100_000);
    assert_holds(&Setting { framing: Framing::Hercules, faults: 0, late: 2, full: 1, ..limits(3) }, 50_000);
}

#[test]
fn a_block_sent_again_without_a_question_is_doubled() {
    assert_fails(&Setting { faults: 1, mutation: Mutation::RepeatsUnasked, ..setting() }, "which was never sent");
}

#[test]
fn an_ack_without_its_number_loses_a_block() {
    assert_fails(&Setting { faults: 1, mutation: Mutation::IgnoresNumbers, ..setting() }, "is lost");
}

#[test]
fn a_block_wait_that_the_profile_refuses_loses_a_block() {
    let mut short = setting();
    short.profile.block_wait = Duration::from_secs(10);
    assert!(short.profile.check().is_err());
    assert_fails(&short, "is lost");
}

/// The time that a sender waits after WACK counts too.
#[test]
fn a_block_wait_that_ends_soon_after_a_wack_doubles_a_block() {
    let mut long = Setting { faults: 4, full: 1, ..limits(3) };
    long.profile.wack_pause = Duration::from_secs(15);
    assert!(long.profile.check().is_err());
    assert_fails(&long, "again, or out of order");
}

/// A sender that bids again before the other station has stopped waiting for a block: its next message is appended to a part.
#[test]
fn a_bid_soon_after_giving_up_joins_two_messages() {
    assert_fails(&Setting { faults: 2, mutation: Mutation::BidsTooSoon, ..limits(0) }, "which was never sent");
}

/// What the docstring of the procedure excludes.
#[test]
fn late_answers_on_a_line_double_a_block() {
    assert_fails(&Setting { faults: 0, late: 2, ..limits(3) }, "which was never sent");
}
