//! The recorder thread: it merges the tallies of the driving threads for each interval and writes them.
//!
//! At the end of each interval a driving thread hands over its tally and takes an empty one, so the keystroke path never waits
//! for a disk or for another thread.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriter, IntervalLogWriterBuilder, Tag};

use crate::followed_log::FollowedLog;
use crate::key_log::KeyLog;
use crate::transaction_log::TransactionLog;
use crate::{AgentEnd, AgentFolder, Interval, SeriesNames, Snapshot, Tally, Timeline};

/// Settings of the recorder.
#[derive(Debug)]
pub struct RecorderSetup {
    /// When each step begins and ends.
    pub timeline: Timeline,
    /// When the run started, in ns since 1970.
    pub started_wall: u64,
    pub series_names: SeriesNames,
    /// How many threads will deliver.
    pub threads: usize,
    /// Whether to keep every transaction.
    pub log_transactions: bool,
    /// Whether to keep every key that was echoed.
    pub log_keys: bool,
    /// Whether any user of the run has a probe line.
    pub follows: bool,
    /// Number of the agent.
    pub agent: u32,
    /// Whether snapshots have each series; others may change it at any time.
    pub shows_series: Arc<AtomicBool>,
}

/// The writing thread.
#[derive(Debug)]
pub struct Recorder {
    thread: JoinHandle<io::Result<AgentFolder>>,
    snapshot: Arc<Mutex<Snapshot>>,
}

/// Spare tallies of each thread: a disk may stall for this many intervals before a thread waits. In virtual time, where
/// intervals take no time, the driver does wait here for the recorder.
const TALLIES_PER_THREAD: usize = 4;

/// A driving thread's way to the recorder.
#[derive(Debug)]
pub struct RecorderHandle {
    deliver: Sender<(usize, Interval, Box<Tally>)>,
    empty: Receiver<Box<Tally>>,
    thread: usize,
}

impl RecorderHandle {
    /// Hands over what was counted in `interval` and leaves an empty tally in its place. Waits only while all spare tallies
    /// are still to be written. False if the recorder has stopped; [`Recorder::finish`] then returns the error.
    pub fn deliver(&self, interval: Interval, tally: &mut Box<Tally>) -> bool {
        let Ok(empty) = self.empty.recv() else { return false };
        let full = std::mem::replace(tally, empty);
        self.deliver.send((self.thread, interval, full)).is_ok()
    }
}

impl Recorder {
    /// Starts writing into `folder`.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn start(folder: &Path, setup: RecorderSetup) -> io::Result<(Self, Vec<RecorderHandle>)> {
        let folder = AgentFolder::create(folder, &setup.timeline)?;
        let snapshot = Arc::new(Mutex::new(Snapshot::new(&setup.timeline, setup.agent)));
        let (deliver, delivered) = channel();
        let (handles, returns): (Vec<_>, Vec<_>) = (0..setup.threads)
            .map(|thread| {
                let (give, empty) = channel();
                let _ = (0..TALLIES_PER_THREAD).try_for_each(|_| give.send(Box::default()));
                (RecorderHandle { deliver: deliver.clone(), empty, thread }, give)
            })
            .unzip();
        let files = Files::create(&folder, &setup)?;
        let seen = Arc::clone(&snapshot);
        let thread = thread::Builder::new()
            .name("cuesta-recorder".into())
            .spawn(move || write_all(folder, files, &setup, &delivered, &returns, &seen))?;
        Ok((Self { thread, snapshot }, handles))
    }

    /// The state of the run; it outlives the recorder.
    pub fn view(&self) -> Arc<Mutex<Snapshot>> {
        Arc::clone(&self.snapshot)
    }

    /// Waits until all handles are dropped and everything is written, then writes how the agent ended.
    ///
    /// # Errors
    /// When something could not be written.
    pub fn finish(self, ending: &AgentEnd) -> io::Result<()> {
        let folder = self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the recorder panicked")))?;
        folder.write_end(ending)
    }
}

/// The open files.
struct Files {
    histograms: BufWriter<std::fs::File>,
    transactions: Option<TransactionLog>,
    keys: Option<KeyLog>,
    followed: Option<FollowedLog>,
}

