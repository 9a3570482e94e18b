//! A test harness: users, loopback lines and the built-in host in one thread, in virtual time.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)] // Each test uses a part of it.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cuesta_driver::{Announcement, Connect, Run, RunSpec, Scripts, simulate};
use cuesta_host::{FrontEnd, serve};
use cuesta_lines::wire::bisync::Role;
use cuesta_lines::{Bisync, Direction, Line, OpenError, Options, Tap, Target, Tn3270, loopback};
use cuesta_record::{Phase, Snapshot};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde_json::{Value, json};

/// The counter of keys and inputs that were due and are not sent.
pub const LEFT_OUT: &str = "skipped";

/// The keys of each user, with their instants in ns.
pub type SentKeys = BTreeMap<u32, Vec<(u64, Vec<u8>)>>;

/// The user's end of a line and the host's.
pub type Ends = [Box<dyn Line>; 2];

/// The records of an agent.
pub struct RunRecords {
    /// Histograms of the measurement intervals, by tag without the step.
    pub histograms: BTreeMap<String, Histogram<u64>>,
    /// Rows of `series.jsonl`.
    pub series: Vec<Value>,
    /// Rows of `users.jsonl`.
    pub users: Vec<Value>,
    /// Rows of `followed.csv`, if it is there.
    pub followed: Vec<FollowedCells>,
}

/// A row of `followed.csv`.
#[derive(Debug, Clone)]
pub struct FollowedCells {
    pub user: u64,
    pub what: String,
    pub port: Option<u16>,
    pub terminal: Option<u32>,
    pub key: u32,
    pub echo: (u32, u32),
    /// By the driver and by the kernel, in ns.
    pub sent_to_shown: u64,
    pub kernel: Option<(u64, u64)>,
    /// Whether the echo was acknowledged at once; segments that came, and acknowledgements that were sent.
    pub acknowledged: Option<(bool, u32, u32)>,
}

impl FollowedCells {
    fn read(row: &str) -> Self {
        let cells: Vec<_> = row.split(',').collect();
        let number = |at: usize| cells[at].parse::<u64>().unwrap();
        let acknowledged = || Some((cells[12].parse().ok()?, cells[13].parse().ok()?, cells[14].parse().ok()?));
        let kernel = || Some((cells[10].parse().ok()?, cells[11].parse().ok()?));
        Self {
            user: number(1),
            what: cells[2].to_owned(),
            port: cells[3].parse().ok(),
            terminal: cells[4].parse().ok(),
            key: cells[5].parse().unwrap(),
            echo: (cells[6].parse().unwrap(), cells[7].parse().unwrap()),
            sent_to_shown: number(9) - number(8),
            kernel: kernel(),
            acknowledged: acknowledged(),
        }
    }
}

impl RunRecords {
    pub fn read(agent: &Path) -> Self {
        let timeline: Value = serde_json::from_slice(&fs::read(agent.join("timeline.json")).unwrap()).unwrap();
        let measured = |start: f64| {
            timeline["steps"].as_array().unwrap().iter().any(|step| {
                let bound = |name: &str| step[name].as_f64().unwrap() / 1e9;
                start >= bound("settled") - 1e-3 && start < bound("end") - 1e-3
            })
        };
        let log = fs::read(agent.join("histograms.hlog")).unwrap();
        let mut histograms: BTreeMap<String, Histogram<u64>> = BTreeMap::new();
        for entry in IntervalLogIterator::new(&log) {
            let LogEntry::Interval(row) = entry.unwrap() else { continue };
            if !measured(row.start_timestamp().as_secs_f64()) {
                continue;
            }
            let bytes = STANDARD.decode(row.encoded_histogram()).unwrap();
            let histogram = Deserializer::new().deserialize::<u64, _>(&mut &bytes[..]).unwrap();
            let tag = row.tag().unwrap().as_str().split_once('/').unwrap().1.to_owned();
            histograms.entry(tag).or_insert_with(|| Histogram::new(3).unwrap()).add(histogram).unwrap();
        }
        let rows = |name: &str| {
            let text = fs::read_to_string(agent.join(name)).unwrap();
            text.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
        };
        let followed = fs::read_to_string(agent.join("followed.csv")).unwrap_or_default();
        let followed = followed.lines().skip(1).map(FollowedCells::read).collect();
        Self { histograms, series: rows("series.jsonl"), users: rows("users.jsonl"), followed }
    }

