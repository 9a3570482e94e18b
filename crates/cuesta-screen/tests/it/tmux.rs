//! Compares the screen with tmux: text and cursor after the same streams, which real programs sent.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cuesta_screen::vt::Screen;

/// The program in the pane. It prints one piece and queries the terminal, whose reply confirms that the piece is drawn. Then it
/// signals the test and waits until the test has captured the screen.
const PANE: &str = r"
stty raw -echo
for piece in $PIECES/*; do
    cat $piece
    printf '\033[5n'
    while IFS= read -r -d n answer; do case $answer in *'[0') break ;; esac done
    tmux wait-for -S drawn-${piece##*/}
    tmux wait-for seen-${piece##*/}
done
";

/// A tmux server, killed when it is dropped.
struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    fn start(folder: &Path, (columns, rows): (u16, u16)) -> Self {
        let tmux = Self { socket: folder.join("tmux") };
        let size = [columns.to_string(), rows.to_string()];
        let pieces = format!("PIECES={}", folder.join("pieces").display());
        let new = ["new-session", "-d", "-x", &size[0], "-y", &size[1], "-e", &pieces, "bash", "-c", PANE];
        // Without the status bar the pane has all rows.
        tmux.run(
            &["start-server", ";", "set-option", "-g", "status", "off", ";"].iter().chain(&new).collect::<Vec<_>>(),
        );
        tmux
    }

    fn run<S: AsRef<std::ffi::OsStr>>(&self, words: &[S]) -> String {
        let mut command = Command::new("tmux");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LC_ALL", "C.UTF-8");
        command.env("TERM", "xterm-256color").args(["-u", "-f", "/dev/null", "-S"]).arg(&self.socket).args(words);
        let Output { status, stdout, stderr } = command.output().expect("tmux is installed: ./scripts/setup --tests");
        assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).expect("UTF-8")
    }

    /// Rows and cursor (row, column) when piece `number` has been drawn.
    fn capture(&self, number: usize) -> (Vec<String>, (u16, u16)) {
        self.run(&["wait-for", &format!("drawn-{number:02}")]);
        let rows = self.run(&["capture-pane", "-p"]).lines().map(|row| row.trim_end().to_owned()).collect();
        let cursor = self.run(&["display-message", "-p", "#{cursor_y} #{cursor_x}"]);
        let (row, column) = cursor.trim().split_once(' ').expect("two numbers");
        self.run(&["wait-for", "-S", &format!("seen-{number:02}")]);
        (rows, (row.parse().expect("a number"), column.parse().expect("a number")))
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

/// Where a stream is cut into pieces: evenly, each before an escape sequence.
fn cuts(stream: &[u8], places: usize) -> Vec<usize> {
    let mut cuts: Vec<_> = (1..places)
        .filter_map(|place| {
            let from = stream.len() * place / places;
            Some(from + stream[from..].iter().position(|byte| *byte == 0x1b)?)
        })
        .collect();
    cuts.push(stream.len());
    cuts.dedup();
    cuts
}

/// Compares the screens after each piece of a stream, and returns the number of pieces.
fn compare(name: &str, stream: &[u8], size: (u16, u16)) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let pieces = folder.path().join("pieces");
    fs::create_dir(&pieces).expect("a folder");
    let cuts = cuts(stream, 20);
    let mut from = 0;
    for (number, cut) in cuts.iter().enumerate() {
        fs::write(pieces.join(format!("{number:02}")), &stream[from..*cut]).expect("a file");
        from = *cut;
    }
    let tmux = Tmux::start(folder.path(), size);
    let mut screen = Screen::new(size.0, size.1);
    let mut from = 0;
    for (number, cut) in cuts.iter().enumerate() {
        // In small reads, cut anywhere.
        stream[from..*cut].chunks(7).for_each(|read| screen.feed(read));
        screen.feed(b"\x1b[5n");
        from = *cut;
        let (rows, cursor) = tmux.capture(number);
        let ours: Vec<_> = screen.rows().collect();
        assert_eq!(ours.join("\n"), rows.join("\n"), "{name}, checkpoint {number} at {cut}");
        // Behind a full row tmux names the column behind the last one, unless autowrap was off.
        let cursor = (cursor.0, cursor.1.min(size.0 - 1));
        assert_eq!(screen.cursor(), cursor, "{name}, checkpoint {number} at {cut}");
    }
    cuts.len()
}

#[test]
fn recorded_streams_show_what_tmux_shows() {
    let streams = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/streams");
    let mut checkpoints = 0;
    let mut names: Vec<_> =
        fs::read_dir(streams).expect("streams").map(|entry| entry.expect("a file").path()).collect();
    names.sort();
    for path in names {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        let (columns, rows) = name.rsplit_once('-').and_then(|(_, size)| size.split_once('x')).expect("a size");
        let size = (columns.parse().expect("columns"), rows.parse().expect("rows"));
        checkpoints += compare(&name, &fs::read(&path).expect("a stream"), size);
    }
    assert!(checkpoints >= 150, "only {checkpoints} checkpoints");
}
