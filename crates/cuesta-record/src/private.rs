//! Files and folders that only their owner may read: records tell of hosts and of what people see there.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Options with which a file that does not exist yet gets the mode 0600.
#[must_use]
pub fn private_options() -> OpenOptions {
    File::options().mode(0o600).clone()
}

/// Makes or empties a file.
pub fn private_file(path: &Path) -> io::Result<File> {
    private_options().write(true).create(true).truncate(true).open(path)
}

/// Makes a file with this content.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    private_file(path)?.write_all(content)
}

/// Makes a folder, and those above it that do not exist, with the mode 0700.
pub fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