    /// The histogram of a tag, `GROUP/SOURCE/SERIES`.
    pub fn histogram(&self, tag: &str) -> &Histogram<u64> {
        self.histograms.get(tag).unwrap_or_else(|| panic!("no {tag} in {:?}", self.histograms.keys()))
    }

    /// A quantile of a tag in seconds.
    pub fn quantile(&self, tag: &str, q: f64) -> f64 {
        self.histogram(tag).value_at_quantile(q) as f64 / 1e9
    }

    /// The rows of the measurement intervals.
    pub fn measured(&self) -> impl DoubleEndedIterator<Item = &Value> {
        self.series.iter().filter(|row| row["phase"] == "measure")
    }

    /// The last of them.
    pub fn last_measured(&self) -> &Value {
        self.measured().next_back().unwrap()
    }

    /// The sum of a field (`a/b` for nested ones) over the measurement intervals.
    pub fn sum(&self, field: &str) -> f64 {
        sum(self.measured(), field)
    }

    /// The same of one step.
    pub fn sum_of_step(&self, step: u64, field: &str) -> f64 {
        sum(self.measured().filter(|row| row["step"] == step), field)
    }

    /// The number of errors by name, over all intervals.
    pub fn errors(&self) -> Vec<(String, u64)> {
        let mut all = BTreeMap::<String, u64>::new();
        for row in &self.series {
            for (name, count) in row["errors"].as_object().unwrap() {
                *all.entry(name.clone()).or_default() += count.as_u64().unwrap();
            }
        }
        all.into_iter().collect()
    }

    /// The length of the measurement intervals in seconds.
    pub fn seconds(&self) -> f64 {
        self.sum("length")
    }
}

fn sum<'a>(rows: impl Iterator<Item = &'a Value>, field: &str) -> f64 {
    rows.filter_map(|row| field.split('/').fold(row, |value, name| &value[name]).as_f64()).sum()
}

/// A tape parsed as the script `name`.
pub fn script(name: &str, text: &str) -> Scripts {
    let no_files = |_: &str| Err("no files here".to_owned());
    let tape = cuesta_tape::parse(text, name, &no_files).unwrap_or_else(|errors| panic!("{errors}"));
    [(name.to_owned(), tape.script)].into()
}

/// One group of users in one step; `more` overrides fields of the spec, of the group and of its load.
pub fn spec(users: u32, settle_s: f64, measure_s: f64, more: &Value) -> RunSpec {
    let ns = |s: f64| (s * 1e9) as u64;
    let mut load = json!({"users": users, "stagger": 0, "load": {"kind": "closed"}});
    let mut group = json!({"name": "g", "script": "t", "target": "tcp://127.0.0.1:1"});
    let mut spec = json!({"seed": 1, "drain": 0});
    for (part, into) in [("load", &mut load), ("group", &mut group), ("spec", &mut spec)] {
        for (name, value) in more[part].as_object().into_iter().flatten() {
            into[name] = value.clone();
        }
    }
    spec["groups"] = json!([group]);
    spec["steps"] = json!([{"settle": ns(settle_s), "measure": ns(measure_s), "groups": [load]}]);
    serde_json::from_value(spec).unwrap()
}

/// Runs a tape against the built-in host over loopback lines.
pub fn play(spec: RunSpec, tape: &str, host: &Value) -> RunRecords {
    play_over(spec, tape, host, |line, _| line)
}

/// As [`play`], with each user's line wrapped by `wrap`.
pub fn play_over(
    spec: RunSpec,
    tape: &str,
    host: &Value,
    wrap: impl Fn(Box<dyn Line>, u32) -> Box<dyn Line> + 'static,
) -> RunRecords {
    play_announced(spec, tape, host, move |line, user| Ok(wrap(line, user)), Vec::new())
}

/// As [`play_over`], with lines that may not open, and announcements that are made some time after the start.
pub fn play_announced(
    spec: RunSpec,
    tape: &str,
    host: &Value,
    wrap: impl Fn(Box<dyn Line>, u32) -> Result<Box<dyn Line>, OpenError> + 'static,
    announced: Vec<(Duration, Announcement)>,
) -> RunRecords {
    play_between(spec, tape, host, move |[ours, theirs], user, _| Ok([wrap(ours, user)?, theirs]), announced)
}

