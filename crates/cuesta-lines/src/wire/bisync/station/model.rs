//! Explores every interleaving of two stations over a line that loses and damages units, or over one that delays them.
//!
//! A unit arrives before any timer ends, unless answers may be late; so time passes only while the line is empty. Timers that end
//! within [`DRIFT`] of each other end in either order. States that differ only by the instant are one.

use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::time::Duration;

use cuesta_record::Stamp;

use super::{Control, Event, Role, State, Station, Timer};
use crate::wire::bisync::blocks::Format;
use crate::wire::bisync::{Code, Counters, Framing, Profile};

/// Where every state's clock stands.
const NOW: Stamp = Stamp::from_nanos(1_000_000_000_000_000);
const DRIFT: Duration = Duration::from_millis(50);

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
}

/// What is explored.
#[derive(Clone)]
struct Setting {
    profile: Profile,
    framing: Framing,
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

#[derive(Clone, PartialEq, Eq, Hash)]
struct World {
    stations: [Station; 2],
    /// Units on their way to each station.
    lines: [VecDeque<Vec<u8>>; 2],
    /// The last block that was sent to each station, for a mutation.
    last_block: [Vec<u8>; 2],
    /// Halves of messages offered by each station, and messages with an outcome.
    offered: [usize; 2],
    settled: [usize; 2],
    /// What each station has received of a message, and the messages it has received whole.
    partial: [Vec<u8>; 2],
    received: [Vec<usize>; 2],
    /// Messages reported as not delivered, by each station.
    refused: [Vec<usize>; 2],
    faults: u8,
    late: u8,
    full: u8,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Offer(usize),
    Deliver(usize),
    Lose(usize),
    /// One bit of the text is wrong, or a control sequence is not recognized.
    Damage(usize),
    /// The end of a block is missing.
    Cut(usize),
    Expire(usize),
    SetRoom(usize, bool),
}

#[derive(Debug)]
struct Explored {
    states: usize,
    transitions: usize,
    ends: usize,
}

impl World {
    fn new(setting: &Setting) -> Self {
        let station = |role| {
            let mut station =
                Station::new(Profile::default(), role, Code::Ebcdic, setting.framing).expect("is consistent");
            // Past the check: a model shows what the check prevents.
            station.profile = setting.profile.clone();
            if (setting.mutation, role) == (Mutation::BidsTooSoon, Role::Secondary) {
                station.profile.block_wait *= 3;
            }
            station
        };
        Self {
            stations: [station(Role::Primary), station(Role::Secondary)],
            lines: Default::default(),
            last_block: Default::default(),
            offered: [0; 2],
            settled: [0; 2],
            partial: Default::default(),
            received: Default::default(),
            refused: Default::default(),
            faults: setting.faults,
            late: setting.late,
            full: setting.full,
        }
    }

    fn actions(&self, setting: &Setting) -> Vec<Action> {
        let mut actions = Vec::new();
        for at in 0..2 {
            if self.offered[at] < 2 * setting.messages[at].len() {
                actions.push(Action::Offer(at));
            }
            if let Some(unit) = self.lines[at].front() {
                actions.push(Action::Deliver(at));
                if self.faults > 0 {
                    actions.extend([Action::Lose(at), Action::Damage(at)]);
                    if is_block(unit) {
                        actions.push(Action::Cut(at));
                    }
                }
            }
            if !self.stations[at].room {
                actions.push(Action::SetRoom(at, true));
            } else if self.full > 0 && matches!(self.stations[at].state, State::Receiving(_)) {
                actions.push(Action::SetRoom(at, false));
            }
        }
        let quiet = self.lines.iter().all(VecDeque::is_empty);
        let first = self.stations.iter().filter_map(Station::deadline).min();
        for at in 0..2 {
            let station = &self.stations[at];
            let waits_for_answer = matches!(station.state, State::Sending(_) | State::Bidding(_));
            let may_be_early = self.late > 0 && waits_for_answer;
            if let (Some(due), Some(first)) = (station.deadline(), first)
                && (quiet && due <= first + DRIFT || !quiet && may_be_early)
            {
                actions.push(Action::Expire(at));
            }
        }
        actions
    }

