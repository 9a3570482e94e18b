//! A resolved [`Spec`]: the settings of each thread.

use std::path::Path;
use std::time::Duration;

use cuesta_distributions::{Distribution, duration};
use cuesta_record::{Stamp, read_text};

use crate::input::{Discipline, Unit};
use crate::pool::OWN;
use crate::services::LONGEST_FORM;
use crate::{HostError, InputMode, Service, Spec};

/// Most servers of a host: each message searches all of them for a free one.
const MOST_SERVERS: usize = 1024;
/// The most threads of one host.
const MOST_THREADS: usize = 256;
/// The longest answer: 1 GiB.
const LONGEST_REPLY: u64 = 1 << 30;

/// The settings of one thread.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) service: Service,
    pub(crate) discipline: Discipline,
    /// The distribution of service times; none = no servers, no queue.
    pub(crate) distribution: Option<Distribution>,
    /// Servers of this thread.
    pub(crate) servers: usize,
    pub(crate) delay: Duration,
    /// Begin and end of the stall window.
    pub(crate) stall: Option<(Stamp, Stamp)>,
    /// Characters that may wait for output on this thread.
    pub(crate) pool: usize,
    pub(crate) seed: u64,
}

impl Settings {
    /// Resolves the settings of each thread of a host that starts at `started`.
    pub(crate) fn resolve(spec: &Spec, started: Stamp) -> Result<Self, HostError> {
        check_numbers(spec)?;
        check_service(spec)?;
        let distribution = spec.service_time.as_deref().map(distribution).transpose()?;
        Ok(Self {
            service: spec.service.clone(),
            discipline: discipline(spec)?,
            servers: if distribution.is_some() { spec.servers / spec.threads } else { 0 },
            distribution,
            delay: spec.delay.as_deref().map_or(Ok(Duration::ZERO), |text| parse("delay", text))?,
            stall: stall(spec, started)?,
            pool: spec.pool / spec.threads,
            seed: spec.seed,
        })
    }
}

fn check_numbers(spec: &Spec) -> Result<(), HostError> {
    let within = |setting, value: usize, least: usize, most: usize, remedy| {
        let problem = format!("{value} is not between {least} and {most}");
        if (least..=most).contains(&value) { Ok(()) } else { Err(HostError::setting(setting, problem, remedy)) }
    };
    within("threads", spec.threads, 1, MOST_THREADS, "one for each core is enough")?;
    within("servers", spec.servers, 1, MOST_SERVERS, "leave out service_time for a host without servers")?;
    within("pool", spec.pool, spec.threads * OWN, usize::MAX, "it counts bytes: 16777216 is the default")?;
    if !spec.servers.is_multiple_of(spec.threads) && spec.service_time.is_some() {
        let problem = format!("{} servers cannot be shared equally by {} threads", spec.servers, spec.threads);
        return Err(HostError::setting("servers", problem, "each thread has its own: take a multiple"));
    }
    if spec.cpus.as_ref().is_some_and(Vec::is_empty) {
        return Err(HostError::setting("cpus", "the list is empty", "name at least one, or leave it out"));
    }
    Ok(())
}

fn check_service(spec: &Spec) -> Result<(), HostError> {
    let wrong = |problem: String, remedy| Err(HostError::setting("service", problem, remedy));
    let has_times = spec.service_time.is_some() || spec.delay.is_some();
    match &spec.service {
        Service::Transaction { reply } if !(4..=LONGEST_REPLY).contains(reply) => {
            wrong(format!("a reply of {reply} characters"), "its prompt alone is 4, and 1 GiB is the longest")
        }
        Service::BscLoop {} if spec.threads > 1 => wrong(
            "each thread would pair its own lines, and one of them may remain alone".to_owned(),
            "leave out threads, or take another service",
        ),
        Service::BscLoop {} if spec.input.is_some() || spec.echo == Some(true) || has_times => wrong(
            "it passes messages on as they come".to_owned(),
            "leave out input, echo, service_time and delay, or take another service",
        ),
        Service::Form { reply } if *reply > LONGEST_FORM => {
            wrong(format!("a screen with {reply} characters"), "it has room for 1440: 20 rows of 72")
        }
        Service::Form { .. } if spec.input.is_some() || spec.echo == Some(true) => wrong(
            "a 3270 sends records, which nobody echoes".to_owned(),
            "leave out input and echo, or take another service",
        ),
        Service::Output { rows: 0, .. } => wrong("a listing of 0 rows".to_owned(), "it has at least one"),
        Service::Shell { command } | Service::Socket { command }
            if command.trim().is_empty() || command.contains('\0') =>
        {
            wrong("there is no command".to_owned(), "write one that /bin/sh can run, such as `bash -i`")
        }
        Service::Shell { .. } | Service::Socket { .. } if has_times => wrong(
            "a program takes its own time".to_owned(),
            "leave out service_time and delay, or take another service",
        ),
        _ => Ok(()),
    }
}

fn discipline(spec: &Spec) -> Result<Discipline, HostError> {
    let (unit, echo) = spec.service.default_input();
    let character = |setting, character: char| match u8::try_from(character) {
        Ok(byte) if byte.is_ascii_graphic() && byte != b'\\' => Ok(byte),
        _ => {
            Err(HostError::setting(setting, format!("{character:?} cannot be used"), "take a visible ASCII character"))
        }
    };
    let (erase, kill) = (character("erase", spec.erase)?, character("kill", spec.kill)?);
    if erase == kill {
        return Err(HostError::setting("kill", "it is the erase character too", "take another one"));
    }
    let unit = match spec.input {
        None => unit,
        Some(InputMode::Canonical) => Unit::Row,
        Some(InputMode::Raw) => Unit::Character,
    };
    let echo = spec.echo.unwrap_or(echo && unit == Unit::Row);
    let map = echo_map(spec.echo_map.as_deref())?;
    Ok(Discipline { unit, erase, kill, echo, map })
}