impl Files {
    fn create(folder: &AgentFolder, setup: &RecorderSetup) -> io::Result<Self> {
        let log = || TransactionLog::create(folder.file("transactions.csv")?, &setup.series_names);
        let transactions = setup.log_transactions.then(log).transpose()?;
        let log = || KeyLog::create(folder.file("keys.csv")?, &setup.series_names);
        let keys = setup.log_keys.then(log).transpose()?;
        let log = || FollowedLog::create(folder.file("followed.csv")?, &setup.series_names);
        let followed = setup.follows.then(log).transpose()?;
        Ok(Self { histograms: folder.file("histograms.hlog")?, transactions, keys, followed })
    }
}

type Log<'a, 'b, W> = IntervalLogWriter<'a, 'b, W, V2DeflateSerializer>;

fn write_all(
    mut folder: AgentFolder,
    mut files: Files,
    setup: &RecorderSetup,
    delivered: &Receiver<(usize, Interval, Box<Tally>)>,
    returns: &[Sender<Box<Tally>>],
    snapshot: &Mutex<Snapshot>,
) -> io::Result<AgentFolder> {
    let mut serializer = V2DeflateSerializer::new();
    let mut file = FlushRows(&mut files.histograms);
    let started = SystemTime::UNIX_EPOCH + Duration::from_nanos(setup.started_wall);
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("Cuesta; values in nanoseconds; Tag=STEP/GROUP/SOURCE/SERIES")
        .with_start_time(started)
        .with_base_time(started)
        .with_max_value_divisor(1e9)
        .begin_log_with(&mut file, &mut serializer)?;
    let mut partial = PartialIntervals::default();
    let mut totals = Tally::default();
    let mut write = |interval: &Interval, tally: &mut Tally| -> io::Result<()> {
        write_histograms(&mut log, setup, interval, tally)?;
        folder.write_interval(interval, &tally.counts, &tally.users)?;
        if let Some(transactions) = &mut files.transactions {
            transactions.append(&tally.transactions)?;
        }
        if let Some(keys) = &mut files.keys {
            keys.append(&tally.keys)?;
        }
        if let Some(followed) = &mut files.followed {
            followed.append(&tally.followed)?;
        }
        totals.add(tally);
        let shown = setup.shows_series.load(Ordering::Relaxed).then_some(&totals);
        // One lock, since the length of the run may be changed at any time.
        let mut state = locked(snapshot);
        *state = state.next(interval, tally, shown, &setup.series_names);
        Ok(())
    };
    for (thread, interval, mut tally) in delivered {
        if let Some(mut whole) = partial.add(interval, &mut tally, setup.threads) {
            write(&interval, &mut whole)?;
        }
        tally.clear();
        // The thread may be gone; then its memory is no longer needed.
        let _ = returns[thread].send(tally);
    }
    for (interval, mut part) in partial.rest() {
        write(&interval, &mut part)?;
    }
    locked(snapshot).finished = true;
    Ok(folder)
}

fn locked(snapshot: &Mutex<Snapshot>) -> MutexGuard<'_, Snapshot> {
    snapshot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Intervals that not all threads have delivered yet, by their begin.
#[derive(Default)]
struct PartialIntervals {
    parts: BTreeMap<u64, (Interval, usize, Tally)>,
}

impl PartialIntervals {
    /// Adds one thread's tally; returns the merged one once all threads have delivered.
    fn add(&mut self, interval: Interval, tally: &mut Tally, threads: usize) -> Option<Tally> {
        let part = self.parts.entry(interval.begin).or_insert_with(|| (interval, 0, Tally::default()));
        part.0.end = part.0.end.max(interval.end); // threads whose users are done end it earlier
        part.2.merge(tally);
        part.1 += 1;
        if part.1 < threads {
            return None;
        }
        self.parts.remove(&interval.begin).map(|(_, _, whole)| whole)
    }

    /// Intervals that some threads never delivered: a run that was stopped ends unevenly.
    fn rest(self) -> impl Iterator<Item = (Interval, Tally)> {
        self.parts.into_values().map(|(interval, _, tally)| (interval, tally))
    }
}

