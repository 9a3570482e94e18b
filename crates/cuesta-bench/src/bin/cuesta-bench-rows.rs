//! The smallest program that can be a service of `telnetd`: it answers each row of its terminal with 150 characters, with one `read`
//! and one `write`.

use std::io::{stdin, stdout};

use rustix::io::{read, write};

/// 150 characters on the line: the terminal writes each line feed as CR LF.
fn answer() -> Vec<u8> {
    let row = [b'.'; 72];
    [&row[..], b"\n", &row, b"\n", b"> "].concat()
}

fn main() {
    let answer = answer();
    let mut row = [0; 256];
    // A write that fails has no reader any more; then the next read fails as well.
    let _ = write(stdout(), b"> ");
    // A terminal's read ends at a row's end.
    while let Ok(1..) = read(stdin(), &mut row) {
        let _ = write(stdout(), &answer);
    }
}
