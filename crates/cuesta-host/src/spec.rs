//! The host's specification as JSON. [`Settings`](crate::settings::Settings) is its resolved form.

use std::path::PathBuf;

use cuesta_lines::Target;
use serde::{Deserialize, Serialize};

use crate::HostError;
use crate::input::Unit;

/// A host's specification; every field has a default. Durations and distributions are text (`5ms`, `exp 5ms`).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spec {
    /// Addresses to listen on, as URLs (`telnet://127.0.0.1:0`, `tcp://…`); port 0 = any free one.
    pub listen: Vec<String>,
    /// Networks that lines may come from (`10.0.0.0/8`); none = any, and for a shell this machine only.
    pub allow: Vec<String>,
    pub service: Service,
    /// How input reaches the service; each service has its default, and `form` takes records only.
    pub input: Option<InputMode>,
    /// The erase character (canonical input).
    pub erase: char,
    /// The kill character (canonical input).
    pub kill: char,
    /// Whether the front end echoes what is typed; by default with canonical input, unless the service is `echo`.
    pub echo: Option<bool>,
    /// Pairs of characters: what is echoed in place of what, `a0` = `0` for `a`.
    pub echo_map: Option<String>,
    /// The distribution of the time that a server works on one message; none = no time, and no queue.
    pub service_time: Option<String>,
    /// Servers that work on messages, of all threads together.
    pub servers: usize,
    /// The time from a message's completion to its answer, exactly.
    pub delay: Option<String>,
    /// The stall window.
    pub stall: Option<Stall>,
    /// Characters that may wait for output, of all lines together; bytes.
    pub pool: usize,
    /// Threads that serve lines.
    pub threads: usize,
    /// The CPUs that the threads are pinned to, in turn; none = wherever the kernel puts them.
    pub cpus: Option<Vec<usize>>,
    /// The way between a line and its program.
    pub path: Path,
    /// Seed of the service times.
    pub seed: u64,
    /// A folder in which `series.jsonl` gets a row of meters each second.
    pub meters: Option<PathBuf>,
}

/// A service. Each is one file of `services`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Service {
    /// Echoes its input.
    Echo {},
    /// `reply` characters for each message.
    Transaction {
        /// Characters, the prompt at the end included; at least 4.
        reply: u64,
    },
    /// Wraps bisync lines in pairs: what one of a pair sends, the other receives.
    BscLoop {},
    /// Answers each screen that a 3270 sends with a screen of `reply` characters and a field to type into.
    Form {
        /// Characters of text.
        reply: u32,
    },
    /// Prints a listing again and again.
    Output {
        rows: u32,
        /// What it waits for.
        #[serde(default)]
        start: OutputStart,
    },
    /// Runs a program on a pseudo-terminal.
    Shell {
        /// What `/bin/sh -c` runs.
        command: String,
    },
    /// Runs a program on a socket.
    Socket {
        /// What `/bin/sh -c` runs.
        command: String,
    },
}

/// The way that characters take between a line and the program that serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Path {
    /// Through the host, which relays them.
    #[default]
    User,
    /// Within the kernel, except where the line's protocol needs the host. For the service `socket`.
    Kernel,
}

/// What the `output` service waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputStart {
    /// It prints from connection on.
    #[default]
    Connection,
    /// The first message.
    Input,
}

/// How input reaches the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputMode {
    /// Row by row, after erase and kill.
    Canonical,
    /// Character by character.
    Raw,
}

/// A window in which the host stalls: it neither reads nor answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// From when on, after the start.
    pub at: String,
    /// How long.
    #[serde(rename = "for")]
    pub length: String,
}

impl Service {
    /// The command of a service that runs a program for each line.
    pub(crate) fn command(&self) -> Option<&str> {
        match self {
            Self::Shell { command } | Self::Socket { command } => Some(command),
            _ => None,
        }
    }

    /// Whether it serves lines of this kind.
    pub(crate) fn serves(&self, target: &Target) -> bool {
        match self {
            Self::BscLoop {} => matches!(target, Target::Bisync(_)),
            Self::Form { .. } => matches!(target, Target::Tn3270(_)),
            _ => matches!(target, Target::Tcp(_) | Target::Telnet(_) | Target::Web(_)),
        }
    }

    /// How the addresses are written of the lines that it serves.
    pub(crate) fn addresses(&self) -> &'static str {
        match self {
            Self::BscLoop {} => "this service speaks bsc://HOST:PORT",
            Self::Form { .. } => "this service speaks tn3270://HOST:PORT",
            _ => "this service speaks tcp://HOST:PORT and telnet://HOST:PORT, ws://HOST:PORT and other web terminals",
        }
    }

    /// The default unit of input, and whether rows are echoed by default.
    pub(crate) fn default_input(&self) -> (Unit, bool) {
        match self {
            Self::Form { .. } => (Unit::Record, false),
            Self::BscLoop {} | Self::Echo {} | Self::Shell { .. } | Self::Socket { .. } => (Unit::Character, false),
            Self::Transaction { .. } | Self::Output { start: OutputStart::Input, .. } => (Unit::Row, true),
            // Echoes would break a listing that is printed from connection on.
            Self::Output { start: OutputStart::Connection, .. } => (Unit::Row, false),
        }
    }
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            listen: vec!["telnet://127.0.0.1:0".to_owned()],
            allow: Vec::new(),
            service: Service::Transaction { reply: 150 },
            input: None,
            erase: '#',
            kill: '@',
            echo: None,
            echo_map: None,
            service_time: None,
            servers: 1,
            delay: None,
            stall: None,
            pool: 16 << 20,
            threads: 1,
            cpus: None,
            path: Path::User,
            seed: 1,
            meters: None,
        }
    }
}

impl Spec {
    /// Reads a specification from JSON.
    pub fn parse(json: &str) -> Result<Self, HostError> {
        Ok(serde_json::from_str(json)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_fields_have_defaults() {
        let spec = Spec::parse(r#"{"service":{"echo":{}},"delay":null,"stall":{"at":"10s","for":"1.4s"}}"#).unwrap();
        assert_eq!(spec.service, Service::Echo {});
        assert_eq!(spec.stall.map(|stall| stall.length), Some("1.4s".to_owned()));
        assert_eq!((spec.pool, spec.servers, spec.erase, spec.kill), (16_777_216, 1, '#', '@'));
    }

    #[test]
    fn an_unknown_word_is_named() {
        for (json, word) in [
            (r#"{"speed":1}"#, "speed"),
            (r#"{"service":{"mail":{}}}"#, "mail"),
            (r#"{"service":{"transaction":{"replies":1}}}"#, "replies"),
            (r#"{"input":"cooked"}"#, "cooked"),
        ] {
            let error = Spec::parse(json).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
