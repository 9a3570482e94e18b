//! Where a login goes and with what: the URL, the users' table and `~/.ssh/config` made into one.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::getuid;

use super::config::Found;
use super::known;
use super::target::{SshTarget, Trust};
use crate::{Address, Login, SshError};

/// All that a login needs to know.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) address: Address,
    pub(super) user: String,
    pub(super) password: Option<String>,
    /// Key files to try, in order.
    pub(super) identities: Vec<PathBuf>,
    /// Only those were named: the agent's other keys are not tried, and a file that is missing is a fault.
    pub(super) only_these: bool,
    /// The agent's socket.
    pub(super) agent: Option<PathBuf>,
    pub(super) trust: Trust,
    /// Files of known hosts; new ones are written to the first.
    pub(super) known_hosts: Vec<PathBuf>,
    /// The name under which the host is known.
    pub(super) known_as: String,
}

const USUAL_IDENTITIES: [&str; 3] = [".ssh/id_ed25519", ".ssh/id_ecdsa", ".ssh/id_rsa"];
const USUAL_KNOWN: [&str; 2] = ["~/.ssh/known_hosts", "~/.ssh/known_hosts2"];
const SYSTEM_KNOWN: [&str; 2] = ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"];

impl Place {
    pub(super) fn new(target: &SshTarget, login: &Login) -> Result<Self, SshError> {
        let home = env::var_os("HOME").map(PathBuf::from);
        let found = Found::of(&target.host, home.as_deref());
        Self::from_found(target, login, found, home.as_deref())
    }

    fn from_found(target: &SshTarget, login: &Login, found: Found, home: Option<&Path>) -> Result<Self, SshError> {
        let fault = |what: String| SshError::Config { host: target.host.clone(), what };
        if let Some(way) = found.through.filter(|way| !way.eq_ignore_ascii_case("none")) {
            return Err(fault(format!(
                "it goes through another host ({way}), which Cuesta does not: open a way with \
                `ssh -L` and give its address, or write `ProxyJump none`"
            )));
        }
        let port = match &found.port {
            Some(port) => Some(port.parse().map_err(|_| fault(format!("\"{port}\" is no port")))?),
            None => None,
        };
        let user = target.user.clone().or_else(|| login.user.clone()).or(found.user).or_else(local_user);
        let user = user.ok_or_else(|| fault("nobody is named: write ssh://USER@HOST".to_owned()))?;
        let host = found.host_name.map_or_else(|| target.host.clone(), |name| name.replace("%h", &target.host));
        let address = Address { host, port: target.port.or(port).unwrap_or(22) };
        let expand = |text: &str| expanded(text, home, &address, &user);
        let named = !target.identities.is_empty();
        let identities = match (named, found.identity_files.is_empty()) {
            (true, _) => target.identities.iter().map(|path| expand(&path.to_string_lossy())).collect(),
            (false, false) => found.identity_files.iter().map(|path| expand(path)).collect(),
            (false, true) => USUAL_IDENTITIES.iter().filter_map(|path| Some(home?.join(path))).collect(),
        };
        let agent = agent(target, found.identity_agent.as_deref()).map(|path| expand(&path));
        let accepts = matches!(found.strict.as_deref(), Some("accept-new" | "no" | "off"));
        let known_as = known::name(found.key_alias.as_deref().unwrap_or(&address.host), address.port);
        let known_hosts = if target.known_hosts.is_empty() {
            let users = found.known_hosts.unwrap_or_else(|| USUAL_KNOWN.map(str::to_owned).to_vec());
            let systems = found.global_known_hosts.unwrap_or_else(|| SYSTEM_KNOWN.map(str::to_owned).to_vec());
            users.iter().chain(&systems).filter(|path| *path != "none").map(|path| expand(path)).collect()
        } else {
            target.known_hosts.iter().map(|path| expand(&path.to_string_lossy())).collect()
        };
        Ok(Self {
            password: login.password.clone(),
            only_these: named || found.identities_only.is_some_and(|only| only.eq_ignore_ascii_case("yes")),
            trust: target.trust.unwrap_or(if accepts { Trust::AcceptNew } else { Trust::Strict }),
            address,
            user,
            identities,
            agent,
            known_hosts,
            known_as,
        })
    }
}

