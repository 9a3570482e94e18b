//! The `ssh://` target: user, host, keys and trust as a URL.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::TargetError;
use crate::percent::{Encoded, decode};
use crate::target::{parse_port, split};

/// `ssh://[USER@]HOST[:PORT][?settings]`. The users' table and `~/.ssh/config` supply what it leaves open.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SshTarget {
    pub user: Option<String>,
    /// A name, an address, or a `Host` of `~/.ssh/config`; an IPv6 address without its brackets.
    pub host: String,
    pub port: Option<u16>,
    /// `identity=FILE`, which may stand more than once: the only keys that are tried.
    pub identities: Vec<PathBuf>,
    /// `known_hosts=accept-new` or `known_hosts=strict`: the policy for unknown hosts.
    pub trust: Option<Trust>,
    /// `known_hosts=FILE`, which may stand more than once: in place of the usual files.
    pub known_hosts: Vec<PathBuf>,
    /// `obscure=20ms`: keys are sent on a grid of this width, with chaff between them; none = when they are typed.
    pub obscure: Option<Duration>,
    /// `command=…`, in place of a shell.
    pub command: Option<String>,
    /// `config=FILE`, in place of the usual files of OpenSSH's configuration; `none` is no file.
    pub config: Option<PathBuf>,
    /// `jump=[USER@]HOST[:PORT],…`: the jump hosts, in place of the configured ones.
    pub jump: Option<String>,
    /// `agent=off`: the agent is not asked for keys.
    pub without_agent: bool,
    /// `code=COMMAND`, which prints the one-time code of a user whose row of the users' table has none.
    pub code: Option<String>,
}

/// The policy for unknown hosts. A host whose key has changed is always refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trust {
    /// Refuse it.
    Strict,
    /// Store its key and trust it from then on.
    AcceptNew,
}

/// Allowed widths of the key grid.
const GRID: std::ops::RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(1);

impl FromStr for SshTarget {
    type Err = TargetError;

    /// Reads what follows `ssh:`.
    fn from_str(rest: &str) -> Result<Self, TargetError> {
        let text = rest.strip_prefix("//").ok_or_else(|| TargetError::NoSlashes("ssh".to_owned()))?;
        let (authority, query) =
            text.split_once('?').map_or((text, None), |(authority, query)| (authority, Some(query)));
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let (user, authority) =
            authority.rsplit_once('@').map_or((None, authority), |(user, authority)| (Some(user), authority));
        let mut target = Self { user: user.map(name).transpose()?, ..Self::default() };
        if let Some(excess) = authority.find(is_odd).map(|at| &authority[at..]) {
            return Err(TargetError::TooMuch { excess: excess.to_owned(), text: authority.to_owned() });
        }
        let (host, port) = split(authority)?;
        if host.is_empty() || host.starts_with('-') {
            return Err(TargetError::NoHost(authority.to_owned()));
        }
        host.clone_into(&mut target.host);
        target.port = port.map(parse_port).transpose()?;
        if target.port == Some(0) {
            return Err(TargetError::BadPort("0".to_owned()));
        }
        for setting in query.into_iter().flat_map(|query| query.split('&')).filter(|setting| !setting.is_empty()) {
            target.set(setting)?;
        }
        Ok(target)
    }
}

impl SshTarget {
    /// Takes one setting of the query.
    fn set(&mut self, setting: &str) -> Result<(), TargetError> {
        let wrong = |expected: &'static str| TargetError::BadSetting { setting: setting.to_owned(), expected };
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        let value = decode(value).ok_or_else(|| wrong("text, with % written as %25"))?;
        if value.is_empty() {
            return Err(match key {
                "password" => TargetError::Password,
                _ => wrong("a value, as in obscure=20ms"),
            });
        }
        match (key, value.as_str()) {
            ("identity", _) => self.identities.push(value.into()),
            ("known_hosts", "strict" | "accept-new") if self.trust.is_some() => return Err(wrong("one policy")),
            ("known_hosts", "strict") => self.trust = Some(Trust::Strict),
            ("known_hosts", "accept-new") => self.trust = Some(Trust::AcceptNew),
            ("known_hosts", "no" | "off" | "yes" | "ask") => return Err(wrong("strict, accept-new, or a file's path")),
            ("known_hosts", _) => self.known_hosts.push(value.into()),
            ("obscure", "off") => self.obscure = None,
            ("obscure", _) => self.obscure = Some(grid(&value).ok_or_else(|| wrong("off, or 20ms (1ms to 1000ms)"))?),
            ("command", _) => self.command = Some(value),
            ("code", _) => self.code = Some(value),
            ("config", _) => self.config = Some(value.into()),
            ("jump", _) => self.jump = Some(value),
            ("agent", "on") => self.without_agent = false,
            ("agent", "off") => self.without_agent = true,
            ("agent", _) => return Err(wrong("on or off")),
            ("password" | "passphrase", _) => return Err(TargetError::Password),
            // Without the value: it may be a password under a misspelt key.
            _ => {
                let expected = "identity, known_hosts, config, jump, obscure, command, code or agent";
                return Err(TargetError::BadSetting { setting: key.to_owned(), expected });
            }
        }
        Ok(())
    }

