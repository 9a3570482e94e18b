//! Reads files that others wrote.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Reads a whole file of UTF-8; one that is longer than `most` bytes, or never ends, is refused when that many have been read.
///
/// # Errors
/// When the file cannot be read, is longer, or is not UTF-8. A named pipe is refused: reading it waits for a writer, and there may be none.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    if path.metadata()?.file_type().is_fifo() {
        return Err(io::Error::other("it is a named pipe"));
    }
    let mut text = String::new();
    File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("it is over {} MiB", most >> 20)));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_refused() {
        let error = read_text(Path::new("/dev/zero"), 1 << 20).expect_err("endless");
        assert_eq!(error.to_string(), "it is over 1 MiB");
        assert_eq!(read_text(Path::new("/dev/null"), 0).expect("empty"), "");
    }
}
