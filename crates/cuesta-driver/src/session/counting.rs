//! Counts what the line has done: its opening, its traffic, its station.

use cuesta_lines::{BisyncTotals, Traffic, Transcript};
use cuesta_record::{Failure, Stamp, WaitEnd};

use super::Session;
use crate::opening::Opened;

#[derive(Debug)]
pub(super) struct Counted {
    /// `None` once the opening is counted.
    pub(super) opened: Option<Opened>,
    /// When the first character came.
    pub(super) first_output: Option<Stamp>,
    traffic: Traffic,
    /// Bytes that were no character.
    undecoded: u64,
    /// What the line's bisync station has carried, if it has one.
    pub(super) bisync: Option<Box<BisyncTotals>>,
}

impl Counted {
    pub(super) fn new(opened: Opened, has_station: bool) -> Self {
        let bisync = has_station.then(Box::default);
        Self { opened: Some(opened), first_output: None, traffic: Traffic::default(), undecoded: 0, bisync }
    }
}

impl Session {
    /// Counts the phases of the line's opening, once and as late as possible, because a host may still negotiate options.
    pub(super) fn count_opening(&mut self) {
        let Some(opened) = self.counted.opened.take() else { return };
        let (opening, series) = (self.line.opening(), &self.shared.groups[self.group].series.line);
        let parts = series.ended_parts((opening, self.line.login_parts()), opened.at, self.counted.first_output);
        for (series, times) in opened.phases(opening, series).chain(parts) {
            self.shared.record_wait(series, WaitEnd::Answered, times);
        }
    }

    /// Counts the traffic since the last call.
    pub(super) fn count_traffic(&mut self) {
        let (traffic, undecoded) = (self.line.traffic(), self.line.transcript().map_or(0, Transcript::undecoded));
        self.shared.tally(|tally| {
            tally.counts.characters.line_in += traffic.sent - self.counted.traffic.sent;
            tally.counts.characters.line_out += traffic.received - self.counted.traffic.received;
            tally.counts.undecoded += undecoded - self.counted.undecoded;
        });
        (self.counted.traffic, self.counted.undecoded) = (traffic, undecoded);
        if self.counted.bisync.is_some() {
            self.count_bisync();
        }
    }

    /// Counts what the line's station has done since the last call.
    fn count_bisync(&mut self) {
        let (Some(station), Some(counted)) = (self.line.station(), &mut self.counted.bisync) else { return };
        let totals = station.totals();
        let growth = totals.since(&std::mem::replace(&mut **counted, totals));
        self.shared.user(self.slot, |user| user.count_bisync(&growth));
        self.shared.tally(|tally| {
            tally.counts.count_failures(Failure::NotDelivered, growth.not_delivered);
            tally.counts.count_failures(Failure::InDoubt, growth.in_doubt);
        });
    }
}
