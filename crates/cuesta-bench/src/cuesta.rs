//! Cuesta in a process of its own: the real driver, its recorder and its run folder included.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cuesta_driver::{Run, RunSpec, Scripts};
use cuesta_record::Stamp;
use cuesta_tape::{Echo, Keys, Piece, Script, Settings, Step, TapePlace, WaitCondition};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde_json::{Value, json};

use crate::certificate::Files;
use crate::job::{ANSWER, ECHO, Framing, INPUT, Job, KEY, PROMPT, Work};
use crate::outcome::Outcome;
use crate::process;
use crate::usage::{Used, resident};

/// Runs a job and prints its outcome.
pub(crate) fn play(job: &str) -> Result<(), Box<dyn Error>> {
    let job: Job = serde_json::from_str(job)?;
    process::pin(job.cpu)?;
    let folder = tempfile::tempdir()?;
    let known_hosts = folder.path().join("known_hosts");
    let folder = folder.path().join("agent-0");
    let before = resident("self")?;
    let run = Run::start(spec(&job, &known_hosts)?, &Scripts::from([("bench".to_owned(), script(job.work))]), &folder)?;
    let used_at_first = used_at(job.start)?;
    let used_before = used_at(job.window_start())?;
    let used_after = used_at(job.window_end())?;
    let grown = resident("self")?.saturating_sub(before);
    while !run.wait(Duration::from_secs(1))? {}
    process::print_answer(&Outcome {
        opening: used_before.cpu - used_at_first.cpu,
        cpu: used_after.cpu - used_before.cpu,
        memory: grown as f64 / f64::from(job.own_users()),
        ..read(&folder, &job)?
    })
}

fn used_at(instant: Stamp) -> Result<Used, Box<dyn Error>> {
    process::wait_until(instant)?;
    Ok(Used::now())
}

/// `known_hosts`: the file to which the key of a new host is added.
fn spec(job: &Job, known_hosts: &Path) -> Result<RunSpec, Box<dyn Error>> {
    let authority = if job.framing.is_tls() { Files::find()?.authority } else { PathBuf::new() };
    let authority = authority.display();
    let target = |address: &str| match job.framing {
        Framing::Tcp => format!("tcp://{address}"),
        Framing::Telnet | Framing::Negotiated => format!("telnet://{address}"),
        Framing::Ws => format!("ws://{address}/"),
        Framing::Wss => format!("wss://{address}/#ca={authority}"),
        Framing::TtydWss => format!("ttyd+wss://{address}/?ca={authority}"),
        Framing::Ssh => {
            format!("ssh://bench@{address}?agent=off&known_hosts=accept-new&known_hosts={}", known_hosts.display())
        }
        Framing::Pty => "pty:cat".to_owned(),
    };
    let load = match job.work {
        Work::Closed => json!({"kind": "closed"}),
        Work::Echoed if job.cycle.is_zero() => json!({"kind": "closed"}),
        Work::Typists | Work::Screens | Work::Echoed => json!({"kind": "paced", "cycle": job.cycle.as_nanos() as u64}),
    };
    // A group for each host. Their users start in turn.
    let hosts = job.addresses().count() as u32;
    let stagger = (job.stagger * hosts).as_nanos() as u64;
    let load = |host: u32| json!({"users": (job.users + host) / hosts, "stagger": stagger, "load": load});
    let group =
        |(host, address)| json!({"name": format!("users-{host}"), "script": "bench", "target": target(address)});
    let cpus: Vec<_> = [job.cpu].into_iter().chain(job.further_cpus.iter().copied()).collect();
    Ok(serde_json::from_value(json!({
        "seed": 1,
        "spin": job.spin,
        "stamps": job.stamps,
        "agent": job.agent.0,
        "agents": job.agent.1,
        "threads": cpus.len(),
        "cpus": cpus,
        "start_at": job.start,
        "drain": 1_000_000_000_u64,
        "groups": job.addresses().enumerate().map(group).collect::<Vec<_>>(),
        "steps": [{
            "settle": job.settle.as_nanos() as u64,
            "measure": job.measure.as_nanos() as u64,
            "groups": (0..hosts).map(load).collect::<Vec<_>>(),
        }],
    }))?)
}

