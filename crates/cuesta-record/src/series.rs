//! The names of the series of durations, and their numbers.

use std::fmt::Write;

/// The names of all series of a run, in the order of their numbers.
#[derive(Debug, Clone, Default)]
pub struct SeriesNames {
    tags: Vec<String>,
    sources: Vec<[String; 2]>,
}

/// The number of one series of durations: one histogram in each interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesId(u32);

impl SeriesId {
    /// Its index in [`SeriesNames::tags`].
    pub fn number(self) -> u32 {
        self.0
    }
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitEnd {
    /// What was waited for came.
    Answered,
    /// The user gave up: it may have come later.
    TimedOut,
    /// It will never come: the line was lost, or something later came in its place.
    Lost,
    /// The measurement ended first.
    Unfinished,
}

/// The series of a wait: one for each [`WaitEnd`], and one for the ages that waits had when the measurement began in which they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitSeries {
    answered: SeriesId,
    timed_out: SeriesId,
    lost: SeriesId,
    unfinished: SeriesId,
    begun_before: SeriesId,
}

impl WaitSeries {
    /// The series of waits that ended so.
    pub fn of(self, end: WaitEnd) -> SeriesId {
        match end {
            WaitEnd::Answered => self.answered,
            WaitEnd::TimedOut => self.timed_out,
            WaitEnd::Lost => self.lost,
            WaitEnd::Unfinished => self.unfinished,
        }
    }

    /// The series of the ages at the begin of a measurement.
    pub fn begun_before(self) -> SeriesId {
        self.begun_before
    }
}

impl SeriesNames {
    /// The source of the times of a group's keystrokes. This and the next two are no transactions: readers tell them apart by
    /// these words (`KEYS`, `LINE` and `STAMPED` in `python/cuesta/analysis/step.py`), so a change here needs one there.
    pub const KEYS: &str = "keys";
    /// The source of the times of opening a group's lines.
    pub const LINE: &str = "line";
    /// The source of response times by the kernel's stamps, and by the driver's beside them.
    pub const STAMPED: &str = "stamped";

    /// The id of that series; a new one if the name is new. `source`: where its times come from, a transaction or one of
    /// [`Self::KEYS`], [`Self::LINE`] and [`Self::STAMPED`].
    ///
    /// # Panics
    /// If there are more than 2³² series. A plan cannot name as many.
    pub fn series(&mut self, group: &str, source: &str, series: &str) -> SeriesId {
        let tag = [group, source, series].map(escape).join("/");
        let number = self.tags.iter().position(|known| *known == tag).unwrap_or_else(|| {
            self.tags.push(tag);
            self.sources.push([group, source].map(str::to_owned));
            self.tags.len() - 1
        });
        SeriesId(u32::try_from(number).expect("a plan names fewer series"))
    }

    /// The ids of the series of a wait. The series of those that were answered has the name of the figure; the names of the others
    /// end in how the wait ended (`ENDS` in `python/cuesta/analysis/waits.py`).
    pub fn wait_series(&mut self, group: &str, source: &str, figure: &str) -> WaitSeries {
        let mut of = |end: &str| self.series(group, source, &format!("{figure}{end}"));
        WaitSeries {
            answered: of(""),
            timed_out: of("_timed_out"),
            lost: of("_lost"),
            unfinished: of("_unfinished"),
            begun_before: of("_begun_before"),
        }
    }

    /// The name of each series: `GROUP/SOURCE/SERIES`, each part percent-encoded where a log's tag forbids a character.
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// The group and the source of each series, as the plan and the tape name them.
    pub fn sources(&self) -> &[[String; 2]] {
        &self.sources
    }
}

/// Percent-encodes characters that would end a tag or a part of one.
fn escape(name: &str) -> String {
    let mut escaped = String::new();
    for c in name.chars() {
        if matches!(c, '%' | ',' | '/') || c.is_whitespace() || c.is_control() {
            for byte in c.to_string().bytes() {
                let _ = write!(escaped, "%{byte:02X}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_tag_forbids_are_encoded() {
        let mut series_names = SeriesNames::default();
        let first = series_names.series("night shift", "50%,a/b", "response");
        assert_eq!(series_names.tags(), ["night%20shift/50%25%2Ca%2Fb/response"]);
        assert_eq!(series_names.series("night shift", "50%,a/b", "response"), first);
        assert_ne!(series_names.series("night shift", "", "response"), first);
    }
}
