//! A program that runs commands and reports its own figures of them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdout, Command, Stdio};

use cuesta_meters::traced::Depth;
use cuesta_meters::{Count, Figure, Meter, MeterReport, MeterSpec, Roots, Tier};

use crate::running::Running;

pub(crate) struct Program {
    running: Running,
    output: BufReader<ChildStdout>,
}

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
        let mut command = Command::new("python3");
        let mut running = Running::start(command.args(["-c", LOOP]).stdin(Stdio::piped()).stdout(Stdio::piped()));
        let output = BufReader::new(running.0.stdout.take().unwrap());
        let mut program = Self { running, output };
        program.run("pass");
        program
    }

    pub(crate) fn pid(&self) -> u32 {
        self.running.0.id()
    }

    /// Runs a row and waits until the program sleeps again; returns the numbers that it printed.
    pub(crate) fn run(&mut self, row: &str) -> Vec<f64> {
        // In one write, so that one call reads it.
        self.running.0.stdin.as_mut().unwrap().write_all(format!("{row}\n").as_bytes()).unwrap();
        let mut rows = String::new();
        while !rows.ends_with("done\n") {
            assert!(self.output.read_line(&mut rows).unwrap() > 0, "the program has ended: {rows}");
        }
        while !self.sleeps() {
            std::thread::yield_now();
        }
        rows.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect()
    }

    /// Whether the program is off the CPU in `read` (system call 0).
    fn sleeps(&self) -> bool {
        fs::read_to_string(format!("/proc/{}/syscall", self.pid())).expect("it runs").starts_with("0 ")
    }

    pub(crate) fn traced(&self, depth: Depth) -> Meter {
        meter(&format!("pid:{}", self.pid())).with_tracer(depth)
    }

    /// The traced report of a row.
    pub(crate) fn report(&mut self, depth: Depth, row: &str) -> (MeterReport, Vec<f64>) {
        let mut meter = self.traced(depth);
        let printed = self.run(row);
        (meter.report().unwrap(), printed)
    }
}

pub(crate) fn meter(subject: &str) -> Meter {
    Meter::start(MeterSpec { subject: subject.parse().unwrap(), cpus: None, roots: Roots::default() }).unwrap()
}

/// A figure that must have been traced.
pub(crate) fn exact(figure: &Figure) -> f64 {
    let Figure::Metered { value, tier: Tier::Traced } = figure else { panic!("{figure:?}") };
    *value
}

/// A count that must have been traced.
pub(crate) fn counted(figure: &Figure<Count>) -> u64 {
    let Figure::Metered { value, tier: Tier::Traced } = figure else { panic!("{figure:?}") };
    value.count
}
