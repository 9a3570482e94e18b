//! OpenSSH's configuration of a host, as OpenSSH itself evaluates it: `ssh -G` reads the files with all that they may hold
//! (`Match`, `Include`, `CanonicalizeHostname`, …) and prints the result. Values that differ from its output without any file
//! are set in a file; each of these is used, refused, or reported as unused.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::destination::own_home;
use super::target::SshTarget;

/// A request to `ssh -G`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ConfigQuery {
    pub(super) host: String,
    pub(super) user: Option<String>,
    pub(super) port: Option<u16>,
    /// The file that replaces the usual ones; `none` for no file.
    pub(super) config: Option<PathBuf>,
    /// `ProxyJump` as the target sets it, before any file.
    pub(super) jump: Option<String>,
    /// The home directory of the usual files.
    home: Option<PathBuf>,
}

/// The configuration of a host, by keyword in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct HostConfig {
    values: HashMap<String, Vec<String>>,
    /// Keywords that differ from `ssh`'s defaults.
    set: HashSet<String>,
}

/// Keywords that are used, here or in `destination`.
const USED: &[&str] = &[
    "batchmode",
    "certificatefile",
    "ciphers",
    "globalknownhostsfile",
    "hashknownhosts",
    "host",
    "hostkeyalgorithms",
    "hostkeyalias",
    "hostname",
    "identitiesonly",
    "identityagent",
    "identityfile",
    "kbdinteractiveauthentication",
    "kexalgorithms",
    "macs",
    "passwordauthentication",
    "port",
    "preferredauthentications",
    "proxycommand",
    "proxyjump",
    "pubkeyauthentication",
    "remotecommand",
    "sendenv",
    "serveralivecountmax",
    "serveraliveinterval",
    "setenv",
    "stricthostkeychecking",
    "user",
    "userknownhostsfile",
];
/// Keywords that `ssh -G` has applied already, those that only concern what `ssh` prints, reads from a keyboard or stores, and those of
/// GSSAPI, which many distributions switch on: a host that accepts nothing else says so when it refuses the login.
const IRRELEVANT: &[&str] = &[
    "canonicaldomains",
    "canonicalizefallbacklocal",
    "canonicalizehostname",
    "canonicalizemaxdots",
    "canonicalizepermittedcnames",
    "enableescapecommandline",
    "escapechar",
    "fingerprinthash",
    "gssapiauthentication",
    "gssapidelegatecredentials",
    "loglevel",
    "logverbose",
    "syslogfacility",
    "tag",
    "updatehostkeys",
    "visualhostkey",
];
/// Keywords that Cuesta does not support and must not ignore, because they change the connection or the trust; with remedies.
const REFUSED: &[(&str, &str)] = &[
    ("addressfamily", "give HostName an address of that family"),
    ("bindaddress", "let the route decide, or run Cuesta in a network namespace that has only that address"),
    ("bindinterface", "let the route decide, or run Cuesta in a network namespace that has only that interface"),
    ("knownhostscommand", "write its output into a file, and name that file with UserKnownHostsFile"),
    ("nohostauthenticationforlocalhost", "add ?known_hosts=accept-new to the target"),
    ("proxyusefdpass", "use a ProxyCommand that passes the bytes itself"),
    ("requesttty", "every user has a terminal: write RequestTTY yes"),
    ("revokedhostkeys", "write revoked keys into a file of known hosts, with @revoked before them"),
    ("sessiontype", "every user has a shell or a command: write SessionType default"),
];

/// Configurations read so far in this process: reading one may start programs (`Match exec`), and thousands of users share it.
static LOADED: LazyLock<Mutex<HashMap<ConfigQuery, Arc<HostConfig>>>> = LazyLock::new(Mutex::default);
/// The defaults of `ssh`, without any file.
static DEFAULTS: LazyLock<io::Result<Rows>> = LazyLock::new(|| {
    let output = ssh(["-F", "none", "-G", "--", "host"].iter()).output()?;
    Ok(rows(&String::from_utf8_lossy(&output.stdout)))
});

type Rows = HashMap<String, Vec<String>>;

