//! Real programs, played on a terminal whose screen is drawn here and by xterm at once: after each input both show the same. Where
//! xterm.js is at hand, it draws what they sent too.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};

use cuesta_screen::vt::Screen;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tempfile::TempDir;

use crate::xterm::{Display, Shown, Xterm};
use crate::xterm_js::XtermJs;

/// A program is taken to wait for input when it has sent nothing for this long. If it has not, less is compared at once.
const QUIET: Timespec = Timespec { tv_sec: 0, tv_nsec: 150_000_000 };

/// Programs and their inputs. The last one ends the program.
const PROGRAMS: [(&str, &[&str]); 41] = [
    ("bash --norc --noprofile -i", &["ls /etc | head -30\r", "echo hello\x1b[D\x1b[D\x1b[DX\r", "\x12ls\r", "exit\r"]),
    ("dash -i", &["ls -l /\r", "exit\r"]),
    ("zsh -f -i", &["ls /etc | head\r", "echo hel\t\x1b[D\x1b[DX\r", "\x1b[A\r", "exit\r"]),
    ("fish --no-config", &["ls /et", "c | head\r", "echo a b\x1b[DX\r", "\x1b[A\r", "exit\r"]),
    (
        "vim -n -i NONE -u NONE /etc/services",
        &["\x06\x06", "ihello\x1b", ":set nu\r", "/tcp\r", "ddp", ":vsp\r", ":qa!\r"],
    ),
    ("nvim -n -i NONE -u NONE /etc/services", &["\x06\x06", "ihello\x1b", ":set nu\r", "/tcp\r", ":sp\r", ":qa!\r"]),
    ("nano -I /etc/services", &["hello\r", "\x16", "\x17tcp\r", "\x0b\x15", "\x18", "n"]),
    ("emacs -nw -Q /etc/services", &["hello\r", "\x16", "\x13tcp\r", "\x182", "\x18\x03", "n", "yes\r"]),
    ("joe /etc/services", &["hello\r", "\x16", "\x0bh", "\x03", "y"]),
    ("ne /etc/services", &["hello\r", "\x1b[6~", "\x1b", "\x11", "y"]),
    ("mg /etc/services", &["hello\r", "\x16", "\x13tcp\r", "\x182", "\x18\x03", "n", "yes\r"]),
    ("jed /etc/services", &["hello\r", "\x16", "\x182", "\x18\x03", "n", "y"]),
    ("micro /etc/services", &["hello\r", "\x1b[6~", "\x05help\r", "\x11", "\x11", "n"]),
    ("less /etc/services", &[" ", "/tcp\r", "G", "b", "h", "q", "q"]),
    ("more /etc/services", &[" ", "\r", "q"]),
    ("watch -n 100 ls -l /etc", &["\x03"]),
    ("man bash", &[" ", "/bash\r", "G", "q"]),
    ("top -d 100", &["1", "c", "h", "q", "q"]),
    ("htop -d 100", &["\x1b[B", "t", "h", " ", "q"]),
    ("mc /etc /usr", &["\t", "\x1b[B\x1b[B", "\x1bOR", "\x1b[21~", "\x1b[21~", "\r"]),
    ("ranger --clean /etc", &["j", "l", "?", "q", "q", "q"]),
    ("nnn -H /etc", &["\x1b[B", "?", "q", "q", "q"]),
    ("ncdu /usr/share/doc/bash", &["\x1b[B", "?", "q", "q"]),
    ("calcurse", &["\t", "?", "q", "q", "y"]),
    ("dialog --msgbox hello 10 30", &["\r"]),
    ("dialog --checklist choose 12 40 4 a one on b two off c three on", &[" ", "\x1b[B ", "\r"]),
    ("dialog --gauge wait 8 40 30", &["\x04"]),
    ("whiptail --menu choose 12 40 4 a one b two c three", &["\x1b[B", "\t", "\r"]),
    (
        "tmux -f /dev/null -L cuesta-test new-session bash --norc",
        &["ls /etc\r", "\x02%", "ls\r", "\x02\"", "\x02c", "\x02:kill-server\r"],
    ),
    ("screen -c /dev/null bash --norc", &["ls /etc\r", "\x01S", "\x01\t", "\x01c", "\x01\\", "y"]),
    ("lynx -cfg=/dev/null /usr/share/doc/bash", &["\x1b[B", " ", "h", "q", "y"]),
    ("links2 -no-connect /usr/share/doc/bash", &["\x1b[B", " ", "\x1b", "\x1b", "q"]),
    ("w3m /usr/share/doc/bash", &["\x1b[B", " ", "H", "q", "y"]),
    ("tig --all", &["q"]),
    ("python3 -q", &["print('a'*200)\r", "for i in range(30): i\r\r", "exit()\r"]),
    (
        "ipython3 --no-banner --no-confirm-exit",
        &["print('a'*200)\r", "for i in range(30): i\r\r", "impor\t\x1b[D\x1b[D\x1b[DX", "\x03", "exit\r"],
    ),
    ("bpython3 -q", &["import o\t", "s\r", "for i in range(30): i\r\r", "\x04"]),
    ("sqlite3", &["select 1, 'two';\r", ".mode box\r", "select 1, 'two';\r", ".exit\r"]),
    ("gdb -q -nx", &["help\r", "q\r", "quit\r"]),
    ("vifm /etc /usr", &["j", "l", ":help\r", ":q\r", ":q\r"]),
    ("aptitude", &["j", "?", "q", "q", "y"]),
];
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (24, 8)];
const TERMS: [&str; 5] = ["xterm", "screen-256color", "linux", "vt100", "ansi"];

