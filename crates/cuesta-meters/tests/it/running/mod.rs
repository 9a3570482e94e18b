//! Programs that tests start; each is killed when the test that started it ends.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use cuesta_meters::{Meter, MeterSpec, Roots};

/// A child process. It may end by itself before this is dropped.
#[derive(Debug)]
pub(crate) struct Running(pub(crate) Child);

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program that is told what to do by rows, and prints rows.
#[derive(Debug)]
pub(crate) struct Program {
    child: Running,
    output: BufReader<ChildStdout>,
}

impl Program {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = Running::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let output = BufReader::new(child.0.stdout.take().expect("piped"));
        Self { child, output }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.0.id()
    }

    /// Its subject, as the meters name it.
    pub(crate) fn subject(&self) -> String {
        format!("pid:{}", self.pid())
    }

    /// Sends a row in one write, so that one call reads it.
    pub(crate) fn send(&mut self, row: &str) {
        let input = self.child.0.stdin.as_mut().expect("piped");
        input.write_all(format!("{row}\n").as_bytes()).expect("the program reads");
    }

    /// The next row that it prints.
    pub(crate) fn row(&mut self) -> String {
        let mut row = String::new();
        assert!(self.output.read_line(&mut row).expect("text") > 0, "the program has ended");
        row.trim_end().to_owned()
    }
}

/// Starts a meter.
pub(crate) fn meter(subject: &str) -> Meter {
    let subject = subject.parse().expect("a subject");
    Meter::start(MeterSpec { subject, cpus: None, roots: Roots::default() }).expect("it is there")
}

/// Runs this program again, as a user without privileges.
pub(crate) fn run_as_nobody(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("unprivileged");
    fs::copy(std::env::current_exe().expect("this program"), &program).expect("copied");
    for path in [folder.path(), &program] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).expect("permissions set");
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all", "--"]);
    command.arg(&program).args(arguments).envs(environment.iter().copied()).current_dir("/");
    command.output().expect("setpriv of util-linux is needed")
}
