//! What is metered.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cpu_list;

/// The host under test, as the kernel knows it. As text and in JSON: `machine`, `pid:N`, `children:N,M`,
/// `cgroup:PATH`, `cpus:0-3`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Subject {
    /// The whole machine.
    Machine,
    /// A process and its descendants.
    Process(u32),
    /// The descendants of some processes without those themselves: of a driver, the programs on its terminal lines.
    Children(Vec<u32>),
    /// The processes of a control group and of those below it; a path below the mount, or the folder itself.
    Cgroup(PathBuf),
    /// All that runs on some CPUs.
    Cpus(Vec<usize>),
}

/// A subject that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no subject of meters: {0:?}: expected `machine`, `pid:N`, `children:N`, `cgroup:PATH` or `cpus:0-3`")]
pub struct NoSubject(String);

impl FromStr for Subject {
    type Err = NoSubject;

    fn from_str(text: &str) -> Result<Self, NoSubject> {
        let none = || NoSubject(text.to_owned());
        match text.split_once(':') {
            None if text == "machine" => Ok(Self::Machine),
            Some(("pid", pid)) => pid.parse().ok().filter(|pid| *pid > 0).map(Self::Process).ok_or_else(none),
            Some(("children", pids)) => {
                let pids = pids.split(',').map(|pid| pid.parse().ok().filter(|pid| *pid > 0)).collect::<Option<_>>();
                pids.map(Self::Children).ok_or_else(none)
            }
            Some(("cgroup", path)) if !path.is_empty() => Ok(Self::Cgroup(path.into())),
            Some(("cpus", list)) => {
                cpu_list::parse(list).filter(|cpus| !cpus.is_empty()).map(Self::Cpus).ok_or_else(none)
            }
            _ => Err(none()),
        }
    }
}

impl TryFrom<String> for Subject {
    type Error = NoSubject;

    fn try_from(text: String) -> Result<Self, NoSubject> {
        text.parse()
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> Self {
        subject.to_string()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine => f.write_str("machine"),
            Self::Process(pid) => write!(f, "pid:{pid}"),
            Self::Children(pids) => {
                write!(f, "children:{}", pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
            }
            Self::Cgroup(path) => write!(f, "cgroup:{}", path.display()),
            Self::Cpus(cpus) => write!(f, "cpus:{}", cpu_list::show(cpus)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_reads_back_as_written() {
        for text in ["machine", "pid:17", "children:4,5", "cgroup:/user.slice/a:b", "cpus:0-2,5"] {
            assert_eq!(text.parse::<Subject>().unwrap().to_string(), text);
        }
        assert_eq!("cpus:0,1,2".parse(), Ok(Subject::Cpus(vec![0, 1, 2])));
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            "",
            "all",
            "pid:",
            "pid:0",
            "pid:-1",
            "pid:1x",
            "children:",
            "children:1,",
            "cgroup:",
            "cpus:",
            "cpus:3-1",
            "cpus:a",
            "machine:",
        ] {
            assert!(text.parse::<Subject>().is_err(), "{text:?}");
        }
    }
}
