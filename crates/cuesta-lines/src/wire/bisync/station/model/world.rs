//! Two stations, the line between them, and what must hold of both.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};
use std::time::Duration;

use cuesta_record::Stamp;
use foldhash::quality::FixedState;

use super::{Mutation, Setting};
use crate::wire::bisync::blocks::{Control, Format};
use crate::wire::bisync::station::receiving::Last;
use crate::wire::bisync::station::{Event, Role, State, Station, Timer};
use crate::wire::bisync::{Code, Counters, Framing, Profile};

/// Where every state's clock stands.
const NOW: Stamp = Stamp::from_nanos(1_000_000_000_000_000);
/// On a line, in EBCDIC.
const ENQ: [u8; 5] = [0xaa, 0x32, 0x32, 0x2d, 0xff];
pub(super) const DRIFT: Duration = Duration::from_millis(50);

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
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
pub(super) enum Action {
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

impl World {
    pub(super) fn new(setting: &Setting) -> Self {
        let station = |role| {
            let mut station =
                Station::new(Profile::default(), role, Code::Ebcdic, setting.framing).expect("is consistent");
            // Past the check: a model shows what the check prevents.
            station.profile = setting.profile.clone();
            station.profile.conversational = setting.conversational[usize::from(role == Role::Secondary)];
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

    pub(super) fn actions(&self, setting: &Setting) -> Vec<Action> {
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
            } else if self.full > 0 && takes_text(&self.stations[at]) {
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
    pub(super) fn apply(&self, action: Action, setting: &Setting) -> Result<Self, String> {
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
        for at in 0..2 {
            let replied = matches!(&self.stations[at].state, State::Sending(sending) if sending.is_reply());
            let withdrawn = replied && matches!(next.stations[at].state, State::Receiving(_));
            if withdrawn && setting.mutation == Mutation::LeavesWithReply {
                next.stations[at].state = State::Control;
                next.stations[at].timer = Timer::Off;
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
        if let (Mutation::TakesReplyTwice, State::Receiving(receiving)) =
            (setting.mutation, &mut self.stations[at].state)
        {
            receiving.last = Last::Bid;
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
            let replies = matches!(&station.state, State::Sending(sending) if sending.is_reply());
            let output = station.output().to_vec();
            station.sent(NOW, output.len());
            station.counters = Counters::default();
            let to = 1 - at;
            for mut unit in units(&output, setting.framing) {
                if setting.mutation == Mutation::AsksAboutReply && replies && unit == self.last_block[to] {
                    unit = ENQ.to_vec();
                }
                if is_block(&unit) {
                    self.last_block[to].clone_from(&unit);
                }
                let repeats = setting.mutation == Mutation::RepeatsUnasked && sending && unit == ENQ;
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
                    let number = setting.messages[other].iter().position(|message| *message == whole);
                    let number = number.ok_or_else(|| format!("received {whole:x?}, which was never sent"))?;
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
    pub(super) fn check_end(&self, setting: &Setting) -> Result<(), String> {
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

    pub(super) fn has_reply(&self) -> bool {
        self.stations.iter().any(|station| matches!(&station.state, State::Sending(sending) if sending.is_reply()))
    }

    pub(super) fn key(&self) -> u64 {
        FixedState::default().hash_one(self)
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

/// Whether a block may come.
fn takes_text(station: &Station) -> bool {
    match station.state {
        State::Receiving(_) => true,
        State::Sending(_) => station.profile.conversational,
        _ => false,
    }
}