/// A program on a terminal of its own.
pub(crate) struct Session {
    child: Child,
    /// Its home, which it may fill.
    _home: TempDir,
    pub(crate) terminal: File,
    /// All that the program has sent.
    sent: Vec<u8>,
}

impl Session {
    pub(crate) fn start(command: &str, term: &str, (columns, rows): (u16, u16)) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&controller).expect("a terminal");
        unlockpt(&controller).expect("a terminal");
        let name = ptsname(&controller, Vec::new()).expect("its name");
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&controller, size).expect("its size");
        let end = || File::options().read(true).write(true).open(name.to_str().expect("a path")).expect("a terminal");
        let home = tempfile::tempdir().expect("a folder");
        // setsid makes the terminal the controlling one.
        let child = Command::new("setsid")
            .args(["--ctty", "--wait"])
            .args(command.split(' '))
            .env("TERM", term)
            .env("HOME", home.path())
            .env("LC_ALL", "C.UTF-8")
            .env_remove("TMUX")
            .current_dir("/")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("setsid is installed");
        Self { child, _home: home, terminal: File::from(controller), sent: Vec::new() }
    }

    /// Draws what the program sends on both screens, and passes on what the screen here answers, until the program is quiet. False
    /// if it has ended.
    fn draw(&mut self, screen: &mut Screen, xterm: &mut Xterm) -> bool {
        let mut bytes = [0; 4096];
        loop {
            let mut ends = [PollFd::new(&self.terminal, PollFlags::IN), PollFd::new(&xterm.line, PollFlags::IN)];
            if poll(&mut ends, Some(&QUIET)).expect("poll") == 0 {
                return true;
            }
            let [program, answers] = ends.map(|end| !end.revents().is_empty());
            if program {
                // On Linux a terminal that no program has open any more fails.
                let Ok(len @ 1..) = self.terminal.read(&mut bytes) else { return false };
                self.sent.extend_from_slice(&bytes[..len]);
                screen.feed(&bytes[..len]);
                let _ = self.terminal.write_all(screen.replies()); // it may have ended
                screen.forget_replies(usize::MAX);
                xterm.line.write_all(&bytes[..len]).expect("xterm reads");
            }
            if answers {
                let _ = xterm.line.read(&mut bytes).expect("xterm answers");
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How many rows were compared, and those that differ.
#[derive(Default)]
struct Compared {
    rows: usize,
    wrong: Vec<String>,
    wrong_cursors: Vec<String>,
}

/// Those who show what a program draws, and what was found.
struct Judges {
    xterm: Compared,
    xterm_js: Option<(XtermJs, Compared)>,
}

impl Judges {
    fn play(&mut self, (command, inputs): (&str, &[&str]), term: &str, xterm: &mut Xterm) {
        let size = xterm.size;
        xterm.reset();
        let mut screen = Screen::new(size.0, size.1);
        let mut session = Session::start(command, term, size);
        for input in [""].iter().chain(inputs) {
            let _ = session.terminal.write_all(input.as_bytes());
            let goes_on = session.draw(&mut screen, xterm);
            let (ours, theirs) = (Shown::of_screen(&mut screen), xterm.read_screen());
            let at = format!("{command}, {term}, {}x{}, {}", size.0, size.1, input.escape_debug());
            self.xterm.compare(&at, &ours, &theirs, size);
            if let Some((xterm_js, compared)) = &mut self.xterm_js {
                compared.compare(&at, &ours, &xterm_js.shows(size, &session.sent), size);
            }
            if !goes_on {
                break;
            }
        }
    }
}

impl Compared {
    fn compare(&mut self, at: &str, ours: &Shown, theirs: &Shown, size: (u16, u16)) {
        for row in 0..usize::from(size.1) {
            let [ours, theirs] = [ours, theirs].map(|shown| shown.rows.get(row).map_or("", String::as_str));
            self.rows += 1;
            if ours != theirs {
                self.wrong.push(format!("{at}, row {row}\n  there {theirs:?}\n  here  {ours:?}"));
            }
        }
        if ours.cursor != theirs.cursor {
            self.wrong_cursors.push(format!("{at}: there {}, here {}", theirs.cursor, ours.cursor));
        }
    }

    fn assert_equal_enough(self, judge: &str) {
        let Self { rows, wrong, wrong_cursors } = self;
        let [wrong_rows, cursors] = [&wrong, &wrong_cursors].map(|wrong| wrong.join("\n"));
        println!(
            "{judge}: {rows} rows, {} differ, {} cursors differ\n{wrong_rows}\n{cursors}",
            wrong.len(),
            wrong_cursors.len()
        );
        assert!(rows > 10_000, "only {rows} rows");
        assert!(wrong.len() * 500 <= rows && wrong_cursors.is_empty(), "the screen differs from that of {judge}");
    }
}

#[test]
#[ignore = "nightly"]
fn programs_are_shown_as_by_xterm() {
    let folder = tempfile::tempdir().expect("a folder");
    let display = Display::start();
    let xterm_js = XtermJs::start().map(|xterm_js| (xterm_js, Compared::default()));
    let mut judges = Judges { xterm: Compared::default(), xterm_js };
    for (number, size) in SIZES.into_iter().enumerate() {
        let mut xterm = Xterm::start(&display, folder.path(), size);
        for program in PROGRAMS {
            judges.play(program, "xterm-256color", &mut xterm);
            if number == 0 {
                for term in TERMS {
                    judges.play(program, term, &mut xterm);
                }
            }
        }
    }
    judges.xterm.assert_equal_enough("xterm");
    match judges.xterm_js {
        Some((_, compared)) => compared.assert_equal_enough("xterm.js"),
        None => println!("XTERM_HEADLESS names no packages: not beside xterm.js"),
    }
}