impl ConfigQuery {
    pub(super) fn new(target: &SshTarget, user: Option<&str>, home: Option<&Path>) -> Self {
        let in_home = |file: &PathBuf| match (file.strip_prefix("~"), home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => file.clone(),
        };
        Self {
            host: target.host.clone(),
            user: user.map(str::to_owned),
            port: target.port,
            config: target.config.as_ref().map(in_home),
            jump: target.jump.clone(),
            home: home.map(Path::to_owned),
        }
    }

    /// The arguments of `ssh`. Text from a target cannot be taken for an option: it follows one, or `--`.
    fn arguments(&self, config: Option<&Path>) -> Vec<String> {
        let mut arguments = vec!["-G".to_owned()];
        let mut add = |option: &str, value: Option<String>| {
            arguments.extend(value.into_iter().flat_map(|value| [option.to_owned(), value]));
        };
        add("-F", config.map(|file| file.to_string_lossy().into_owned()));
        add("-l", self.user.clone());
        add("-p", self.port.map(|port| port.to_string()));
        add("-J", self.jump.clone());
        arguments.extend(["--".to_owned(), self.host.clone()]);
        arguments
    }
}

impl HostConfig {
    /// Reads the configuration of a host; empty where there is neither a file nor an `ssh` to read it.
    pub(super) fn load(query: &ConfigQuery) -> Result<Arc<Self>, String> {
        let loaded = || LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = loaded().get(query) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(Self::read(query)?);
        loaded().insert(query.clone(), Arc::clone(&config));
        Ok(config)
    }

    fn read(query: &ConfigQuery) -> Result<Self, String> {
        let config = query.config.clone().or_else(|| config_of(query.home.as_deref()));
        let output = match ssh(query.arguments(config.as_deref()).iter()).output() {
            Ok(output) => output,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::without_ssh(query),
            Err(error) => return Err(format!("ssh, which reads it, cannot be started: {error}")),
        };
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let errors = errors.lines().map(str::trim).filter(|row| !row.is_empty()).collect::<Vec<_>>().join("; ");
            return Err(format!("`ssh -G` refuses it: {errors}"));
        }
        let defaults = DEFAULTS.as_ref().map_err(|error| format!("ssh, which reads it, cannot be started: {error}"))?;
        Ok(Self::from_rows(rows(&String::from_utf8_lossy(&output.stdout)), defaults))
    }

    fn from_rows(values: Rows, defaults: &Rows) -> Self {
        let is_set = |keyword: &&String| values.get(*keyword) != defaults.get(*keyword);
        let set = values.keys().chain(defaults.keys()).filter(is_set).cloned().collect();
        Self { values, set }
    }

    /// There is no `ssh`. That is fine if there is no file to read either.
    fn without_ssh(query: &ConfigQuery) -> Result<Self, String> {
        let none = query.config.as_deref().is_some_and(|file| file == Path::new("none"));
        let files = query.home.iter().map(|home| home.join(".ssh/config")).chain(["/etc/ssh/ssh_config".into()]);
        let files: Vec<PathBuf> = query.config.clone().map_or_else(|| files.collect(), |file| vec![file]);
        match files.iter().find(|file| !none && file.exists()) {
            Some(file) => Err(format!(
                "{} is read by OpenSSH's own `ssh`, which is not installed here: install it (openssh-client), or add \
                 ?config=none to the target",
                file.display()
            )),
            None if query.jump.is_some() => {
                Err("jump= takes OpenSSH's `ssh`, which is not installed here: install openssh-client".to_owned())
            }
            None => Ok(Self::default()),
        }
    }

    /// A configuration for tests.
    #[cfg(test)]
    pub(super) fn for_test(rows: &[(&str, &str)]) -> Self {
        let mut config = Self::default();
        for (keyword, value) in rows {
            config.values.entry((*keyword).to_owned()).or_default().push((*value).to_owned());
            config.set.insert((*keyword).to_owned());
        }
        config
    }

    /// The value of a keyword; `None` if it is `none`.
    pub(super) fn value(&self, keyword: &str) -> Option<&str> {
        let value = self.values.get(keyword)?.first()?;
        Some(value.as_str()).filter(|value| !value.eq_ignore_ascii_case("none"))
    }

    /// The value of a keyword, if it is set.
    pub(super) fn if_set(&self, keyword: &str) -> Option<&str> {
        self.value(keyword).filter(|_| self.set.contains(keyword))
    }

    /// The values of a keyword that may be given more than once, if it is set.
    pub(super) fn all_if_set(&self, keyword: &str) -> Option<Vec<&str>> {
        let values = self.values.get(keyword).filter(|_| self.set.contains(keyword))?;
        Some(values.iter().map(String::as_str).collect())
    }

    /// Whether a switch is on; `None` if it has no value.
    pub(super) fn is_on(&self, keyword: &str) -> Option<bool> {
        self.value(keyword).map(|value| !["no", "false", "off"].contains(&value))
    }

    /// The first refused keyword, with its remedy.
    pub(super) fn refused(&self) -> Option<String> {
        let (keyword, remedy) = REFUSED.iter().find(|(keyword, _)| self.is_refused(keyword))?;
        Some(format!("{keyword} {} is not supported by Cuesta: {remedy}", self.shorten_value(keyword)))
    }

    fn is_refused(&self, keyword: &str) -> bool {
        match keyword {
            "requesttty" => self.set.contains(keyword) && self.is_on(keyword) == Some(false),
            "sessiontype" => self.set.contains(keyword) && self.value(keyword) != Some("default"),
            _ => self.set.contains(keyword),
        }
    }

    /// Settings that Cuesta does not use, as `ssh -G` writes them.
    pub(super) fn unused(&self) -> Vec<String> {
        let is_unused = |keyword: &&String| {
            let known = REFUSED.iter().map(|(keyword, _)| keyword).chain(USED).chain(IRRELEVANT);
            !known.into_iter().any(|known| known == keyword)
        };
        let mut unused: Vec<_> = self
            .set
            .iter()
            .filter(is_unused)
            .map(|keyword| format!("{keyword} {}", self.shorten_value(keyword)))
            .collect();
        unused.sort();
        unused
    }

    fn shorten_value(&self, keyword: &str) -> String {
        let text = self.values.get(keyword).map(|values| values.join(", ")).unwrap_or_default();
        match text.char_indices().nth(60) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }
}

