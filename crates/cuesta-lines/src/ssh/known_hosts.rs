//! Known hosts files in OpenSSH's format (`sshd(8)`).
//!
//! Stricter than OpenSSH in one point: a host that is known only by a key of another type counts as changed, not as new.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use russh::keys::{Algorithm, PublicKey, parse_public_key_base64};
use rustix::fs::{FlockOperation, flock};

use super::pattern::any_matches;

/// Whether a host's key can be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HostKeyStatus {
    /// It is the known key of the host.
    Known,
    /// The host is in no file.
    Unknown,
    /// The host is known by another key: in which file and row.
    Changed(PathBuf, usize),
    /// The key is revoked: in which file and row.
    Revoked(PathBuf, usize),
}

/// One row of a file that matches the host.
pub(super) struct KnownHost {
    pub(super) row: usize,
    pub(super) kind: EntryKind,
    pub(super) key: PublicKey,
}

/// The role of a row's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// The host's key.
    Host,
    /// A certificate authority.
    Authority,
    /// A revoked key.
    Revoked,
}

/// The name of a host in the files.
pub(super) fn name(host: &str, port: u16) -> String {
    let host = host.to_ascii_lowercase();
    if port == 22 { host } else { format!("[{host}]:{port}") }
}

/// Checks a host's key against all `files`.
pub(super) fn judge(files: &[PathBuf], name: &str, key: &PublicKey) -> HostKeyStatus {
    let mut status = HostKeyStatus::Unknown;
    for file in files {
        for entry in entries(file, name) {
            let same = entry.key.key_data() == key.key_data();
            match (entry.kind, same, &status) {
                (EntryKind::Revoked, true, _) => return HostKeyStatus::Revoked(file.clone(), entry.row),
                (EntryKind::Host, true, _) => status = HostKeyStatus::Known,
                (EntryKind::Host, false, HostKeyStatus::Unknown) => {
                    status = HostKeyStatus::Changed(file.clone(), entry.row);
                }
                _ => {}
            }
        }
    }
    status
}

/// The types of the host's known keys, which are requested first.
pub(super) fn algorithms(files: &[PathBuf], name: &str) -> Vec<Algorithm> {
    let entries = files.iter().flat_map(|file| entries(file, name)).filter(|entry| entry.kind == EntryKind::Host);
    entries.map(|entry| entry.key.algorithm()).collect()
}

/// Stores a new host's key, unless another process has done so meanwhile. Returns the key's status after that.
/// `hashed`: stores the name as a hash, so that the file does not reveal which hosts are known.
pub(super) fn learn(files: &[PathBuf], name: &str, key: &PublicKey, hashed: bool) -> io::Result<HostKeyStatus> {
    let path = files.first().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no file to write to"))?;
    if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    // Hundreds of users in several processes may connect to a new host at the same moment.
    flock(&file, FlockOperation::LockExclusive)?;
    let status = judge(files, name, key);
    if status != HostKeyStatus::Unknown {
        return Ok(status);
    }
    let begins_a_row = fs::read(path).is_ok_and(|text| text.last().is_none_or(|last| *last == b'\n'));
    let written = key.to_openssh().map_err(io::Error::other)?;
    let key = written.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let name = if hashed { hash(name)? } else { name.to_owned() };
    let row = format!("{}{name} {key}\n", if begins_a_row { "" } else { "\n" });
    file.write_all(row.as_bytes())?;
    Ok(HostKeyStatus::Known)
}

/// The rows of a file that match a host; none if it cannot be read.
pub(super) fn entries(file: &Path, name: &str) -> Vec<KnownHost> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().enumerate().filter_map(|(number, row)| entry(number + 1, row, name)).collect()
}

fn entry(row: usize, text: &str, name: &str) -> Option<KnownHost> {
    let mut words = text.split_whitespace();
    let mut hosts = words.next().filter(|word| !word.starts_with('#'))?;
    let kind = match hosts {
        "@revoked" => EntryKind::Revoked,
        "@cert-authority" => EntryKind::Authority,
        _ => EntryKind::Host,
    };
    if kind != EntryKind::Host {
        hosts = words.next()?;
    }
    if hosts.starts_with('@') || !names(hosts, name) {
        return None;
    }
    let key = parse_public_key_base64(words.nth(1)?).ok()?;
    Some(KnownHost { row, kind, key })
}

