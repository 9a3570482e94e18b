//! `total_time_meters` with causes: what samples or tracers found takes the place of what ticks found.

use super::{Figure, MeterReport, TimeRow};

/// Rows that are of idle, or not the host's own, and stay as they are.
const KEPT: [&str; 6] = ["steal", "page-wait idle", "loading idle", "I/O-wait idle", "throttled idle", "zero idle"];

/// Why such rows have no average.
pub(crate) const NOT_ITS_OWN: &str = "it is not the subject's";

impl TimeRow {
    /// A row of time that was not the host's.
    pub(crate) fn idle(name: &str, percent: Figure) -> Self {
        Self {
            name: name.to_owned(),
            percent,
            of_non_idle: Figure::unmetered("idle, or not the host's own"),
            average: Figure::unmetered("it has no occurrences"),
        }
    }
}

impl MeterReport {
    /// Puts the causes, if they are known, into the table of total time, largest first: of the subject, with what others
    /// used apart.
    pub(crate) fn put_causes(&mut self) {
        let Some(by_cause) = self.by_cause.value() else { return };
        let busy = self.cpu.busy();
        let of_busy = |percent: &Figure| {
            if busy.value().is_some_and(|busy| *busy > 0.0) {
                return percent.with(&busy, |percent, busy| 100.0 * percent / busy);
            }
            Figure::unmetered("the CPUs were idle")
        };
        let mut rows: Vec<TimeRow> = by_cause
            .causes
            .iter()
            .map(|(name, cause)| TimeRow {
                name: name.replace('_', " "),
                of_non_idle: of_busy(&cause.percent),
                percent: cause.percent.clone(),
                average: cause.average.clone(),
            })
            .collect();
        let size = |row: &TimeRow| row.percent.value().copied().unwrap_or(0.0);
        rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
        if self.own.others.value().is_some() {
            rows.extend(self.own.beside().map(|(name, percent)| TimeRow {
                name: name.to_owned(),
                of_non_idle: of_busy(percent),
                percent: percent.clone(),
                average: Figure::unmetered(NOT_ITS_OWN),
            }));
        }
        self.total_time.retain(|row| KEPT.contains(&row.name.as_str()));
        rows.append(&mut self.total_time);
        self.total_time = rows;
    }
}