    /// The state after an action, or what is wrong with it.
    fn after(&self, action: Action, setting: &Setting) -> Result<Self, String> {
        let mut next = self.clone();
        match action {
            Action::Offer(at) => {
                let message = setting.messages[at][self.offered[at] / 2];
                let (head, tail) = message.split_at(message.len() - 1);
                let (part, last, halves) = match (setting.in_parts, self.offered[at] % 2) {
                    (false, _) => (message, true, 2),
                    (true, 0) => (head, false, 1),
                    (true, _) => (tail, true, 1),
                };
                next.offered[at] += halves;
                next.stations[at].offer(NOW, part, last).expect("there is room");
            }
            Action::Deliver(at) => next.deliver(at, setting, |_| ()),
            Action::Lose(at) => {
                next.lines[at].pop_front();
                next.faults -= 1;
            }
            Action::Damage(at) => {
                next.faults -= 1;
                next.deliver(at, setting, |unit| if is_block(unit) { unit[4] ^= 1 } else { unit[3] = 0x40 });
            }
            Action::Cut(at) => {
                next.faults -= 1;
                next.deliver(at, setting, |unit| unit.truncate(5));
            }
            Action::SetRoom(at, room) => {
                next.full -= u8::from(!room);
                next.stations[at].set_room(NOW, room);
            }
            Action::Expire(at) => {
                if !self.lines.iter().all(VecDeque::is_empty) {
                    next.late -= 1;
                }
                next.expire(at);
            }
        }
        next.settle(setting)?;
        Ok(next)
    }

    fn deliver(&mut self, at: usize, setting: &Setting, damage: impl Fn(&mut Vec<u8>)) {
        let Some(mut unit) = self.lines[at].pop_front() else { return };
        damage(&mut unit);
        if let (Mutation::IgnoresNumbers, State::Sending(sending)) = (setting.mutation, &self.stations[at].state) {
            let format = Format { code: Code::Ebcdic, framing: setting.framing };
            let mut sequences = [Vec::new(), Vec::new()];
            format.control(Control::Ack(false), &mut sequences[0]);
            format.control(Control::Ack(true), &mut sequences[1]);
            if sequences.contains(&unit) {
                unit.clone_from(&sequences[usize::from(sending.odd)]);
            }
        }
        self.stations[at].receive(NOW, &unit);
    }

    /// Lets time pass until the timer of a station ends. Timers of the other that have ended by then stay due.
    fn expire(&mut self, at: usize) {
        let due = self.stations[at].deadline().expect("a timer runs").max(NOW);
        self.stations[at].expire(due);
        let passed = due.since(NOW);
        for station in &mut self.stations {
            let back = |until: Stamp| (until - passed).max(NOW);
            if let Timer::Until(until) = station.timer {
                station.timer = Timer::Until(back(until));
            }
            station.text_until = station.text_until.map(back);
        }
    }

    /// Sends what is to be sent, and checks what happened.
    fn settle(&mut self, setting: &Setting) -> Result<(), String> {
        for at in 0..2 {
            let station = &mut self.stations[at];
            let sending = matches!(station.state, State::Sending(_));
            let output = station.output().to_vec();
            station.sent(NOW, output.len());
            station.counters = Counters::default();
            let to = 1 - at;
            for unit in units(&output, setting.framing) {
                if is_block(&unit) {
                    self.last_block[to].clone_from(&unit);
                }
                let repeats =
                    setting.mutation == Mutation::RepeatsUnasked && sending && unit == [0xaa, 0x32, 0x32, 0x2d, 0xff];
                self.lines[to].push_back(if repeats { self.last_block[to].clone() } else { unit });
            }
            if setting.mutation == Mutation::None {
                self.last_block[to].clear();
            }
            while let Some(event) = self.stations[at].take_event() {
                self.check(at, event, setting)?;
            }
        }
        Ok(())
    }