fn ssh(arguments: impl Iterator<Item = impl AsRef<str>>) -> Command {
    let mut ssh = Command::new("ssh");
    ssh.args(arguments.map(|argument| argument.as_ref().to_owned())).stdin(Stdio::null());
    ssh
}

/// The user's file where `HOME` differs from the user's home directory; `ssh` itself looks only in the latter.
fn config_of(home: Option<&Path>) -> Option<PathBuf> {
    let home = home.filter(|home| Some(*home) != own_home())?;
    let files = [home.join(".ssh/config"), "/etc/ssh/ssh_config".into()];
    Some(files.into_iter().find(|file| file.exists()).unwrap_or_else(|| "none".into()))
}

/// Keywords and values; a keyword may occur more than once.
fn rows(text: &str) -> Rows {
    let mut rows = Rows::new();
    for row in text.lines() {
        let (keyword, value) = row.split_once(' ').unwrap_or((row, ""));
        rows.entry(keyword.to_ascii_lowercase()).or_default().push(value.to_owned());
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_that_differ_from_the_default_are_reported() {
        let defaults =
            rows("user me\ncompression no\ngssapiauthentication no\nidentityfile ~/.ssh/id_rsa\nbindaddress");
        let values = rows(
            "user joe\ncompression yes\ngssapiauthentication yes\nidentityfile /k\nidentityfile /l\nsendenv LC_*\nbindaddress",
        );
        let config = HostConfig::from_rows(values, &defaults);
        assert_eq!(config.if_set("user"), Some("joe"));
        assert_eq!(config.all_if_set("identityfile"), Some(vec!["/k", "/l"]));
        assert_eq!(config.unused(), ["compression yes"]);
        assert_eq!(config.refused(), None);
    }

    #[test]
    fn settings_that_redirect_the_connection_are_refused_with_a_remedy() {
        for keyword in ["bindaddress", "knownhostscommand", "proxyusefdpass", "addressfamily"] {
            let refused = HostConfig::for_test(&[(keyword, "x")]).refused().unwrap();
            assert!(refused.starts_with(keyword), "{refused}");
        }
        assert_eq!(HostConfig::for_test(&[("requesttty", "force"), ("sessiontype", "default")]).refused(), None);
        assert!(HostConfig::for_test(&[("requesttty", "false")]).refused().is_some());
    }
}
