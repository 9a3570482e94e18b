//! The destination of a login: the URL, the users' table and OpenSSH's configuration, resolved into one.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use nix::unistd::{Uid, User};
use russh::MethodKind;

use super::algorithms::Algorithms;
use super::codes::CodeSource;
use super::config::{ConfigQuery, HostConfig};
use super::known_hosts;
use super::pattern::any_matches;
use super::target::{SshTarget, Trust};
use super::tokens::Tokens;
use crate::{Address, Login, SshError};

/// Everything that a login needs.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // Each is a keyword of the configuration.
pub(super) struct Destination {
    pub(super) address: Address,
    pub(super) route: Route,
    pub(super) user: String,
    pub(super) password: Option<String>,
    pub(super) codes: Option<CodeSource>,
    /// Key files to try, in order.
    pub(super) identities: Vec<PathBuf>,
    /// Certificates to try, besides those next to the key files.
    pub(super) certificates: Vec<PathBuf>,
    /// The key files were configured, not the default ones.
    pub(super) has_configured_keys: bool,
    /// Only these keys may be tried: the agent's other keys are not, and a missing file is an error.
    pub(super) only_these: bool,
    /// The agent's socket.
    pub(super) agent: Option<PathBuf>,
    /// The authentication methods that are not switched off, in the order in which they are tried.
    pub(super) methods: Vec<MethodKind>,
    pub(super) algorithms: Algorithms,
    pub(super) trust: Trust,
    /// Known hosts files; new hosts are written to the first.
    pub(super) known_hosts: Vec<PathBuf>,
    /// The host's name in the known hosts files.
    pub(super) known_as: String,
    /// The name that the host's certificate must contain.
    pub(super) principal: String,
    /// Whether a new host's name is stored as a hash.
    pub(super) hashes_names: bool,
    /// The command in place of a shell (`RemoteCommand`).
    pub(super) command: Option<String>,
    /// Environment variables that are sent.
    pub(super) environment: Vec<(String, String)>,
    /// The time between keep-alives and how many may go unanswered; none = Cuesta's default.
    pub(super) keep_alive: Option<(Duration, usize)>,
    /// `BatchMode`: do not ask for passphrases.
    pub(super) batch: bool,
    /// Settings of the configuration that Cuesta does not use.
    pub(super) unused: Vec<String>,
}

/// How the host is reached.
#[derive(Debug)]
pub(super) enum Route {
    Direct,
    /// Through a jump host, which is logged in to first.
    Jump(Box<Destination>),
    /// Through the standard input and output of a command.
    Command(String),
}

const USUAL_IDENTITIES: [&str; 3] = ["~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa"];
const USUAL_KNOWN: [&str; 2] = ["~/.ssh/known_hosts", "~/.ssh/known_hosts2"];
const SYSTEM_KNOWN: [&str; 2] = ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"];
/// Most jump hosts: more are probably a loop.
const MOST_JUMPS: usize = 8;

impl Destination {
    pub(super) fn new(target: &SshTarget, login: &Login) -> Result<Self, SshError> {
        let home = env::var_os("HOME").map(PathBuf::from);
        Self::at(target, login, home.as_deref(), 0)
    }

    /// `jumps`: how many jump hosts have led here so far.
    fn at(target: &SshTarget, login: &Login, home: Option<&Path>, jumps: usize) -> Result<Self, SshError> {
        let fault = |what: String| SshError::Config { host: target.host.clone(), what };
        let query = ConfigQuery::new(target, target.user.as_deref().or(login.user.as_deref()), home);
        let config = HostConfig::load(&query).map_err(fault)?;
        let mut destination = Self::resolve(target, login, &config, home)?;
        if let Some(jump) = config.if_set("proxyjump") {
            if jumps == MOST_JUMPS {
                return Err(fault(format!(
                    "it goes through more than {MOST_JUMPS} hosts: does ProxyJump lead in a loop?"
                )));
            }
            destination.route =
                Route::Jump(Box::new(Self::at(&last_jump_host(jump, target)?, &Login::default(), home, jumps + 1)?));
        }
        Ok(destination)
    }