/// The agent's socket, unless it is not to be asked.
fn agent(target: &SshTarget, configured: Option<&str>) -> Option<String> {
    let of_environment = || env::var("SSH_AUTH_SOCK").ok().filter(|path| !path.is_empty());
    match configured {
        _ if target.without_agent => None,
        Some("none") => None,
        None | Some("SSH_AUTH_SOCK") => of_environment(),
        Some(path) => Some(path.to_owned()),
    }
}

/// `~` and the tokens of `ssh_config(5)` that make sense here.
fn expanded(text: &str, home: Option<&Path>, address: &Address, user: &str) -> PathBuf {
    let home = home.map(|home| home.to_string_lossy().into_owned()).unwrap_or_default();
    let text = match text.strip_prefix("~/") {
        Some(rest) => format!("{home}/{rest}"),
        None => text.to_owned(),
    };
    let mut path = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, if c == '%' { rest.next() } else { None }) {
            ('%', Some('d')) => path.push_str(&home),
            ('%', Some('h')) => path.push_str(&address.host),
            ('%', Some('p')) => path.push_str(&address.port.to_string()),
            ('%', Some('r')) => path.push_str(user),
            ('%', Some('u')) => path.push_str(&local_user().unwrap_or_default()),
            ('%', Some(other)) => path.extend(Some('%').filter(|_| other != '%').into_iter().chain([other])),
            (c, _) => path.push(c),
        }
    }
    path.into()
}

/// Who runs this.
fn local_user() -> Option<String> {
    let uid = getuid().as_raw().to_string();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mine = users.lines().find(|row| row.split(':').nth(2) == Some(&uid)).and_then(|row| row.split(':').next());
    mine.map(str::to_owned).or_else(|| env::var("USER").ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str, login: &Login, found: Found) -> Result<Place, SshError> {
        let crate::Target::Ssh(target) = url.parse().unwrap() else { unreachable!() };
        Place::from_found(&target, login, found, Some(Path::new("/h")))
    }

    #[test]
    fn the_url_comes_before_the_table_and_that_before_the_file() {
        let found = Found { user: Some("file".to_owned()), port: Some("7".to_owned()), ..Found::default() };
        let table = Login { user: Some("table".to_owned()), password: None };
        let who = |url: &str, login: &Login| {
            let place = place(url, login, found.clone()).unwrap();
            format!("{}@{}", place.user, place.address)
        };
        assert_eq!(who("ssh://url@h:9", &table), "url@h:9");
        assert_eq!(who("ssh://h", &table), "table@h:7");
        assert_eq!(who("ssh://h", &Login::default()), "file@h:7");
    }

    #[test]
    fn strict_unless_somebody_asked_for_more() {
        let by = |url: &str, strict: Option<&str>| {
            let found = Found { strict: strict.map(str::to_owned), ..Found::default() };
            place(url, &Login::default(), found).unwrap().trust
        };
        assert_eq!(by("ssh://h", None), Trust::Strict);
        assert_eq!(by("ssh://h", Some("ask")), Trust::Strict);
        assert_eq!(by("ssh://h", Some("accept-new")), Trust::AcceptNew);
        assert_eq!(by("ssh://h?known_hosts=strict", Some("no")), Trust::Strict);
        assert_eq!(by("ssh://h?known_hosts=accept-new", Some("yes")), Trust::AcceptNew);
    }

    #[test]
    fn paths_are_as_people_write_them() {
        let found = Found { host_name: Some("%h.example".to_owned()), ..Found::default() };
        let place = place("ssh://joe@h?identity=~/k-%25h-%25r&known_hosts=/x", &Login::default(), found).unwrap();
        assert_eq!(place.identities, [PathBuf::from("/h/k-h.example-joe")]);
        assert_eq!((place.only_these, place.known_hosts), (true, vec![PathBuf::from("/x")]));
    }

    #[test]
    fn a_way_through_another_host_is_refused_with_a_remedy() {
        let found = Found { through: Some("bastion".to_owned()), ..Found::default() };
        let error = place("ssh://h", &Login::default(), found).unwrap_err();
        assert_eq!(error.name(), "ssh-config");
        assert!(error.to_string().contains("ssh -L"), "{error}");
    }
}
