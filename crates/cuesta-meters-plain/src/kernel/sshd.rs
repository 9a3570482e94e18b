//! What OpenSSH's server shows of its limits: the title of its listening process, and its configuration. It is no interface of the
//! kernel, and its title reads like one: `/proc/PID/cmdline`.

use serde::{Deserialize, Serialize};

/// Connections that have not logged in yet, of the title `sshd: … [listener] 3 of 10-100 startups`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Startups {
    pub now: u64,
    /// From how many on connections are dropped at random.
    pub start: u64,
    /// At how many each is dropped.
    pub full: u64,
}

impl Startups {
    /// Reads the title of a process; none if it is not that of a listening sshd.
    pub fn parse(title: &str) -> Option<Self> {
        let (_, numbers) = title.strip_prefix("sshd: ")?.split_once("[listener] ")?;
        let (now, limits) = numbers.split_once(" of ")?;
        let (start, full) = limits.split_once(' ')?.0.split_once('-')?;
        Some(Self { now: now.parse().ok()?, start: start.parse().ok()?, full: full.parse().ok()? })
    }

    /// The percentage of connections that are dropped from `start` on, by sshd's configuration; none if that has other numbers, as it may
    /// if another file is read or the file has changed since.
    pub fn rate(self, config: &str) -> Option<u64> {
        let numbers = setting(config, "maxstartups").unwrap_or("10:30:100");
        let parts: Vec<u64> = numbers.split(':').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        match parts[..] {
            [start, rate, full] if (start, full) == (self.start, self.full) => Some(rate),
            [both] if (both, both) == (self.start, self.full) => Some(100),
            _ => None,
        }
    }
}

/// The configuration that a listening sshd was started with, by its title; none if its command line does not say.
pub fn config_file(title: &str) -> Option<&str> {
    let mut words = title.split(' ');
    words.find(|word| *word == "-f")?;
    words.next()
}

/// The value of a setting for everyone: the first that stands in the file, before its conditional part.
pub fn setting<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    let rows = config.lines().map(|row| row.trim_start().split(|c: char| c.is_ascii_whitespace() || c == '='));
    let mut rows = rows.map(|mut words| (words.next().unwrap_or_default(), words.find(|word| !word.is_empty())));
    let (keyword, value) =
        rows.find(|(keyword, _)| [name, "match"].iter().any(|any| keyword.eq_ignore_ascii_case(any)))?;
    if keyword.eq_ignore_ascii_case("match") { None } else { value }
}

/// Seconds of a time as `sshd_config(5)` writes it: `120`, `2m`, `1h30m`.
pub fn seconds(time: &str) -> Option<u64> {
    let (mut sum, mut number) = (0_u64, String::new());
    for c in time.chars() {
        if c.is_ascii_digit() {
            number.push(c);
            continue;
        }
        let unit = match c.to_ascii_lowercase() {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return None,
        };
        sum = sum.checked_add(std::mem::take(&mut number).parse::<u64>().ok()?.checked_mul(unit)?)?;
    }
    if number.is_empty() { Some(sum) } else { sum.checked_add(number.parse().ok()?) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TITLE: &str = "sshd: /usr/sbin/sshd -D -f /etc/ssh/other [listener] 3 of 10-60 startups";

    #[test]
    fn a_title_has_two_numbers_and_the_configuration_the_third() {
        let startups = Startups::parse(TITLE).unwrap();
        assert_eq!(startups, Startups { now: 3, start: 10, full: 60 });
        let rates =
            ["# x\nMaxStartups 10:30:60\n", "maxstartups=10:40:60\nMaxStartups 9\n", "MaxStartups 10:30:100\n", ""]
                .map(|config| startups.rate(config));
        assert_eq!(rates, [Some(30), Some(40), None, None]);
        assert_eq!(Startups { now: 0, start: 10, full: 100 }.rate("UseDNS no\n"), Some(30));
        assert_eq!(Startups { now: 0, start: 5, full: 5 }.rate("MaxStartups 5\n"), Some(100));
        assert_eq!(config_file(TITLE), Some("/etc/ssh/other"));
        for title in
            ["", "sshd: root@pts/0", "sshd: x [listener] 3 of 10 startups", "bash [listener] 1 of 1-2 startups"]
        {
            assert_eq!(Startups::parse(title), None, "{title}");
        }
    }

    #[test]
    fn only_what_holds_for_everyone_is_read() {
        let config = "LoginGraceTime 1m30s\nMatch User joe\n  MaxSessions 1\n";
        assert_eq!(setting(config, "logingracetime").and_then(seconds), Some(90));
        assert_eq!(setting(config, "maxsessions"), None);
        assert_eq!(
            ["120", "2m", "", "x", "1x", "99999999999999999999"].map(seconds),
            [Some(120), Some(120), Some(0), None, None, None]
        );
    }
}
