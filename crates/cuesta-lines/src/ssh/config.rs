//! What `~/.ssh/config` says of a host. A reader of its own: of the crates that read it, one knows neither `=` nor
//! `Include` nor `IdentitiesOnly`, the other brings six more for eight words.
//!
//! The first value of a word counts, as in OpenSSH; words that are not about who, where and which key are passed over, and so
//! are `Match` blocks other than `Match all`.

use std::fs;
use std::path::{Path, PathBuf};

use super::pattern::{any_matches, matches};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Found {
    pub(super) host_name: Option<String>,
    pub(super) port: Option<String>,
    pub(super) user: Option<String>,
    pub(super) identity_files: Vec<String>,
    pub(super) identities_only: Option<String>,
    pub(super) identity_agent: Option<String>,
    pub(super) known_hosts: Option<Vec<String>>,
    pub(super) global_known_hosts: Option<Vec<String>>,
    pub(super) strict: Option<String>,
    pub(super) key_alias: Option<String>,
    /// A way through another host, which is not gone.
    pub(super) through: Option<String>,
}

/// How deep files may include each other.
const DEPTH: usize = 16;

impl Found {
    /// What the user's file and the system's say of `host`; nothing where there is none.
    pub(super) fn of(host: &str, home: Option<&Path>) -> Self {
        let mut found = Self::default();
        let user = home.map(|home| home.join(".ssh/config"));
        for path in user.into_iter().chain([PathBuf::from("/etc/ssh/ssh_config")]) {
            let folder = path.parent().map(Path::to_owned).unwrap_or_default();
            if let Ok(text) = fs::read_to_string(&path) {
                found.read(&text, host, &Origin { folder: &folder, home, depth: 0 });
            }
        }
        found
    }

    fn read(&mut self, text: &str, host: &str, origin: &Origin<'_>) {
        let mut meant = true;
        for row in text.lines() {
            let words = words(row);
            let Some((keyword, values)) = words.split_first() else { continue };
            match keyword.to_ascii_lowercase().as_str() {
                "host" => meant = any_matches(values.iter().map(String::as_str), host),
                "match" => meant = values.len() == 1 && values[0].eq_ignore_ascii_case("all"),
                "include" if meant && origin.depth < DEPTH => {
                    values.iter().flat_map(|value| origin.files(value)).for_each(|text| {
                        self.read(&text, host, &Origin { depth: origin.depth + 1, ..*origin });
                    });
                }
                keyword if meant => self.take(keyword, values),
                _ => {}
            }
        }
    }

    fn take(&mut self, keyword: &str, values: &[String]) {
        let Some(value) = values.first() else { return };
        let slot = match keyword {
            "hostname" => &mut self.host_name,
            "port" => &mut self.port,
            "user" => &mut self.user,
            "identitiesonly" => &mut self.identities_only,
            "identityagent" => &mut self.identity_agent,
            "stricthostkeychecking" => &mut self.strict,
            "hostkeyalias" => &mut self.key_alias,
            "proxyjump" | "proxycommand" => &mut self.through,
            "identityfile" => return self.identity_files.push(value.clone()),
            "userknownhostsfile" => return put(&mut self.known_hosts, values.to_vec()),
            "globalknownhostsfile" => return put(&mut self.global_known_hosts, values.to_vec()),
            _ => return,
        };
        put(slot, value.clone());
    }
}

/// The first value counts.
fn put<T>(slot: &mut Option<T>, value: T) {
    slot.get_or_insert(value);
}

/// Where a file stands that includes others.
#[derive(Clone, Copy)]
struct Origin<'a> {
    folder: &'a Path,
    home: Option<&'a Path>,
    depth: usize,
}

impl Origin<'_> {
    /// The texts that an `Include` means, in the order of their names; a pattern only in the last part of the path.
    fn files(&self, value: &str) -> Vec<String> {
        let path = match (value.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.folder.join(value),
        };
        let (Some(folder), Some(pattern)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
            return Vec::new();
        };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries
            .filter(|entry| entry.file_name().to_str().is_some_and(|name| matches(pattern, name)))
            .map(|entry| entry.path())
            .collect();
        names.sort();
        names.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
    }
}

/// The words of a row: a keyword, perhaps `=`, values, perhaps in quotes; none of a comment.
fn words(row: &str) -> Vec<String> {
    let row = row.trim();
    let end = row.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(row.len());
    let (keyword, rest) = row.split_at(end);
    if keyword.is_empty() || keyword.starts_with('#') {
        return Vec::new();
    }
    let rest = rest.trim_start();
    let mut rest = rest.strip_prefix('=').unwrap_or(rest).trim_start();
    let mut words = vec![keyword.to_owned()];
    while !rest.is_empty() && !rest.starts_with('#') {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, host: &str, folder: &Path) -> Found {
        let mut found = Found::default();
        found.read(text, host, &Origin { folder, home: None, depth: 0 });
        found
    }

    #[test]
    fn the_first_value_of_a_word_counts() {
        let text = "User everybody\nHost b* !bad\n  HostName = 10.0.0.1 # why\n\tport=2222\nUser joe\n\
                    IdentityFile \"~/my keys/a\"\nHost *\nIdentityFile /b\nPort 1\nIdentitiesOnly yes\nProxyJump none";
        let joe = found(text, "bastion", Path::new("/"));
        assert_eq!((joe.host_name.as_deref(), joe.port.as_deref()), (Some("10.0.0.1"), Some("2222")));
        assert_eq!((joe.user.as_deref(), joe.identities_only.as_deref()), (Some("everybody"), Some("yes")));
        assert_eq!(joe.identity_files, ["~/my keys/a", "/b"]);
        assert_eq!(joe.through.as_deref(), Some("none"));
        let bad = found(text, "bad", Path::new("/"));
        assert_eq!((bad.host_name, bad.port.as_deref()), (None, Some("1")));
    }

    #[test]
    fn files_are_included_where_they_are_meant_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("d")).unwrap();
        fs::write(folder.path().join("d/1.conf"), "Host a\nUser one\nHost *\nInclude d/*.conf").unwrap();
        fs::write(folder.path().join("d/2.conf"), "User two").unwrap();
        assert_eq!(found("Include d/*.conf", "a", folder.path()).user.as_deref(), Some("one"));
        assert_eq!(found("Include d/*.conf", "b", folder.path()).user.as_deref(), Some("two"));
        assert_eq!(found("Host b\nInclude d/*.conf", "a", folder.path()).user, None);
    }

    #[test]
    fn odd_rows_are_passed_over() {
        let text = "\n#Host x\nHost\nPort\nMatch exec true\nUser no\nMatch all\n= =\nUser \"yes";
        assert_eq!(found(text, "h", Path::new("/")), Found { user: Some("yes".to_owned()), ..Found::default() });
    }
}