/// Whether a row's host field matches a name.
fn names(hosts: &str, name: &str) -> bool {
    match hosts.strip_prefix("|1|") {
        Some(hashed) => is_hash_of(hashed, name),
        None => any_matches(hosts.split(','), name),
    }
}

/// `|1|SALT|HASH` of a name.
fn hash(name: &str) -> io::Result<String> {
    let mut salt = [0; 20];
    SystemRandom::new().fill(&mut salt).map_err(|_| io::Error::other("no random numbers can be had"))?;
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &salt);
    Ok(format!("|1|{}|{}", BASE64.encode(&salt), BASE64.encode(hmac::sign(&key, name.as_bytes()).as_ref())))
}

/// `SALT|HASH`, by HMAC-SHA1.
fn is_hash_of(hashed: &str, name: &str) -> bool {
    let Some((Ok(salt), Ok(hash))) =
        hashed.split_once('|').map(|(salt, hash)| (BASE64.decode(salt.as_bytes()), BASE64.decode(hash.as_bytes())))
    else {
        return false;
    };
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &salt);
    hmac::verify(&key, name.as_bytes(), &hash).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 2] = [
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA6rWI3G1sz07DnfFlrouTcysQlj2P+jpNSOEWD9OJ3X",
    ];

    fn key(number: usize) -> PublicKey {
        PublicKey::from_openssh(KEYS[number]).unwrap()
    }

    fn judged(text: &str, host: &str, port: u16) -> HostKeyStatus {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known_hosts");
        fs::write(&path, text).unwrap();
        match judge(&[path], &name(host, port), &key(0)) {
            HostKeyStatus::Changed(_, row) => HostKeyStatus::Changed(PathBuf::new(), row),
            HostKeyStatus::Revoked(_, row) => HostKeyStatus::Revoked(PathBuf::new(), row),
            status => status,
        }
    }

    #[test]
    fn names_ports_patterns_and_markers_are_distinguished() {
        let [mine, other] = KEYS;
        assert_eq!(judged(&format!("a,b {mine}"), "B", 22), HostKeyStatus::Known);
        assert_eq!(judged(&format!("a,b\t{mine} a comment"), "b", 2222), HostKeyStatus::Unknown);
        assert_eq!(judged(&format!("[b]:2222 {mine}"), "b", 2222), HostKeyStatus::Known);
        assert_eq!(judged(&format!("*.net,!x.net {mine}"), "y.net", 22), HostKeyStatus::Known);
        assert_eq!(judged(&format!("*.net,!x.net {mine}"), "x.net", 22), HostKeyStatus::Unknown);
        assert_eq!(judged(&format!("# {mine}\n\nb {other}"), "b", 22), HostKeyStatus::Changed(PathBuf::new(), 3));
        assert_eq!(judged(&format!("b {other}\nb {mine}"), "b", 22), HostKeyStatus::Known);
        assert_eq!(judged(&format!("b {mine}\n@revoked * {mine}"), "b", 22), HostKeyStatus::Revoked(PathBuf::new(), 2));
        assert_eq!(judged(&format!("@cert-authority b {mine}"), "b", 22), HostKeyStatus::Unknown);
        assert_eq!(judged("b ssh-ed25519 garbage\n|1|x|y z w\n@revoked", "b", 22), HostKeyStatus::Unknown);
    }

    #[test]
    fn a_hashed_name_is_known() {
        let salt = [7; 20];
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &salt), b"[h]:2222");
        let row = format!("|1|{}|{} {}", BASE64.encode(&salt), BASE64.encode(tag.as_ref()), KEYS[0]);
        assert_eq!(judged(&row, "h", 2222), HostKeyStatus::Known);
        assert_eq!(judged(&row, "h", 22), HostKeyStatus::Unknown);
    }

    #[test]
    fn a_learnt_key_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let files = [folder.path().join("deep/known_hosts")];
        fs::create_dir(folder.path().join("deep")).unwrap();
        fs::write(&files[0], format!("other {}", KEYS[1])).unwrap();
        for _ in 0..2 {
            assert_eq!(learn(&files, "h", &key(0), false).unwrap(), HostKeyStatus::Known);
        }
        let text = fs::read_to_string(&files[0]).unwrap();
        assert_eq!(text, format!("other {}\nh {}\n", KEYS[1], KEYS[0]));
        assert!(matches!(learn(&files, "h", &key(1), false).unwrap(), HostKeyStatus::Changed(_, 2)));
        assert_eq!(algorithms(&files, "h"), [Algorithm::Ed25519]);
    }
}
