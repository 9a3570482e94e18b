//! Why an agent cannot start, or cannot be reached.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;

/// Why an agent cannot start, or cannot be reached: what failed, why, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The settings are not the JSON that [`EndpointSpec`](crate::endpoint::EndpointSpec) describes.
    #[error("the settings of TMux: {0}")]
    Json(#[from] serde_json::Error),
    /// A setting that the protocol does not allow.
    #[error(transparent)]
    Settings(#[from] crate::wire::SettingsError),
    /// A setting that does not fit.
    #[error("{setting}: {problem}; {remedy}")]
    Setting {
        /// Its name in the settings.
        setting: &'static str,
        problem: String,
        /// What to write instead.
        remedy: &'static str,
    },
    /// An agent works in this network namespace already.
    #[error("another agent of TMux works in this network namespace; end it with `cuesta tmux down`")]
    Running,
    /// No agent works in this network namespace.
    #[error("no agent of TMux works in this network namespace; start one with `cuesta tmux up --peer ADDRESS`")]
    NotRunning,
    /// The agent is another user's, or does not answer.
    #[error("the agent of TMux did not answer: {0}; ask as the user who started it")]
    NoAnswer(#[source] io::Error),
    /// The agent has ended.
    #[error("the agent of TMux has ended{0}")]
    Ended(String),
    /// The kernel forbids what the agent needs.
    #[error("{what}: {source}; the agent needs root, or CAP_NET_ADMIN and CAP_NET_RAW")]
    Privilege {
        /// What was tried.
        what: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// There is no device for TUN.
    #[error("cannot open /dev/net/tun: {0}; `modprobe tun`, or give the container --device /dev/net/tun")]
    NoTun(#[source] io::Error),
    /// The kernel does not know how to reach a peer.
    #[error("no route to {peer}: {why}; check the address with `ip route get {peer}`")]
    NoRoute {
        peer: IpAddr,
        /// What `ip` said.
        why: String,
    },
    /// A command of iproute2 failed.
    #[error("`{command}` failed: {why}; the agent needs iproute2 and a kernel with policy routing")]
    Ip {
        command: String,
        /// What it said.
        why: String,
    },
    /// The capture cannot be written.
    #[error("cannot write the capture to {path}: {source}; name a file that can be written")]
    Capture {
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// Any other call that the kernel refused.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
}

impl EndpointError {
    /// Whether other settings would do.
    pub fn is_of_settings(&self) -> bool {
        matches!(self, Self::Json(_) | Self::Settings(_) | Self::Setting { .. })
    }

    pub(crate) fn setting(setting: &'static str, problem: impl Into<String>, remedy: &'static str) -> Self {
        Self::Setting { setting, problem: problem.into(), remedy }
    }

    /// The kernel refused `what`: for want of privilege, or for another reason.
    pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Privilege { what, source },
            _ => Self::System { what, source },
        }
    }
}
