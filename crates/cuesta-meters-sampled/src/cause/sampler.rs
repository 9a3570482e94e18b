//! The sampler: a thread that drains the rings, and a handle to it.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuesta_meters_plain::Roots;
use cuesta_meters_plain::snapshot::tasks;
use cuesta_meters_report::Subject;
use cuesta_record::{Stamp, clock};
use rustix::event::{EventfdFlags, eventfd};

use super::kallsyms::Kallsyms;
use super::maps::executable;
use super::reader::{Reader, SubjectFilter};
use super::tally::{SampleWindow, Visibility};
use crate::perf::allowed::Allowed;
use crate::perf::{EventConfig, RingTarget, Rings, Scope};
use crate::profile::Profile;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamplerOptions {
    /// Samples a second of each CPU. A prime keeps out of step with the kernel's tick and a driver's timers.
    pub frequency: u64,
    /// Whether the stacks of the first subject are kept.
    pub profile: bool,
}

impl Default for SamplerOptions {
    fn default() -> Self {
        Self { frequency: crate::perf::FREQUENCY, profile: false }
    }
}

/// Nothing can be sampled.
#[derive(Debug, thiserror::Error)]
#[error("not sampled: {why}")]
pub struct NotSampled {
    /// What is missing, and how to allow it.
    pub why: String,
}

/// A request to the thread.
#[derive(Debug)]
enum Request {
    SampleWindow(Sender<SampleWindow>),
    /// Asks for the stacks of the first subject.
    Profile(Sender<Profile>),
    /// Stops or resumes sampling.
    Sample(bool, Sender<io::Result<()>>),
}

/// Samples until it is dropped.
#[derive(Debug)]
pub struct Sampler {
    requests: Option<Sender<Request>>,
    /// Wakes the thread.
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
    limits: Vec<String>,
    whole: bool,
}

impl Sampler {
    /// Starts to sample these subjects: on the whole machine if allowed, else our own processes only.
    pub fn start(subjects: &[Subject], options: SamplerOptions) -> Result<Self, NotSampled> {
        let allowed = Allowed::read(Path::new("/"));
        let OpenRings { rings, symbols, visibility, limits, whole } =
            open(subjects, options, &allowed).map_err(|why| NotSampled { why: join(&why, &allowed.missing()) })?;
        let filters =
            subjects.iter().map(|subject| SubjectFilter::for_subject(subject, rings.layout().cgroup)).collect();
        let reader = Reader::new(Arc::new(symbols), filters, options.profile);
        let fail = |error: io::Error| NotSampled { why: error.to_string() };
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(|e| fail(e.into()))?);
        let (requests, asked) = channel();
        let worker = Worker { rings, reader, bell: Arc::clone(&bell), last: Totals::now(), visibility };
        let thread = thread::Builder::new().name("cuesta-sampler".to_owned()).spawn(move || worker.run(&asked));
        Ok(Self { requests: Some(requests), bell, thread: Some(thread.map_err(fail)?), limits, whole })
    }

    /// What cannot be sampled, and how to allow it.
    pub fn limits(&self) -> &[String] {
        &self.limits
    }

    /// Whether the whole machine is sampled, not only tasks of ours.
    pub fn sees_machine(&self) -> bool {
        self.whole
    }

    /// The samples since the last window. None if the thread has died.
    pub fn window(&self) -> Option<SampleWindow> {
        self.ask(Request::SampleWindow)
    }

    /// The stacks of the first subject since the last call; none if they are not kept.
    pub fn profile(&self) -> Profile {
        self.ask(Request::Profile).unwrap_or_default()
    }

    /// Stops or resumes sampling, to measure its cost. CPUs that come online meanwhile are sampled.
    ///
    /// # Errors
    /// If the kernel refuses, or the thread has died.
    pub fn set_sampling(&self, on: bool) -> io::Result<()> {
        let died = || Err(io::Error::other("the sampler's thread has died"));
        self.ask(|answer| Request::Sample(on, answer)).unwrap_or_else(died)
    }

    fn ask<T>(&self, request: impl FnOnce(Sender<T>) -> Request) -> Option<T> {
        let (answer, come) = channel();
        self.requests.as_ref()?.send(request(answer)).ok()?;
        ring(&self.bell);
        come.recv().ok()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.requests = None;
        ring(&self.bell);
        if let Some(thread) = self.thread.take() {
            // Its panic is already printed, and the sampler ends anyway.
            let _ = thread.join();
        }
    }
}

fn ring(bell: &OwnedFd) {
    // An eventfd refuses only when its 64-bit counter is full.
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}

fn join(why: &io::Error, missing: &[String]) -> String {
    if missing.is_empty() { why.to_string() } else { format!("{} (refused: {why})", missing.join("; ")) }
}

/// The rings that could be opened.
struct OpenRings {
    rings: Rings,
    symbols: Kallsyms,
    visibility: Visibility,
    limits: Vec<String>,
    whole: bool,
}

