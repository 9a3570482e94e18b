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

/// How a wait ended: a series of its own for each.
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
    /// No end: the wait was under way when the measurement began, and this is its age then.
    BegunBefore,
}

/// What the names of a wait's series end in, in the order of [`WaitEnd`]: that of answered waits is the figure's own.
const WAIT_ENDS: [&str; 5] = ["", "_timed_out", "_lost", "_unfinished", "_begun_before"];

/// The series of a wait: one for each [`WaitEnd`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitSeries([SeriesId; WAIT_ENDS.len()]);

impl WaitSeries {
    pub fn ended(self, end: WaitEnd) -> SeriesId {
        self.0[end as usize]
    }
}

/// The words of which tags are made, for their readers: the sources that are no transactions, by the names that code has for them, and
/// what the names of a wait's series end in.
pub fn tag_words() -> ([(&'static str, &'static str); 3], [&'static str; 5]) {
    let sources = [("KEYS", SeriesNames::KEYS), ("LINE", SeriesNames::LINE), ("STAMPED", SeriesNames::STAMPED)];
    (sources, WAIT_ENDS)
}

impl SeriesNames {
    /// The source of the times of a group's keystrokes. This and the next two are no transactions.
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

    /// The ids of the series of a wait.
    pub fn wait_series(&mut self, group: &str, source: &str, figure: &str) -> WaitSeries {
        WaitSeries(WAIT_ENDS.map(|end| self.series(group, source, &format!("{figure}{end}"))))
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