fn write_histograms<W: Write>(
    log: &mut Log<'_, '_, W>,
    setup: &RecorderSetup,
    interval: &Interval,
    tally: &Tally,
) -> io::Result<()> {
    let begin = Duration::from_nanos(interval.begin);
    let length = Duration::from_nanos(interval.end - interval.begin);
    for (index, histogram) in tally.histograms() {
        let tag = format!("{}/{}", interval.step, setup.series_names.tags()[index]);
        let tag = Tag::new(&tag).expect("names are encoded");
        log.write_histogram(histogram, begin, length, Some(tag)).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Flushes at the end of every row, so that a run that is killed leaves all rows up to then.
struct FlushRows<'a, W: Write>(&'a mut W);

impl<W: Write> Write for FlushRows<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        if bytes.ends_with(b"\n") {
            self.0.flush()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stamp, StepTimes, Transaction};
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use std::fs;

    fn setup(series_names: SeriesNames) -> RecorderSetup {
        let steps = vec![StepTimes { begin: 0, settled: 1_000_000_000, end: 2_000_000_000 }];
        let timeline = Timeline { start_at: Stamp::from_nanos(7), steps, load_end: 2_000_000_000, drain: 0 };
        RecorderSetup {
            timeline,
            started_wall: 0,
            series_names,
            threads: 2,
            log_transactions: true,
            log_keys: false,
            follows: false,
            agent: 0,
            shows_series: Arc::default(),
        }
    }

    #[test]
    fn tallies_of_two_threads_are_written_merged() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut series_names = SeriesNames::default();
        let series = series_names.series("g", "t", "response");
        let setup = setup(series_names);
        let intervals: Vec<_> = setup.timeline.intervals().collect();
        let (recorder, handles) = Recorder::start(&dir.path().join("agent-0"), setup).expect("starts");
        for (number, handle) in handles.into_iter().enumerate() {
            let mut tally = Box::new(Tally::default());
            for interval in &intervals {
                tally.record(series, Duration::from_millis(10));
                tally.counts.transactions += 1;
                let stamp = Stamp::from_nanos(number as u64);
                let class = series.number();
                tally.transactions.push(Transaction {
                    class,
                    user: 3,
                    due: stamp,
                    sent: stamp,
                    first: stamp,
                    done: stamp,
                });
                assert!(handle.deliver(*interval, &mut tally));
            }
        }
        let ending = AgentEnd { ended: "completed", reason: None, rss_per_user: None, left_behind: Vec::new() };
        let view = recorder.view();
        recorder.finish(&ending).expect("writes");
        assert!(view.lock().expect("whole").finished);

        let agent = dir.path().join("agent-0");
        let log = fs::read(agent.join("histograms.hlog")).expect("there");
        let rows: Vec<_> = IntervalLogIterator::new(&log)
            .filter_map(|entry| match entry.expect("a row") {
                LogEntry::Interval(row) => {
                    let bytes = STANDARD.decode(row.encoded_histogram()).expect("base64");
                    let histogram = Deserializer::new().deserialize::<u64, _>(&mut &bytes[..]).expect("a histogram");
                    Some((row.tag().expect("a tag").as_str().to_owned(), row.start_timestamp(), histogram.len()))
                }
                _ => None,
            })
            .collect();
        let name = "0/g/t/response".to_owned();
        assert_eq!(rows, [(name.clone(), Duration::ZERO, 2), (name, Duration::from_secs(1), 2)]);

        let series = fs::read_to_string(agent.join("series.jsonl")).expect("there");
        let phases: Vec<serde_json::Value> =
            series.lines().map(|row| serde_json::from_str(row).expect("JSON")).collect();
        assert_eq!(phases[1]["phase"], "measure");
        assert_eq!(phases[1]["transactions"], 2);

        let log = fs::read_to_string(agent.join("transactions.csv")).expect("there");
        let mut rows: Vec<_> = log.lines().skip(1).collect();
        rows.sort_unstable();
        let of = |number| format!("\"g\",\"t\",3,{number},{number},{number},{number}");
        assert_eq!(rows, [of(0), of(0), of(1), of(1)]);
    }
}