/// As [`play_announced`], with both ends of each line, the user's and the host's, wrapped by `wrap`, which also has the front end.
pub fn play_between(
    spec: RunSpec,
    tape: &str,
    host: &Value,
    wrap: impl Fn(Ends, u32, &Rc<FrontEnd>) -> Result<Ends, OpenError> + 'static,
    announced: Vec<(Duration, Announcement)>,
) -> RunRecords {
    let host: cuesta_host::Spec = serde_json::from_value(host.clone()).unwrap();
    let front = OnceCell::<Rc<FrontEnd>>::new();
    let target: Target = spec.groups[0].target.parse().unwrap();
    let connect: Connect = Rc::new(move |_, user| {
        let front = Rc::clone(front.get_or_init(|| FrontEnd::new(&host).unwrap()));
        let ends = wrap(ends(&target), user, &front).map(|[ours, theirs]| {
            tokio::task::spawn_local(serve(theirs, front));
            ours
        });
        Box::pin(async move { ends })
    });
    play_connected(spec, &script("t", tape), connect, announced)
}

/// Plays scripts over lines that the caller opens.
pub fn play_connected(
    spec: RunSpec,
    scripts: &Scripts,
    connect: Connect,
    announced: Vec<(Duration, Announcement)>,
) -> RunRecords {
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("agent-0");
    simulate(spec, scripts, &agent, connect, announced).unwrap();
    RunRecords::read(&agent)
}

/// As [`play`], and what each user has sent, with the instants in ns.
pub fn play_logged(spec: RunSpec, tape: &str, host: &Value) -> (RunRecords, SentKeys) {
    play_announced_logged(spec, tape, host, Vec::new())
}

/// The same with announcements that are made some time after the start.
pub fn play_announced_logged(
    spec: RunSpec,
    tape: &str,
    host: &Value,
    announced: Vec<(Duration, Announcement)>,
) -> (RunRecords, SentKeys) {
    let sent = Rc::<RefCell<SentKeys>>::default();
    let log = Rc::clone(&sent);
    let wrap = move |line, user| -> Result<Box<dyn Line>, OpenError> {
        let log = Rc::clone(&log);
        Ok(Box::new(Tap::new(line, move |event| {
            if event.direction == Direction::Sent {
                log.borrow_mut().entry(user).or_default().push((event.at.as_nanos(), event.bytes.to_vec()));
            }
        })))
    };
    let records = play_announced(spec, tape, host, wrap, announced);
    (records, sent.take())
}

/// The user's end of a new line and the host's.
fn ends(target: &Target) -> Ends {
    let (ours, theirs) = loopback::pair(4096);
    match target {
        Target::Tn3270(_) => {
            [Box::new(Tn3270::terminal(ours, &Options::default(), true, None)), Box::new(Tn3270::host(theirs))]
        }
        Target::Bisync(target) => [
            Box::new(Bisync::new(ours, target, Role::Primary, 0)),
            Box::new(Bisync::new(theirs, target, Role::Secondary, 0)),
        ],
        _ => [Box::new(ours), Box::new(theirs)],
    }
}

/// Asserts that the relative error of a figure is at most `within`.
pub fn close(what: &str, found: f64, wanted: f64, within: f64) {
    let error = (found - wanted).abs() / wanted.abs();
    assert!(error <= within, "{what}: {found}, expected {wanted} ({:.2} % off)", error * 100.0);
}

/// Stops a real run once its measured intervals have `enough` of what is `counted`; returns how many they have.
pub fn stop_after(run: &Run, enough: u64, counted: fn(&Snapshot) -> u64) -> u64 {
    let (mut count, mut seen) = (0, 0.0);
    while count < enough {
        assert!(!run.wait(Duration::from_millis(100)).unwrap(), "it ended by itself");
        let interval = run.snapshot();
        if interval.phase == Some(Phase::Measure) && interval.seconds > seen {
            (count, seen) = (count + counted(&interval), interval.seconds);
        }
    }
    run.stop();
    assert!(run.wait(Duration::from_secs(60)).unwrap(), "the run does not stop");
    count
}

/// Resident memory of this process, in bytes.
pub fn resident() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}
