//! Serial devices: a pair of pseudo-terminals that socat connects, and ser2net on one of them.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::real::{line, play, refused, to_the_end, typed, up_to, wait_until};
use cuesta_lines::Options;
use rustix::termios::tcgetattr;
use tempfile::TempDir;

/// Two connected devices.
struct Wire {
    folder: TempDir,
    #[allow(dead_code, reason = "dropping it ends socat")]
    socat: Running,
}

impl Wire {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let end = |name: &str| format!("pty,raw,echo=0,link={}", folder.path().join(name).display());
        let socat = Running::start(Command::new("socat").args([end("a"), end("b")]));
        let wire = Self { folder, socat };
        let ends = [wire.end("a"), wire.end("b")];
        play(wait_until("socat has made both ends", move || ends.iter().all(|end| end.exists())));
        wire
    }

    fn end(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn target(&self, name: &str, settings: &str) -> String {
        format!("serial:{}{settings}", self.end(name).display())
    }
}

/// A program that is killed when it is dropped.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn characters_cross_both_ways() {
    let wire = Wire::new();
    let (a, b) = (wire.target("a", "?baud=19200&stop=2"), wire.target("b", ""));
    let device = wire.end("a");
    play(async move {
        let (mut a, mut b) = (line(&a).await, line(&b).await);
        typed(&mut *a, "login: \r\n\x03").await;
        assert_eq!(up_to(&mut *b, "\x03").await, "login: \r\n\x03", "the device must not echo or edit");
        typed(&mut *b, "yes").await;
        assert_eq!(up_to(&mut *a, "yes").await, "yes");
        assert_eq!((a.traffic().sent, a.traffic().received), (10, 3));
        let settings = tcgetattr(fs::File::open(device).expect("the device")).expect("a terminal");
        assert_eq!((settings.input_speed(), settings.output_speed()), (19200, 19200));
    });
}

#[test]
fn a_device_is_one_line() {
    let wire = Wire::new();
    let target = wire.target("a", "");
    play(async move {
        let first = line(&target).await;
        assert_eq!(refused(&target, &Options::default()).await.0, "busy");
        drop(first);
        line(&target).await;
    });
}

#[test]
fn a_missing_device_is_reported() {
    play(async {
        for target in ["serial:/dev/cuesta-none", "serial:/dev/null", "serial:/etc"] {
            assert_eq!(refused(target, &Options::default()).await.0, "no-device", "{target}");
        }
    });
}

#[test]
fn an_unsupported_setting_is_reported() {
    let wire = Wire::new();
    // A pseudo-terminal always has eight bits and no parity.
    let target = wire.target("a", "?data=7&parity=even");
    play(async move { assert_eq!(refused(&target, &Options::default()).await.0, "bad-settings") });
}

#[test]
fn a_device_that_goes_away_closes_the_line() {
    let wire = Wire::new();
    let target = wire.target("a", "");
    play(async move {
        let mut line = line(&target).await;
        drop(wire);
        assert_eq!(to_the_end(&mut *line).await, (String::new(), None));
    });
}

#[test]
fn a_shell_answers_on_a_device() {
    let wire = Wire::new();
    let mut shell = Command::new("socat");
    shell
        .arg(format!("FILE:{},raw,echo=0", wire.end("b").display()))
        .arg("EXEC:bash --norc --noprofile -i,pty,setsid,ctty,stderr")
        .env("PS1", "ready> ");
    let _shell = Running::start(&mut shell);
    let target = wire.target("a", "?baud=115200");
    play(async move {
        let mut line = line(&target).await;
        // Output of the shell from before the device was opened is discarded.
        typed(&mut *line, "echo $((6*7))\r").await;
        up_to(&mut *line, "42\r\n").await;
    });
}

#[test]
fn ser2net_carries_a_device_to_the_network() {
    let wire = Wire::new();
    // Each test has a network of its own (`.config/nextest.toml`).
    let port = 2217;
    let _ser2net = ser2net(&wire.end("a"), wire.folder.path(), port);
    play(wait_until("ser2net listens", move || TcpStream::connect(("127.0.0.1", port)).is_ok()));
    let device = wire.target("b", "?baud=9600");
    play(async move {
        let mut network = line(&format!("telnet://127.0.0.1:{port}")).await;
        let mut device = line(&device).await;
        typed(&mut *network, "over\r").await;
        // ser2net forwards telnet's NUL after a carriage return.
        assert_eq!(up_to(&mut *device, "over\r\0").await, "over\r\0");
        typed(&mut *device, "and back").await;
        up_to(&mut *network, "and back").await;
    });
}

fn ser2net(device: &Path, folder: &Path, port: u16) -> Running {
    let settings = format!(
        "connection: &c\n  accepter: telnet,tcp,127.0.0.1,{port}\n  connector: serialdev,{},9600n81,local\n  options:\n    kickolduser: true\n",
        device.display()
    );
    let file = folder.join("ser2net.yaml");
    fs::write(&file, settings).expect("a file");
    let mut ser2net = Command::new("ser2net");
    Running::start(ser2net.arg("-n").arg("-c").arg(&file).arg("-P").arg(folder.join("pid")))
}
