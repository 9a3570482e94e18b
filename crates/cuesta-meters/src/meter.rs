//! A meter: a subject that is read again and again.

use serde::{Deserialize, Serialize};

use crate::{Incomparable, Rates, Reading, Roots, Sheet, Subject};

/// What is to be metered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The host under test.
    pub subject: Subject,
    /// The CPUs that percentages are of, where the subject's own are not meant: those that the host is pinned to.
    #[serde(default)]
    pub cpus: Option<Vec<usize>>,
    /// Where the kernel's files are.
    #[serde(default)]
    pub roots: Roots,
}

/// A meter at work. Reading costs a few milliseconds and changes nothing.
#[derive(Debug)]
pub struct Meter {
    spec: Spec,
    /// The last reading that a sheet ended with.
    last: Reading,
}

/// There is nothing to meter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoMeter {
    /// The subject is not there.
    #[error("cannot meter {subject}: {why}")]
    Absent {
        /// What was asked for.
        subject: Subject,
        /// Why it cannot be metered.
        why: String,
    },
}

impl Spec {
    fn read(&self) -> Reading {
        let mut reading = Reading::take(&self.roots, &self.subject);
        if let Some(cpus) = &self.cpus {
            reading.allowed = Some(cpus.clone());
        }
        reading
    }
}

impl Meter {
    /// Begins to meter: takes the first reading.
    pub fn start(spec: Spec) -> Result<Self, NoMeter> {
        let last = spec.read();
        match last.absence() {
            Some(why) => Err(NoMeter::Absent { subject: spec.subject, why }),
            None => Ok(Self { spec, last }),
        }
    }

    /// The counters as they are now.
    pub fn reading(&self) -> Reading {
        self.spec.read()
    }

    /// What came since the last sheet, or since the start.
    pub fn sheet(&mut self) -> Result<Sheet, Incomparable> {
        let now = self.reading();
        let sheet = Rates::between(&self.last, &now)?.sheet();
        self.last = now;
        Ok(sheet)
    }

    /// What came since a reading that was kept; the next sheet does not begin anew by it.
    pub fn sheet_since(&self, earlier: &Reading) -> Result<Sheet, Incomparable> {
        let now = self.reading();
        Ok(Rates::between(earlier, &now)?.sheet())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(subject: &str) -> Result<Meter, NoMeter> {
        Meter::start(Spec { subject: subject.parse().unwrap(), cpus: None, roots: Roots::default() })
    }

    #[test]
    fn what_is_not_there_is_said_at_the_start() {
        for (subject, why) in [
            ("pid:4194304", "no such process"),
            ("cgroup:/no/such/group", "no such control group is mounted"),
            ("cpus:4000", "no such CPU"),
        ] {
            let error = start(subject).unwrap_err().to_string();
            assert!(error.starts_with(&format!("cannot meter {subject}: ")) && error.contains(why), "{error}");
        }
    }

    #[test]
    fn sheets_follow_each_other() {
        let mut meter = start("machine").unwrap();
        let kept = meter.reading();
        let first = meter.sheet().unwrap();
        let second = meter.sheet().unwrap();
        let whole = meter.sheet_since(&kept).unwrap();
        assert!(second.at > first.at && whole.at > second.at);
        assert!(whole.seconds > second.seconds);
    }
}
