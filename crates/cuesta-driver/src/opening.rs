//! The phases of opening a line, counted once in a session: when its first key is sent, or at its end if none was sent. Not
//! sooner, because a host may still negotiate options after the line is open.

use cuesta_lines::Opening;
use cuesta_record::{Stamp, WaitSeries};

/// The names of the phases, in their order.
pub(crate) const PHASES: [&str; 7] = ["prepare", "connect", "tls", "upgrade", "negotiation", "login", "session"];

/// The numbers of the series of a group's lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineSeries {
    /// Of each of the [`PHASES`].
    pub(crate) phases: [WaitSeries; PHASES.len()],
    /// The series of the last phase that such lines have: a failed opening is counted there.
    pub(crate) last: WaitSeries,
}

/// The opening of one line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opened {
    /// When the user was due to open it.
    pub(crate) scheduled: Stamp,
    /// When that was begun.
    pub(crate) begun: Stamp,
    /// When the line could be used.
    pub(crate) at: Stamp,
}

impl Opened {
    /// The phases that the line had, each from the end of the one before.
    pub(crate) fn phases(
        self,
        opening: Opening,
        series: LineSeries,
    ) -> impl Iterator<Item = (WaitSeries, (Stamp, Stamp))> {
        let mut since = self.scheduled;
        let ends = [
            opening.prepared,
            Some(opening.connected.unwrap_or(self.at)),
            opening.secured,
            opening.upgraded,
            opening.negotiated,
            opening.logged_in,
            opening.ready,
        ];
        series.phases.into_iter().zip(ends).filter_map(move |(series, end)| {
            let end = end?;
            Some((series, (std::mem::replace(&mut since, end), end)))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cuesta_record::{SeriesNames, WaitEnd};

    use super::*;

    fn at(ms: u64) -> Stamp {
        Stamp::ZERO + Duration::from_millis(ms)
    }

    /// The phases, in ms, of a line that was due at 100 ms and open at 190 ms.
    fn phases(opening: Opening) -> Vec<(String, u128)> {
        let mut series_names = SeriesNames::default();
        let phases = PHASES.map(|figure| series_names.wait_series("g", SeriesNames::LINE, figure));
        let series = LineSeries { phases, last: phases[0] };
        let phases: Vec<_> =
            Opened { scheduled: at(100), begun: at(101), at: at(190) }.phases(opening, series).collect();
        let named = phases.iter().map(|(series, (from, to))| {
            let tag = &series_names.tags()[series.ended(WaitEnd::Answered).number() as usize];
            (tag.clone(), to.since(*from).as_millis())
        });
        named.collect()
    }

    #[test]
    fn each_phase_lasts_from_the_end_of_the_one_before() {
        let opening = Opening {
            prepared: Some(at(110)),
            connected: Some(at(130)),
            secured: Some(at(135)),
            upgraded: Some(at(140)),
            negotiated: Some(at(150)),
            logged_in: Some(at(190)),
            ready: Some(at(200)),
        };
        let durations = PHASES.into_iter().zip([10, 20, 5, 5, 10, 40, 10]);
        let all: Vec<_> = durations.map(|(phase, ms)| (format!("g/line/{phase}"), ms)).collect();
        assert_eq!(phases(opening), all);
    }

    #[test]
    fn a_phase_that_a_line_does_not_have_is_absent() {
        assert_eq!(phases(Opening::default()), [("g/line/connect".to_owned(), 90)]);
        let opening = Opening { connected: Some(at(130)), logged_in: Some(at(180)), ..Opening::default() };
        assert_eq!(phases(opening)[1], ("g/line/login".to_owned(), 50));
    }
}