    /// The query's settings in canonical order.
    fn settings(&self) -> Vec<(&'static str, String)> {
        let paths = |key, paths: &[PathBuf]| {
            paths.iter().map(|path| (key, path.to_string_lossy().into_owned())).collect::<Vec<_>>()
        };
        let mut settings = paths("identity", &self.identities);
        settings.extend(self.trust.map(|trust| ("known_hosts", trust.name().to_owned())));
        settings.extend(paths("known_hosts", &self.known_hosts));
        // Always written, because a run's record contains it.
        let obscure = self.obscure.map_or_else(|| "off".to_owned(), |width| format!("{}ms", width.as_millis()));
        settings.push(("obscure", obscure));
        settings.extend(self.config.as_ref().map(|file| ("config", file.to_string_lossy().into_owned())));
        settings.extend(self.jump.clone().map(|jump| ("jump", jump)));
        settings.extend(self.command.clone().map(|command| ("command", command)));
        settings.extend(self.code.clone().map(|code| ("code", code)));
        settings.extend(self.without_agent.then(|| ("agent", "off".to_owned())));
        settings
    }
}

impl Trust {
    fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::AcceptNew => "accept-new",
        }
    }
}

impl fmt::Display for SshTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ssh://")?;
        if let Some(user) = &self.user {
            write!(f, "{}@", Encoded(user))?;
        }
        let bracketed = self.host.contains(':');
        write!(f, "{}{}{}", if bracketed { "[" } else { "" }, self.host, if bracketed { "]" } else { "" })?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        for (number, (key, value)) in self.settings().iter().enumerate() {
            write!(f, "{}{key}={}", if number == 0 { '?' } else { '&' }, Encoded(value))?;
        }
        Ok(())
    }
}

/// Parses a user name, which may not contain a password.
fn name(text: &str) -> Result<String, TargetError> {
    if text.contains(':') {
        return Err(TargetError::Password);
    }
    let name = decode(text).filter(|name| !name.is_empty() && !name.contains(char::is_control));
    name.ok_or_else(|| TargetError::BadUser(text.to_owned()))
}

fn grid(text: &str) -> Option<Duration> {
    let digits = text.strip_suffix("ms").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(Duration::from_millis(digits.parse().ok()?)).filter(|width| GRID.contains(width))
}

/// Characters that cannot be in a host's name.
fn is_odd(c: char) -> bool {
    matches!(c, '/' | '#' | '%') || c.is_whitespace() || c.is_control()
}

#[cfg(test)]
mod tests {
    use crate::Target;

    #[test]
    fn a_target_reads_back_as_written_and_obscure_defaults_to_off() {
        for text in [
            "ssh://bastion?obscure=off",
            "ssh://joe@bastion:2222?obscure=off",
            "ssh://joe%40corp@[::1]:22?obscure=off",
            "ssh://h?identity=/k/id&identity=~/b&known_hosts=accept-new&known_hosts=/k/known&obscure=20ms&config=/k/config&jump=joe%40b%3A2222%2Cc&command=a%20-b&code=oath%20%25r&agent=off",
        ] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        for text in ["ssh://h", "ssh://h/", "ssh://h?agent=on", "ssh://h?&"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), "ssh://h?obscure=off");
        }
    }

    #[test]
    fn errors_give_a_correct_example_and_no_password() {
        let texts = [
            "ssh:h",
            "ssh://",
            "ssh://joe@",
            "ssh://-oProxyCommand=x",
            "ssh://joe:secret@h",
            "ssh://h?password=secret",
            "ssh://h?password=",
            "ssh://@h",
            "ssh://h:0",
            "ssh://h:x",
            "ssh://::1",
            "ssh://h/path",
            "ssh://h h",
            "ssh://h?known_hosts=no",
            "ssh://h?known_hosts=strict&known_hosts=accept-new",
            "ssh://h?obscure=20",
            "ssh://h?obscure=2s",
            "ssh://h?agent=maybe",
            "ssh://h?identity",
            "ssh://h?speed=9600",
            "ssh://h?command=%zz",
        ];
        let mut errors = Vec::new();
        for text in texts {
            let error = text.parse::<Target>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
            errors.push(format!("{text:24} {error}"));
        }
        insta::assert_snapshot!(errors.join("\n"));
    }

    proptest::proptest! {
        #[test]
        fn any_target_reads_back_as_written(text in "[a-z@:/?&=%#.0-9\\[\\]\\PC-]{0,40}") {
            for text in [format!("ssh://{text}"), format!("ssh://joe@h?{text}"), format!("ssh://h?identity={text}")] {
                if let Ok(target) = text.parse::<Target>() {
                    proptest::prop_assert_eq!(target.to_string().parse::<Target>().unwrap(), target);
                }
            }
            let error = format!("ssh://joe:GEHEIM@{text}").parse::<Target>().unwrap_err();
            proptest::prop_assert!(!error.to_string().contains("GEHEIM"));
        }
    }
}
