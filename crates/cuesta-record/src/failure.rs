//! The failures that are counted, each declared once with its name.

use serde::{Serialize, Serializer};

/// Declares the failures: `Variant = "name",` with what happened as its documentation.
macro_rules! failures {
    ($($(#[doc = $happened:literal])+ $failure:ident = $name:literal,)+) => {
        /// A failure of a host, a line or a user's work, as it is counted. `docs/lines.md` and `docs/ssh.md` explain the names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Failure {
            $($(#[doc = $happened])+ $failure,)+
        }

        impl Failure {
            /// All of them, in the order in which records have them.
            pub const ALL: &[Self] = &[$(Self::$failure,)+];

            /// The name in records and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$failure => $name,)+
                }
            }

            /// What happened, as a sentence for reports.
            pub fn happened(self) -> &'static str {
                match self {
                    $(Self::$failure => concat!($($happened),+).trim(),)+
                }
            }
        }
    };
}

// In alphabetical order: they cannot be grouped by when they happen, since the same failure can happen at any time.
failures! {
    /// The kernel gave the connection up.
    Aborted = "aborted",
    /// The ssh host accepted neither a key nor the password.
    Auth = "auth",
    /// A serial device does not support the settings.
    BadSettings = "bad-settings",
    /// Other users did not reach a `Barrier` in time.
    Barrier = "barrier",
    /// The host accepted no characters for too long.
    Blocked = "blocked",
    /// The line broke for another reason.
    Broken = "broken",
    /// A serial device is in use.
    Busy = "busy",
    /// The ssh host opens no session.
    Channel = "channel",
    /// The host closed the WebSocket with a code that says more than that the session is over.
    CloseCode = "close-code",
    /// The host closed the line, or the program ended.
    Closed = "closed",
    /// A telnet sequence was too long or broken off.
    DroppedSequence = "dropped-sequence",
    /// The program failed after it had sent something.
    Exited = "exited",
    /// The program ended before it sent anything.
    ExitedAtStart = "exited-at-start",
    /// What `Expect` looks for was not there.
    Expect = "expect",
    /// The line was not opened for another reason.
    Failed = "failed",
    /// The host sent too much between two keys.
    Flood = "flood",
    /// The 3270's field has no room for another character.
    FullField = "full-field",
    /// The host closed the line within a sequence of its framing.
    HalfSequence = "half-sequence",
    /// The ssh host's certificate is not for it, or not valid.
    HostCertificate = "host-certificate",
    /// The ssh host is unknown, or known by another key.
    HostKey = "host-key",
    /// The ssh connection broke during the login.
    HungUp = "hung-up",
    /// A key or certificate file cannot be used.
    Identity = "identity",
    /// A bisync message was given up; the other station may have got it.
    InDoubt = "in-doubt",
    /// A jump host does not forward the connection.
    Jump = "jump",
    /// There is no common algorithm for the ssh connection.
    Kex = "kex",
    /// The host has not unlocked the 3270's keyboard.
    KeyboardLocked = "keyboard-locked",
    /// The host does not give the logical unit.
    LogicalUnit = "logical-unit",
    /// The ssh host refused the connection because too many others were logging in.
    MaxStartups = "max-startups",
    /// A message from the host is longer than any terminal's.
    MessageTooLong = "message-too-long",
    /// `host:` was not replaced by an address.
    NoAddress = "no-address",
    /// There is no such serial device.
    NoDevice = "no-device",
    /// What a tape waits for before its first pass did not come.
    NoLogin = "no-login",
    /// The shell found no such program, or was not allowed to run it.
    NoProgram = "no-program",
    /// The ssh host gives no terminal.
    NoPty = "no-pty",
    /// The web terminal gives no session, or ended it before it was ready.
    NoSession = "no-session",
    /// The ssh host starts no program.
    NoShell = "no-shell",
    /// The host does not open a WebSocket.
    NoUpgrade = "no-upgrade",
    /// A bisync message was given up; the other station did not get it.
    NotDelivered = "not-delivered",
    /// This user may not open the serial device.
    NotPermitted = "not-permitted",
    /// The program was not ready for keys: `Wait+Ready` saw something else.
    NotReady = "not-ready",
    /// Something else than ssh listens there.
    NotSsh = "not-ssh",
    /// The program was not started for another reason.
    NotStarted = "not-started",
    /// What was typed is no text, which is all that the line carries.
    NotText = "not-text",
    /// The host does not speak WebSocket.
    NotWebSocket = "not-websocket",
    /// Another kind of web terminal answers, or none.
    OtherWebTerminal = "other-web-terminal",
    /// No file descriptor is left.
    OutOfFiles = "out-of-files",
    /// No local port is left.
    OutOfPorts = "out-of-ports",
    /// No process is left.
    OutOfProcesses = "out-of-processes",
    /// No pseudo-terminal is left.
    OutOfPtys = "out-of-ptys",
    /// The host answered no ping.
    PingTimeout = "ping-timeout",
    /// Nothing can be typed where the 3270's cursor is.
    ProtectedField = "protected-field",
    /// The HTTP proxy does not connect to the host.
    Proxy = "proxy",
    /// The `ProxyCommand` ended, or printed something else than an ssh banner.
    ProxyCommand = "proxy-command",
    /// The host refused the connection.
    Refused = "refused",
    /// The host reset the connection.
    Reset = "reset",
    /// OpenSSH's configuration has a setting that cannot be honoured.
    SshConfig = "ssh-config",
    /// No answer came in time.
    Timeout = "timeout",
    /// TLS was not agreed on, or the host's certificate is not trusted.
    Tls = "tls",
    /// A key was not echoed.
    Unechoed = "unechoed",
    /// The 3270 has no such key or character.
    UnknownKey = "unknown-key",
    /// No route leads to the host.
    Unreachable = "unreachable",
    /// The host's name has no address.
    Unresolved = "unresolved",
    /// The WebSocket was refused: not authorized (HTTP status 401).
    Upgrade401 = "upgrade-401",
    /// The WebSocket was refused: forbidden, perhaps because of the origin (HTTP status 403).
    Upgrade403 = "upgrade-403",
    /// There is no WebSocket at this path (HTTP status 404).
    Upgrade404 = "upgrade-404",
    /// A request before the WebSocket was refused: the login, or the one that makes a terminal.
    WebLogin = "web-login",
    /// Another character was echoed than `Set EchoMap` says.
    WrongEcho = "wrong-echo",
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_each_is_declared_once() {
        assert!(Failure::ALL.is_sorted_by(|one, next| one.name() < next.name()));
    }
}