fn script(work: Work) -> Script {
    let literal = |text: &str| vec![Piece::Literal(text.to_owned())];
    let bytes = |count: usize| {
        let condition = WaitCondition::Bytes(count as u64);
        Step::Wait { condition, timeout: None, place: TapePlace::default() }
    };
    let input = || Step::Keys { keys: Keys::Paste(literal(INPUT)), gap: None };
    let body = match work {
        Work::Typists | Work::Screens => {
            vec![Step::Keys { keys: Keys::Text(literal(&String::from_utf8_lossy(KEY))), gap: None }]
        }
        Work::Closed => vec![input(), bytes(ANSWER)],
        Work::Echoed => vec![input(), bytes(ECHO + ANSWER)],
    };
    let first = (work == Work::Echoed).then(|| bytes(PROMPT));
    let echo = match work {
        Work::Typists => Some(Echo::Timed),
        Work::Screens => Some(Echo::Screen),
        Work::Closed | Work::Echoed => None,
    };
    Script {
        name: "bench".into(),
        settings: Settings { key_gap: Some(Duration::ZERO), echo, ..Settings::default() },
        steps: first.into_iter().chain([Step::Forever(body)]).collect(),
        parts: std::collections::BTreeMap::default(),
        transactions: Vec::new(),
    }
}

/// Reads the run folder, as any reader would.
fn read(folder: &Path, job: &Job) -> Result<Outcome, Box<dyn Error>> {
    let times = |series| p50_and_p99(folder, job, series);
    let mut outcome =
        Outcome { lateness: times("/lateness")?, echo: times("/echo")?, own: times("/own")?, ..Outcome::default() };
    for row in fs::read_to_string(folder.join("series.jsonl"))?.lines() {
        let row: Value = serde_json::from_str(row)?;
        if row["phase"] != "measure" {
            continue;
        }
        let count = |name: &str| row[name].as_u64().unwrap_or(0);
        outcome.operations += count(match job.work {
            Work::Closed | Work::Echoed => "transactions",
            Work::Typists | Work::Screens => "keys",
        });
        outcome.run_wait += row["run_wait"].as_f64().unwrap_or(0.0) / job.measure.as_secs_f64();
        let failures = row["errors"].as_object().into_iter().flat_map(|errors| errors.values());
        outcome.errors += failures.filter_map(Value::as_u64).sum::<u64>() + count("skipped") + count("stray");
        outcome.errors += u64::from(job.own_users()).saturating_sub(count("users"));
    }
    Ok(outcome)
}

/// p50 and p99 of a series in the window, in seconds.
fn p50_and_p99(folder: &Path, job: &Job, series: &str) -> Result<[f64; 2], Box<dyn Error>> {
    let window = job.window_start().since(job.start)..job.window_end().since(job.start);
    let log = fs::read(folder.join("histograms.hlog"))?;
    let mut all = Histogram::<u64>::new(3)?;
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(&log) {
        let LogEntry::Interval(row) = entry.map_err(|error| format!("{error:?} in the log"))? else { continue };
        let is_wanted = row.tag().is_some_and(|tag| tag.as_str().ends_with(series));
        // The log gives seconds to three places.
        if is_wanted && window.contains(&(row.start_timestamp() + Duration::from_millis(1))) {
            let bytes = STANDARD.decode(row.encoded_histogram())?;
            let histogram: Histogram<u64> =
                deserializer.deserialize(&mut &bytes[..]).map_err(|error| format!("{error} in the log"))?;
            all.add(&histogram)?;
        }
    }
    // The middle of its bucket: three digits of 100 ms are 65 us apart.
    Ok([0.5, 0.99].map(|share| all.median_equivalent(all.value_at_quantile(share)) as f64 / 1e9))
}