/// Opens rings with the widest allowed scope.
fn open(subjects: &[Subject], options: SamplerOptions, allowed: &Allowed) -> io::Result<OpenRings> {
    let symbols = Kallsyms::read(Path::new("/"));
    let mut limits = allowed.missing();
    let user_stack = options.profile && subjects.first().is_some_and(runs_our_code);
    let config = EventConfig { period: 1_000_000_000 / options.frequency.max(1), user_stack, ..EventConfig::machine() };
    let mut visibility = if symbols.is_ok() { Visibility::Whole } else { Visibility::Unsplit };
    let mut whole = true;
    let rings = match Rings::open(config, RingTarget::Machine) {
        Ok(rings) => rings,
        Err(refused) => {
            let tasks = own_tasks(subjects);
            if tasks.is_empty() {
                return Err(refused);
            }
            whole = false;
            let kernel = symbols.is_ok() && allowed.own_kernel();
            visibility = if kernel { Visibility::Whole } else { Visibility::UserOnly };
            let config = EventConfig { scope: Scope::Descendants, kernel, cgroup: false, ..config };
            let rings = Rings::open(config, RingTarget::Tasks(tasks))?;
            limits
                .push("only the tasks that were there at the start, and those that they start, are sampled".to_owned());
            rings
        }
    };
    Ok(OpenRings { rings, symbols: symbols.unwrap_or_default(), visibility, limits, whole })
}

/// Whether a subject is a process with the same program or library as this function: that code keeps frame pointers.
fn runs_our_code(subject: &Subject) -> bool {
    let Subject::Process(process) = subject else { return false };
    let maps = |process: &str| fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let (own, its) = (maps("self"), maps(&process.to_string()));
    let here = runs_our_code as *const () as u64;
    let ours = executable(&own).find(|map| (map.start..map.end).contains(&here));
    ours.is_some_and(|ours| executable(&its).any(|map| map.path == ours.path))
}

fn own_tasks(subjects: &[Subject]) -> Vec<i32> {
    let mut all = Vec::new();
    for subject in subjects.iter().filter(|subject| !matches!(subject, Subject::Machine | Subject::Cpus(_))) {
        let tasks = tasks::read(&Roots::default(), subject);
        for (pid, process) in tasks.value().into_iter().flat_map(|tasks| &tasks.processes) {
            let threads = process.threads.keys().chain([pid]).copied();
            all.extend(threads.filter_map(|task| i32::try_from(task).ok()));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// State of the thread.
struct Worker {
    rings: Rings,
    reader: Reader,
    bell: Arc<OwnedFd>,
    last: Totals,
    visibility: Visibility,
}

/// Counters at the end of the last window.
#[derive(Debug, Clone, Copy)]
struct Totals {
    at: Stamp,
    cpu: Duration,
    lost: u64,
    throttled: u64,
}

impl Totals {
    fn now() -> Self {
        Self { at: clock::now(), cpu: Duration::ZERO, lost: 0, throttled: 0 }
    }
}

/// Time between two drains of the rings.
const ROUND: Duration = Duration::from_millis(100);
/// Time between two looks for new CPUs and ended processes.
const LOOK: Duration = Duration::from_secs(1);

impl Worker {
    fn run(mut self, asked: &Receiver<Request>) {
        let (mut drained, mut looked) = (clock::now(), clock::now());
        loop {
            if self.rings.wait(ROUND, &self.bell).is_err() {
                return;
            }
            let _ = rustix::io::read(&*self.bell, &mut [0; 8]);
            let now = clock::now();
            self.rings.drain();
            // Records written before the last round have all arrived by now.
            self.reader.read_before(&mut self.rings, drained);
            drained = now;
            self.keep_pace();
            loop {
                match asked.try_recv() {
                    Ok(Request::SampleWindow(answer)) => drop(answer.send(self.window())),
                    Ok(Request::Profile(answer)) => drop(answer.send(self.reader.take_profile())),
                    Ok(Request::Sample(on, answer)) => drop(answer.send(self.rings.set_sampling(on))),
                    Err(std::sync::mpsc::TryRecvError::Empty) => break,
                    Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
                }
            }
            if now.since(looked) >= LOOK {
                self.reader.forget(looked);
                // A CPU may refuse to be sampled; the next look tries again.
                let _ = self.rings.follow_cpus();
                looked = now;
            }
        }
    }

    /// Lowers the rate where samples are expensive. A CPU that refuses keeps its rate.
    fn keep_pace(&mut self) {
        let changes = self.reader.pace.changes();
        if changes.is_empty() {
            return;
        }
        // Records up to now are at the former rate.
        self.rings.drain();
        for (cpu, half) in changes {
            let _ = self.rings.set_half_rate(cpu, half);
        }
    }

    fn window(&mut self) -> SampleWindow {
        let at = clock::now();
        self.rings.drain();
        self.reader.read_before(&mut self.rings, at);
        let now = Totals { at, cpu: clock::thread_cpu(), lost: self.reader.lost, throttled: self.reader.throttled };
        let before = std::mem::replace(&mut self.last, now);
        let tallies = self.reader.take();
        SampleWindow {
            from: before.at,
            until: at,
            tallies,
            visibility: self.visibility,
            lost: now.lost - before.lost,
            throttled: now.throttled - before.throttled,
            reader: now.cpu.saturating_sub(before.cpu),
        }
    }
}
