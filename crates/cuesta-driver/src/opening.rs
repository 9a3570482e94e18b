//! The phases of opening a line, counted once in a session: when its first key is sent, or at its end if none was sent. Not
//! sooner, because a host may still negotiate options after the line is open.

use cuesta_lines::{LoginParts, Opening};
use cuesta_record::{Stamp, WaitSeries};

/// The names of the phases, in their order.
pub(crate) const PHASES: [&str; 7] = ["prepare", "connect", "tls", "upgrade", "negotiation", "login", "session"];

/// The names of the parts of an ssh line's opening, from its connection on, in their order, and at last the wait for the first character
/// of any line. The first two are parts of `negotiation`, the others but the last of `login`.
pub(crate) const PARTS: [&str; 8] =
    ["banner", "key_exchange", "methods", "authentication", "channel", "pty", "shell", "first_output"];

/// The ends of the [`PARTS`] but the last.
fn part_ends(opening: Opening, login: LoginParts) -> [Option<Stamp>; PARTS.len() - 1] {
    let LoginParts { greeted, answered, authenticated, admitted, terminal } = login;
    [greeted, opening.negotiated, answered, authenticated, admitted, terminal, opening.logged_in]
}

/// The numbers of the series of a group's lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineSeries {
    /// Of each of the [`PHASES`].
    pub(crate) phases: [WaitSeries; PHASES.len()],
    /// Of each of the [`PARTS`].
    pub(crate) parts: [WaitSeries; PARTS.len()],
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
        series: &LineSeries,
    ) -> impl Iterator<Item = (WaitSeries, (Stamp, Stamp))> + use<> {
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

impl LineSeries {
    /// The parts of an ssh line's opening that have ended; `first` is when its first character came, on any line.
    pub(crate) fn ended_parts(
        &self,
        (opening, login): (Opening, LoginParts),
        open: Stamp,
        first: Option<Stamp>,
    ) -> impl Iterator<Item = (WaitSeries, (Stamp, Stamp))> + use<> {
        let [.., first_output] = self.parts;
        let first = first.map(|first| (first_output, (open, first.max(open))));
        let mut since = login.greeted.and(opening.connected);
        let ends = self.parts.into_iter().zip(part_ends(opening, login));
        let ended = ends.map_while(move |(series, end)| Some((series, (since.replace(end?)?, end?))));
        ended.chain(first)
    }

    /// The part in which an opening failed, and since when it went on. None if the line was not connected, or is of another kind.
    pub(crate) fn failed_part(&self, (opening, login): (Opening, LoginParts)) -> Option<(WaitSeries, Stamp)> {
        let ends = part_ends(opening, login);
        let failed = ends.iter().position(Option::is_none)?;
        let since = if failed == 0 { opening.connected } else { ends[failed - 1] };
        Some((self.parts[failed], since?))
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
        let series = series(&mut series_names);
        name(Opened { scheduled: at(100), begun: at(101), at: at(190) }.phases(opening, &series), &series_names)
    }

    fn series(series_names: &mut SeriesNames) -> LineSeries {
        let mut named = |figure: &str| series_names.wait_series("g", SeriesNames::LINE, figure);
        let (phases, parts) = (PHASES.map(&mut named), PARTS.map(&mut named));
        LineSeries { phases, parts, last: phases[0] }
    }

    fn name(
        waits: impl Iterator<Item = (WaitSeries, (Stamp, Stamp))>,
        series_names: &SeriesNames,
    ) -> Vec<(String, u128)> {
        let named = waits.map(|(series, (from, to))| {
            let tag = &series_names.tags()[series.ended(WaitEnd::Answered).number() as usize];
            (tag.clone(), to.since(from).as_millis())
        });
        named.collect()
    }

    #[test]
    fn the_parts_of_a_login_follow_each_other_and_it_fails_in_the_next() {
        let mut series_names = SeriesNames::default();
        let series = series(&mut series_names);
        let opening = Opening { connected: Some(at(100)), negotiated: Some(at(103)), ..Opening::default() };
        let progress =
            (opening, LoginParts { greeted: Some(at(101)), answered: Some(at(107)), ..LoginParts::default() });
        let first_output = Some(at(195));
        let parts = name(series.ended_parts(progress, at(190), first_output), &series_names);
        let expected = [("banner", 1), ("key_exchange", 2), ("methods", 4), ("first_output", 5)];
        assert_eq!(parts, expected.map(|(part, ms)| (format!("g/line/{part}"), ms)));
        let failed = series.failed_part(progress).map(|(series, since)| (series, (since, at(120))));
        assert_eq!(name(failed.into_iter(), &series_names), [("g/line/authentication".to_owned(), 13)]);
        assert_eq!(series.failed_part(Default::default()).map(|failed| failed.1), None);
    }

    #[test]
    fn a_line_of_another_kind_has_only_the_part_that_all_have() {
        let mut series_names = SeriesNames::default();
        let series = series(&mut series_names);
        let opening = Opening { connected: Some(at(100)), negotiated: Some(at(103)), ..Opening::default() };
        let parts = name(series.ended_parts((opening, LoginParts::default()), at(190), Some(at(150))), &series_names);
        assert_eq!(parts, [("g/line/first_output".to_owned(), 0)]);
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
