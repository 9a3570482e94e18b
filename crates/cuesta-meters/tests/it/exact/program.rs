//! A program that runs commands and reports its own figures of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuesta_meters::traced::Depth;
use cuesta_meters::{Count, Figure, Meter, MeterReport, Tier};
use cuesta_record::clock;

use crate::running;
pub(crate) use crate::running::meter;

pub(crate) struct Program(running::Program);

const LOOP: &str = "
import ctypes, gc, mmap, os, resource, sys, time
gc.disable()
for row in sys.stdin:
    exec(row)
    print('done', flush=True)
";

impl Program {
    /// A Python that sleeps until it gets a command.
    pub(crate) fn start() -> Self {
        let mut program = Self(running::Program::start(Command::new("python3").args(["-c", LOOP])));
        program.run("pass");
        program
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.pid()
    }

    /// Runs a row and waits until the program sleeps again; returns the numbers that it printed.
    pub(crate) fn run(&mut self, row: &str) -> Vec<f64> {
        self.0.send(row);
        let mut printed = Vec::new();
        loop {
            let row = self.0.row();
            if row == "done" {
                break;
            }
            printed.extend(row.split_ascii_whitespace().filter_map(|word| word.parse::<f64>().ok()));
        }
        while !self.sleeps() {
            std::thread::yield_now();
        }
        printed
    }

    /// Whether the program is off the CPU in `read` (system call 0).
    fn sleeps(&self) -> bool {
        fs::read_to_string(format!("/proc/{}/syscall", self.pid())).expect("it runs").starts_with("0 ")
    }

    pub(crate) fn traced(&self, depth: Depth) -> Meter {
        meter(&self.0.subject()).with_tracer(depth)
    }

    /// The traced report of a row.
    pub(crate) fn report(&mut self, depth: Depth, row: &str) -> (MeterReport, Vec<f64>) {
        let mut meter = self.traced(depth);
        let printed = self.run(row);
        (meter.report().unwrap(), printed)
    }
}

/// A figure that must have been traced.
pub(crate) fn exact(figure: &Figure) -> f64 {
    let Figure::Metered { value, tier: Tier::Traced } = figure else { panic!("{figure:?}") };
    *value
}

/// A count that must have been traced.
pub(crate) fn counted(figure: &Figure<Count>) -> u64 {
    exact(&figure.map(|count| count.count as f64)) as u64
}

/// A control group of its own, deleted when it is dropped.
pub(crate) struct Group(pub(crate) PathBuf);

impl Group {
    pub(crate) fn new(mount: &Path, pid: u32) -> Self {
        let folder = mount.join(format!("cuesta-exact-{pid}-{}", clock::wall()));
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).expect("root may limit its own programs");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(self.0.join("below"));
        let _ = fs::remove_dir(&self.0);
    }
}