    fn resolve(target: &SshTarget, login: &Login, config: &HostConfig, home: Option<&Path>) -> Result<Self, SshError> {
        let fault = |what: String| SshError::Config { host: target.host.clone(), what };
        if let Some(refused) = config.refused() {
            return Err(fault(refused));
        }
        let port = match config.value("port") {
            Some(port) => Some(port.parse().map_err(|_| fault(format!("\"{port}\" is no port")))?),
            None => None,
        };
        let user = target.user.clone().or_else(|| login.user.clone());
        let user = user.or_else(|| config.if_set("user").map(str::to_owned)).or_else(own_name);
        let user = user.ok_or_else(|| fault("no user is named: write ssh://USER@HOST".to_owned()))?;
        let host = config.value("hostname").unwrap_or(&target.host).to_owned();
        let address = Address { host, port: target.port.or(port).unwrap_or(22) };
        let alias = config.value("hostkeyalias").unwrap_or(&address.host).to_owned();
        let tokens = tokens(target, config, &address, &user, &alias, home);
        let path = |text: &str| tokens.path(text).map(PathBuf::from).map_err(fault);
        let paths = |texts: Vec<&str>| texts.into_iter().filter(|text| *text != "none").map(path).collect();
        let of_target: Vec<_> = target.identities.iter().map(|path| path.to_string_lossy()).collect();
        let named = config.all_if_set("identityfile");
        let accepts = matches!(config.if_set("stricthostkeychecking"), Some("accept-new" | "no" | "off" | "false"));
        let identities: Result<Vec<_>, _> = match (&named, of_target.is_empty()) {
            (_, false) => paths(of_target.iter().map(|path| &**path).collect()),
            (Some(named), true) => paths(named.clone()),
            (None, true) => paths(USUAL_IDENTITIES.to_vec()),
        };
        let only_these = !of_target.is_empty() || config.is_on("identitiesonly") == Some(true);
        let algorithms = Algorithms::configured(config).map_err(fault)?;
        let unused = config.unused().into_iter().chain(algorithms.unsupported.iter().cloned());
        let command = config.if_set("proxycommand").map(|command| tokens.text(command).map_err(fault)).transpose()?;
        Ok(Self {
            route: command.map_or(Route::Direct, Route::Command),
            password: login.password.clone(),
            codes: CodeSource::choose(target, login, &tokens).map_err(fault)?,
            identities: identities?,
            certificates: paths(config.all_if_set("certificatefile").unwrap_or_default())?,
            has_configured_keys: named.is_some() || !of_target.is_empty(),
            only_these,
            agent: agent(target, config).map(|socket| path(&socket)).transpose()?,
            methods: methods(config, login.password.is_some() && !only_these),
            trust: target.trust.unwrap_or(if accepts { Trust::AcceptNew } else { Trust::Strict }),
            known_hosts: paths(known_files(target, config).iter().map(String::as_str).collect())?,
            known_as: known_hosts::name(&alias, address.port),
            principal: alias.to_ascii_lowercase(),
            hashes_names: config.is_on("hashknownhosts") == Some(true),
            command: config.if_set("remotecommand").map(|command| tokens.text(command).map_err(fault)).transpose()?,
            environment: environment(config),
            keep_alive: keep_alive(config),
            batch: config.is_on("batchmode") == Some(true),
            unused: unused.map(|unused| format!("{}: {unused}", target.host)).collect(),
            algorithms,
            address,
            user,
        })
    }

    /// That the target names files of known hosts, and that none of them is here although unknown hosts are refused.
    pub(super) fn without_known_hosts(&self, target: &SshTarget) -> Option<String> {
        let named = !target.known_hosts.is_empty() && self.trust == Trust::Strict;
        let files: Vec<_> = self.known_hosts.iter().map(|file| file.display().to_string()).collect();
        (named && !self.known_hosts.iter().any(|file| file.exists())).then(|| {
            format!(
                "there is no file of known hosts {} here: copy it, or add ?known_hosts=accept-new",
                files.join(", ")
            )
        })
    }

    /// This destination and its jump hosts.
    pub(super) fn all(&self) -> Vec<&Self> {
        let mut destinations = vec![self];
        let mut last = self;
        while let Route::Jump(before) = &last.route {
            destinations.push(before);
            last = before;
        }
        destinations
    }
}

/// The last of the jump hosts as a target; those before it are its own jump hosts.
fn last_jump_host(jump: &str, target: &SshTarget) -> Result<SshTarget, SshError> {
    let (before, last) = jump.rsplit_once(',').map_or((None, jump), |(before, last)| (Some(before), last));
    let last = last.strip_prefix("ssh://").unwrap_or(last);
    let colons = last.rsplit_once('@').map_or(last, |(_, host)| host).matches(':').count();
    let hop = if colons > 1 && !last.contains('[') { bracketed(last) } else { last.to_owned() };
    let fault = |error| SshError::Config { host: target.host.clone(), what: format!("ProxyJump {jump}: {error}") };
    let hop: SshTarget = format!("//{hop}").parse().map_err(fault)?;
    Ok(SshTarget {
        config: target.config.clone(),
        jump: before.map(str::to_owned),
        without_agent: target.without_agent,
        ..hop
    })
}