    fn check(&mut self, at: usize, event: Event, setting: &Setting) -> Result<(), String> {
        let other = 1 - at;
        let message = self.settled[at];
        match event {
            Event::Text { text, last, .. } => {
                self.partial[at].extend(text);
                if last {
                    let whole = std::mem::take(&mut self.partial[at]);
                    let found = setting.messages[other].iter().position(|message| *message == whole);
                    let number = found.ok_or_else(|| format!("received {whole:x?}, which was never sent"))?;
                    if self.received[at].last().is_some_and(|before| *before >= number) {
                        return Err(format!("received {number} again, or out of order"));
                    }
                    if self.refused[other].contains(&number) {
                        return Err(format!("received {number}, which was reported as not delivered"));
                    }
                    self.received[at].push(number);
                }
                return Ok(());
            }
            Event::Cut => {
                self.partial[at].clear();
                return Ok(());
            }
            Event::Disconnected => return Err("disconnected".into()),
            Event::Delivered if self.received[other].contains(&message) => {}
            Event::Delivered => return Err(format!("{message} was reported as delivered, and is lost")),
            _ if setting.must_deliver => return Err(format!("{message}: {event:?}, within the limits")),
            Event::NotDelivered(_) if self.received[other].contains(&message) => {
                return Err(format!("{message} was reported as not delivered, and was received"));
            }
            Event::NotDelivered(_) => self.refused[at].push(message),
            Event::InDoubt(_) => {}
        }
        self.settled[at] += 1;
        Ok(())
    }

    /// At the end, both stations are idle and every message has an outcome.
    fn check_end(&self, setting: &Setting) -> Result<(), String> {
        for at in 0..2 {
            if !self.stations[at].is_idle() {
                return Err(format!("{:?} waits for ever", self.stations[at].role));
            }
            if self.settled[at] != setting.messages[at].len() {
                return Err(format!("{} messages have an outcome", self.settled[at]));
            }
        }
        Ok(())
    }

    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

fn is_block(unit: &[u8]) -> bool {
    unit.len() > 6
}

/// What was sent, cut before each PAD. Over TCP a station sends one unit at a time, or EOT and a bid.
fn units(output: &[u8], framing: Framing) -> Vec<Vec<u8>> {
    if framing == Framing::Hercules {
        return output.strip_prefix(&[0x37]).map_or_else(
            || if output.is_empty() { vec![] } else { vec![output.to_vec()] },
            |rest| [&[0x37][..], rest].into_iter().filter(|unit| !unit.is_empty()).map(<[u8]>::to_vec).collect(),
        );
    }
    let starts: Vec<usize> = (0..output.len()).filter(|at| output[*at..].starts_with(&[0xaa, 0x32, 0x32])).collect();
    let ends = starts.iter().copied().skip(1).chain([output.len()]);
    starts.iter().zip(ends).map(|(start, end)| output[*start..end].to_vec()).collect()
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
    let mut explored = Explored { states: 1, transitions: 0, ends: 0 };
    let mut path = vec![Step::new(World::new(setting), setting)];
    // Whether all that follows is explored; it is not for the states of the path.
    let mut complete = HashMap::from([(path[0].key, false)]);
    while let Some(step) = path.last_mut() {
        let Some(action) = step.actions.get(step.next).copied() else {
            complete.insert(step.key, true);
            path.pop();
            continue;
        };
        step.next += 1;
        explored.transitions += 1;
        let outcome = step.world.after(action, setting).and_then(|world| {
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
fn assert_holds(setting: &Setting, least: usize) {
    setting.profile.check().expect("is consistent");
    match explore(setting) {
        Ok(explored) => {
            println!("{explored:?}");
            assert!(explored.states >= least && explored.ends > 0, "{explored:?}");
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
