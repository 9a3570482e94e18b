//! Where the kernel's files are: elsewhere in tests, and in containers that see their host's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cuesta_meters_report::Figure;
use serde::{Deserialize, Serialize};

use crate::kernel::Malformed;

/// The folders that are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Roots {
    pub proc: PathBuf,
    pub sys: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { proc: "/proc".into(), sys: "/sys".into() }
    }
}

impl Roots {
    /// A file below `/proc`, parsed.
    pub fn proc<T>(&self, file: &str, parse: impl FnOnce(&str) -> Result<T, Malformed>) -> Figure<T> {
        read(&self.proc.join(file), parse)
    }

    /// The folders where control groups of version 2 may be mounted, the usual one first.
    pub fn unified(&self) -> Option<PathBuf> {
        let mounts = ["fs/cgroup", "fs/cgroup/unified"].map(|mount| self.sys.join(mount));
        mounts.into_iter().find(|mount| mount.join("cgroup.controllers").exists())
    }

    /// The folder where a controller of version 1 is mounted.
    pub(crate) fn controller(&self, name: &str) -> Option<PathBuf> {
        let mounts = [name, "cpu,cpuacct", "cpuacct,cpu"].map(|mount| self.sys.join("fs/cgroup").join(mount));
        mounts.into_iter().find(|mount| mount.join("tasks").exists())
    }
}

/// A file, parsed; or why not.
pub(crate) fn read<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, Malformed>) -> Figure<T> {
    match fs::read(path) {
        Ok(bytes) => match parse(&String::from_utf8_lossy(&bytes)) {
            Ok(value) => Figure::plain(value),
            Err(error) => Figure::absent(error.to_string()),
        },
        Err(error) => Figure::absent(format!("{}: {}", path.display(), why(&error))),
    }
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "this kernel has no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "this user may not read it".to_owned(),
        _ => error.to_string(),
    }
}