/// Puts brackets around a bare IPv6 address, perhaps with a user before it.
fn bracketed(hop: &str) -> String {
    match hop.rsplit_once('@') {
        Some((user, host)) => format!("{user}@[{host}]"),
        None => format!("[{hop}]"),
    }
}

fn tokens(
    target: &SshTarget,
    config: &HostConfig,
    address: &Address,
    user: &str,
    alias: &str,
    home: Option<&Path>,
) -> Tokens {
    Tokens {
        home: home.map(|home| home.to_string_lossy().into_owned()).unwrap_or_default(),
        host: address.host.clone(),
        original_host: target.host.clone(),
        alias: alias.to_owned(),
        port: address.port,
        user: user.to_owned(),
        local_user: own_name().unwrap_or_default(),
        uid: Uid::current().as_raw(),
        machine: fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned(),
        jump: config.value("proxyjump").unwrap_or_default().to_owned(),
    }
}

/// The agent's socket, unless the agent is switched off.
fn agent(target: &SshTarget, config: &HostConfig) -> Option<String> {
    let of_environment = |name: &str| env::var(name).ok().filter(|path| !path.is_empty());
    match config.all_if_set("identityagent").and_then(|sockets| sockets.first().copied()) {
        _ if target.without_agent => None,
        Some("none") => None,
        None | Some("SSH_AUTH_SOCK") => of_environment("SSH_AUTH_SOCK"),
        Some(socket) => match socket.strip_prefix('$') {
            Some(name) if !name.starts_with('{') => of_environment(name),
            _ => Some(socket.to_owned()),
        },
    }
}

fn known_files(target: &SshTarget, config: &HostConfig) -> Vec<String> {
    if !target.known_hosts.is_empty() {
        return target.known_hosts.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    }
    let files = |keyword, usual: [&str; 2]| match config.all_if_set(keyword) {
        Some(set) => set.iter().flat_map(|files| files.split_whitespace()).map(str::to_owned).collect(),
        None => usual.map(str::to_owned).to_vec(),
    };
    [files("userknownhostsfile", USUAL_KNOWN), files("globalknownhostsfile", SYSTEM_KNOWN)].concat()
}

