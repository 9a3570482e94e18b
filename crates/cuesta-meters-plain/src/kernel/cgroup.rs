//! A control group's files, versions 2 and 1: CPU time, quota and throttling.

use serde::{Deserialize, Serialize};

use super::{Malformed, number, numbers, value_of};

/// CPU time of a group; nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Exact.
    pub total: u64,
    /// Split by ticks.
    pub user: u64,
    /// Split by ticks.
    pub system: u64,
}

/// How long a quota throttled a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Throttled {
    /// Time throttled, summed over CPUs; nanoseconds.
    pub time: u64,
}

impl Usage {
    /// Reads `cpu.stat` of version 2.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let row = |key| value_of(text, key).ok_or_else(|| Malformed::new("cpu.stat", text));
        let nanos = |micros: u64| micros.saturating_mul(1000);
        Ok(Self {
            total: nanos(row("usage_usec")?),
            user: nanos(row("user_usec")?),
            system: nanos(row("system_usec")?),
        })
    }

    /// Reads `cpuacct.usage` and `cpuacct.stat` of version 1; `tick` is the length of its ticks in nanoseconds.
    pub fn parse_v1(usage: &str, stat: &str, tick: u64) -> Result<Self, Malformed> {
        let ticks = |key| value_of(stat, key).ok_or_else(|| Malformed::new("cpuacct.stat", stat));
        Ok(Self {
            total: number(usage).ok_or_else(|| Malformed::new("cpuacct.usage", usage))?,
            user: ticks("user")?.saturating_mul(tick),
            system: ticks("system")?.saturating_mul(tick),
        })
    }
}

impl Throttled {
    /// Reads `cpu.stat` of either version; the rows exist only with the cpu controller.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let micros = value_of(text, "throttled_usec").map(|micros| micros.saturating_mul(1000));
        let time = micros.or_else(|| value_of(text, "throttled_time"));
        time.map(|time| Self { time }).ok_or_else(|| Malformed::new("cpu.stat", text))
    }
}

/// How often something happened in a group: a row of `memory.events` (`high`, `oom_kill`), of `pids.events` (`max`), or of version 1's
/// `memory.oom_control` (`oom_kill`). None if the kernel does not count it.
pub fn events(text: &str, name: &str) -> Option<u64> {
    value_of(text, name)
}

/// Reads `cpu.max` of version 2, in CPUs; none if there is no quota.
pub fn quota(text: &str) -> Result<Option<f64>, Malformed> {
    let malformed = || Malformed::new("cpu.max", text);
    let (quota, period) = text.trim().split_once(' ').ok_or_else(malformed)?;
    if quota == "max" {
        return Ok(None);
    }
    cpus(quota, period).map(Some).ok_or_else(malformed)
}

/// Reads `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1, in CPUs; none if there is no quota.
pub fn quota_v1(quota: &str, period: &str) -> Result<Option<f64>, Malformed> {
    if quota.trim().starts_with('-') {
        return Ok(None);
    }
    cpus(quota, period).map(Some).ok_or_else(|| Malformed::new("cpu.cfs_quota_us", quota))
}

fn cpus(quota: &str, period: &str) -> Option<f64> {
    let (quota, period) = (numbers(quota).next()?, numbers(period).next()?);
    (period > 0).then(|| quota as f64 / period as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const V2: &str =
        "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\nnr_periods 10\nnr_throttled 3\nthrottled_usec 70\n";

    #[test]
    fn both_versions_give_the_same_figures() {
        let usage = Usage { total: 1_500_000, user: 1_000_000, system: 500_000 };
        assert_eq!(Usage::parse(V2), Ok(usage));
        let v1 = Usage::parse_v1("20000000\n", "user 1\nsystem 1\n", 10_000_000).unwrap();
        assert_eq!(v1, Usage { total: 20_000_000, user: 10_000_000, system: 10_000_000 });
        let throttled = Throttled { time: 70_000 };
        assert_eq!(Throttled::parse(V2), Ok(throttled));
        let v1 = "nr_periods 10\nnr_throttled 3\nthrottled_time 70000\nnr_bursts 0\nburst_time 0\n";
        assert_eq!(Throttled::parse(v1), Ok(throttled));
    }

    #[test]
    fn events_are_read_by_their_names() {
        let memory = "low 0\nhigh 41\nmax 0\noom 1\noom_kill 2\noom_group_kill 0\n";
        assert_eq!(["high", "oom_kill", "swap"].map(|name| events(memory, name)), [Some(41), Some(2), None]);
        assert_eq!(events("max 7\n", "max"), Some(7));
        assert_eq!(events("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", "oom_kill"), Some(3));
    }

    #[test]
    fn the_root_group_of_version_2_has_no_quota() {
        let root = include_str!("../../tests/captured/cgroup_cpu_stat");
        assert_eq!(Usage::parse(root).unwrap().total, 15_984_903_022_000);
        assert!(Throttled::parse(root).is_err());
        assert_eq!(quota("max 100000\n"), Ok(None));
        assert_eq!(quota("50000 100000\n"), Ok(Some(0.5)));
        assert_eq!(quota_v1("-1\n", "100000\n"), Ok(None));
        assert_eq!(quota_v1("200000\n", "100000\n"), Ok(Some(2.0)));
        for text in ["", "max", "x 1", "1 0", "1 x"] {
            assert!(quota(text).is_err(), "{text:?}");
        }
    }
}