/// `a0b1`: `0` for `a`, `1` for `b`, everything else for itself.
fn echo_map(pairs: Option<&str>) -> Result<[u8; 256], HostError> {
    let mut map = std::array::from_fn(|character| character as u8);
    let pairs = pairs.unwrap_or_default();
    if !pairs.is_ascii() || !pairs.len().is_multiple_of(2) {
        let problem = format!("{pairs:?} is no list of pairs");
        return Err(HostError::setting("echo_map", problem, "write `a0` to have 0 echoed for a, `a0b1` for two"));
    }
    for pair in pairs.as_bytes().chunks_exact(2) {
        map[usize::from(pair[0])] = pair[1];
    }
    Ok(map)
}

/// The most bytes of a distribution's file.
const LONGEST: u64 = 128 << 20;

fn distribution(text: &str) -> Result<Distribution, HostError> {
    let load = |file: &str| read_text(Path::new(file), LONGEST).map_err(|error| error.to_string());
    Distribution::parse(text, &load).map_err(|source| HostError::Distribution { text: text.to_owned(), source })
}

fn stall(spec: &Spec, started: Stamp) -> Result<Option<(Stamp, Stamp)>, HostError> {
    let Some(stall) = &spec.stall else { return Ok(None) };
    let from = started + parse("stall.at", &stall.at)?;
    Ok(Some((from, from + parse("stall.for", &stall.length)?)))
}

fn parse(setting: &'static str, text: &str) -> Result<Duration, HostError> {
    duration::parse(text).map_err(|source| HostError::Duration { setting, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(json: &str) -> Result<Settings, String> {
        let spec = Spec::parse(json).map_err(|error| error.to_string())?;
        Settings::resolve(&spec, Stamp::ZERO).map_err(|error| error.to_string())
    }

    #[test]
    fn each_service_has_a_default_input_mode() {
        for (json, unit, echo) in [
            (r#"{"service":{"echo":{}}}"#, Unit::Character, false),
            (r#"{"service":{"transaction":{"reply":150}}}"#, Unit::Row, true),
            (r#"{"service":{"output":{"rows":9}}}"#, Unit::Row, false),
            (r#"{"service":{"shell":{"command":"cat"}}}"#, Unit::Character, false),
            (r#"{"service":{"socket":{"command":"cat"}}}"#, Unit::Character, false),
            (r#"{"service":{"form":{"reply":150}}}"#, Unit::Record, false),
            (r#"{"service":{"transaction":{"reply":150}},"input":"raw"}"#, Unit::Character, false),
            (r#"{"service":{"echo":{}},"echo":true}"#, Unit::Character, true),
        ] {
            let discipline = settings(json).unwrap().discipline;
            assert_eq!((discipline.unit, discipline.echo), (unit, echo), "{json}");
        }
    }

    #[test]
    fn threads_share_servers_and_pool_equally() {
        let two = settings(r#"{"threads":2,"servers":4,"service_time":"exp 5ms","pool":1000}"#).unwrap();
        assert_eq!((two.servers, two.pool), (2, 500));
    }

    #[test]
    fn invalid_settings_are_named_with_a_remedy() {
        for (json, part) in [
            (r#"{"service_time":"exp 5 parsecs"}"#, "service_time `exp 5 parsecs`: at character"),
            (r#"{"threads":2,"servers":3,"service_time":"exp 5ms"}"#, "3 servers cannot be shared equally by 2"),
            (r#"{"servers":0}"#, "servers: 0 is not between"),
            (r#"{"threads":0}"#, "threads: 0"),
            (r#"{"pool":63}"#, "pool: 63"),
            (r#"{"delay":"soon"}"#, "delay: `soon`"),
            (r#"{"stall":{"at":"1s","for":"-1s"}}"#, "stall.for: `-1s` is negative"),
            (r#"{"echo_map":"a"}"#, "echo_map: \"a\""),
            (r#"{"erase":"ü"}"#, "erase: 'ü'"),
            (r##"{"kill":"#"}"##, "kill: it is the erase character"),
            (r#"{"service":{"transaction":{"reply":3}}}"#, "a reply of 3"),
            (r#"{"service":{"output":{"rows":0}}}"#, "0 rows"),
            (r#"{"service":{"form":{"reply":1441}}}"#, "1441 characters"),
            (r#"{"service":{"form":{"reply":9}},"input":"raw"}"#, "records"),
            (r#"{"service":{"bsc_loop":{}},"threads":2}"#, "remain alone"),
            (r#"{"service":{"bsc_loop":{}},"delay":"1s"}"#, "as they come"),
            (r#"{"service":{"shell":{"command":" "}}}"#, "no command"),
            (r#"{"service":{"socket":{"command":""}}}"#, "no command"),
            (r#"{"service":{"shell":{"command":"cat"}},"delay":"1s"}"#, "takes its own time"),
            (r#"{"cpus":[]}"#, "cpus"),
        ] {
            let error = settings(json).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
    }
}