/// The variables of `SetEnv` and `SendEnv`; `SetEnv` takes precedence.
fn environment(config: &HostConfig) -> Vec<(String, String)> {
    let set = config.all_if_set("setenv").unwrap_or_default();
    let mut variables: Vec<_> = set
        .iter()
        .filter_map(|set| set.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let patterns = config.all_if_set("sendenv").unwrap_or_default();
    for (name, value) in env::vars() {
        if any_matches(patterns.iter().copied(), &name) && !variables.iter().any(|(set, _)| *set == name) {
            variables.push((name, value));
        }
    }
    variables
}

/// The authentication methods to try, in the order of `PreferredAuthentications` or of OpenSSH. A user with a password and no key
/// of its own tries the password first.
fn methods(config: &HostConfig, password_first: bool) -> Vec<MethodKind> {
    use MethodKind::{KeyboardInteractive, Password, PublicKey};
    let usual = if password_first {
        [KeyboardInteractive, Password, PublicKey]
    } else {
        [PublicKey, KeyboardInteractive, Password]
    };
    let mut methods: Vec<_> = match config.if_set("preferredauthentications") {
        Some(names) => {
            names.split(',').filter_map(|name| usual.into_iter().find(|method| <&str>::from(method) == name)).collect()
        }
        None => usual.to_vec(),
    };
    methods.retain(|method| {
        let keyword = match method {
            PublicKey => "pubkeyauthentication",
            Password => "passwordauthentication",
            _ => "kbdinteractiveauthentication",
        };
        config.is_on(keyword).unwrap_or(true)
    });
    methods
}

fn keep_alive(config: &HostConfig) -> Option<(Duration, usize)> {
    let interval = config.if_set("serveraliveinterval")?.parse().ok().filter(|seconds| *seconds > 0)?;
    Some((
        Duration::from_secs(interval),
        config.value("serveralivecountmax").and_then(|count| count.parse().ok()).unwrap_or(3),
    ))
}

/// The user who runs this process, as the system knows it (`getpwuid`): from `/etc/passwd`, LDAP, SSSD, … Looked up once,
/// because a directory service may be slow.
static OWN_USER: LazyLock<Option<User>> = LazyLock::new(|| User::from_uid(Uid::current()).ok().flatten());

fn own_name() -> Option<String> {
    OWN_USER.as_ref().map(|user| user.name.clone()).or_else(|| env::var("USER").ok())
}

/// The home directory as `ssh` finds it; it may differ from `HOME`.
pub(super) fn own_home() -> Option<&'static Path> {
    OWN_USER.as_ref().map(|user| user.dir.as_path())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn destination(url: &str, login: &Login, config: &[(&str, &str)]) -> Result<Destination, SshError> {
        let crate::Target::Ssh(target) = url.parse().unwrap() else { unreachable!() };
        Destination::resolve(&target, login, &HostConfig::for_test(config), Some(Path::new("/h")))
    }

    #[test]
    fn the_url_overrides_the_table_and_the_table_overrides_the_file() {
        let config = [("user", "file"), ("port", "7")];
        let table = Login { user: Some("table".to_owned()), ..Login::default() };
        let who = |url: &str, login: &Login| {
            let destination = destination(url, login, &config).unwrap();
            format!("{}@{}", destination.user, destination.address)
        };
        assert_eq!(who("ssh://url@h:9", &table), "url@h:9");
        assert_eq!(who("ssh://h", &table), "table@h:7");
        assert_eq!(who("ssh://h", &Login::default()), "file@h:7");
    }

    #[test]
    fn the_own_user_is_the_one_that_the_system_names() {
        let row = Command::new("getent").args(["passwd", &Uid::current().to_string()]).output().unwrap();
        let row = String::from_utf8(row.stdout).unwrap();
        let fields: Vec<_> = row.trim_end().split(':').collect();
        assert_eq!((own_name().as_deref(), own_home()), (Some(fields[0]), Some(Path::new(fields[5]))));
    }

    #[test]
    fn host_keys_are_strict_by_default() {
        let by = |url: &str, strict: &str| {
            destination(url, &Login::default(), &[("stricthostkeychecking", strict)]).unwrap().trust
        };
        assert_eq!(destination("ssh://h", &Login::default(), &[]).unwrap().trust, Trust::Strict);
        assert_eq!(by("ssh://h", "ask"), Trust::Strict);
        assert_eq!(by("ssh://h", "accept-new"), Trust::AcceptNew);
        assert_eq!(by("ssh://h?known_hosts=strict", "false"), Trust::Strict);
        assert_eq!(by("ssh://h?known_hosts=accept-new", "true"), Trust::AcceptNew);
    }

    #[test]
    fn paths_expand_the_home_folder_and_tokens() {
        let url = "ssh://joe@h?identity=~/k-%25h-%25r&known_hosts=/x";
        let destination = destination(url, &Login::default(), &[("hostname", "h.example")]).unwrap();
        assert_eq!(destination.identities, [PathBuf::from("/h/k-h.example-joe")]);
        assert_eq!((destination.only_these, destination.known_hosts), (true, vec![PathBuf::from("/x")]));
    }

    #[test]
    fn the_tokens_of_a_proxy_command_are_expanded() {
        let config = [("proxycommand", "nc -x p %h %p"), ("hostname", "10.0.0.1"), ("port", "2222")];
        let destination = destination("ssh://h", &Login::default(), &config).unwrap();
        assert!(
            matches!(&destination.route, Route::Command(command) if command == "nc -x p 10.0.0.1 2222"),
            "{:?}",
            destination.route
        );
        let error = super::tests::destination("ssh://h", &Login::default(), &[("proxycommand", "nc %T")]).unwrap_err();
        assert_eq!(error.failure().name(), "ssh-config");
    }

    #[test]
    fn jump_hosts_are_chained() {
        let crate::Target::Ssh(target) = "ssh://h?config=/c&agent=off".parse().unwrap() else { unreachable!() };
        let last = last_jump_host("one,ann@two:2222", &target).unwrap();
        assert_eq!((last.host.as_str(), last.user.as_deref(), last.port), ("two", Some("ann"), Some(2222)));
        assert_eq!((last.jump.as_deref(), last.config, last.without_agent), (Some("one"), target.config.clone(), true));
        assert_eq!(last_jump_host("joe@fe80::1", &target).unwrap().host, "fe80::1");
        assert!(last_jump_host("-oProxyCommand=x", &target).is_err());
    }
}
