//! Lines to real programs, and the state of these programs in `/proc`.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::future::Future;
use std::time::Duration;

use cuesta_lines::{Line, OpenError, Options, open, receive, send};
use cuesta_record::clock::{self, Time};

/// After this time a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a test in real time.
pub(crate) fn play<T: 'static>(test: impl Future<Output = T> + 'static) -> T {
    clock::run(Time::Real, test).expect("a clock")
}

pub(crate) async fn line(target: &str) -> Box<dyn Line> {
    line_with(target, &Options::default()).await
}

pub(crate) async fn line_with(target: &str, options: &Options) -> Box<dyn Line> {
    opened(target, options).await.unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) async fn opened(target: &str, options: &Options) -> Result<Box<dyn Line>, OpenError> {
    open(&target.parse().expect("a target"), options).await
}

/// The name and the text of the error with which a line cannot be opened.
pub(crate) async fn refused(target: &str, options: &Options) -> (&'static str, String) {
    let Err(error) = opened(target, options).await else { panic!("{target} was opened") };
    (error.failure().name(), error.to_string())
}

pub(crate) async fn typed(line: &mut dyn Line, text: &str) {
    send(line, text.as_bytes()).await.expect("the line takes it");
}

/// Receives until `text` has arrived, and returns everything received.
pub(crate) async fn up_to(line: &mut dyn Line, text: &str) -> String {
    let mut came = String::new();
    while !came.contains(text) {
        let piece = piece(line).await.unwrap_or_else(|fault| panic!("{fault}: {came:?}"));
        came.push_str(&piece);
    }
    came
}

/// Receives until the line ends, and returns its fault; `None` if it is closed.
pub(crate) async fn to_the_end(line: &mut dyn Line) -> (String, Option<&'static str>) {
    let mut came = String::new();
    loop {
        match piece(line).await {
            Ok(piece) => came.push_str(&piece),
            Err("closed") => return (came, None),
            Err(fault) => return (came, Some(fault)),
        }
    }
}

async fn piece(line: &mut dyn Line) -> Result<String, &'static str> {
    let mut buffer = [0; 4096];
    let received = receive(line, &mut buffer).await.map_err(|error| cuesta_lines::failure_of(&error).name())?;
    if received.len == 0 {
        return Err("closed");
    }
    Ok(String::from_utf8_lossy(&buffer[..received.len]).into_owned())
}

/// Waits until `is_so` returns true.
pub(crate) async fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = clock::now();
    while !is_so() {
        assert!(clock::now().since(begun) < PATIENCE, "not within {PATIENCE:?}: {what}");
        clock::sleep_until(clock::now() + Duration::from_millis(5)).await;
    }
}

/// The number in a text, as `$$` in a shell's answer.
pub(crate) fn number(text: &str) -> i32 {
    let digits: String = text.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number in {text:?}"))
}

/// A row of `/proc/PID/status`; none if there is no such process.
pub(crate) fn status(pid: i32, row: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(row))?;
    Some(value.trim_start_matches(':').trim().to_owned())
}

/// The children of this process, zombies included.
pub(crate) fn children() -> Vec<i32> {
    let own = std::process::id().to_string();
    let all = fs::read_dir("/proc").expect("/proc").filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    all.filter(|pid| status(*pid, "PPid").as_ref() == Some(&own)).collect()
}

/// Number of open descriptors of this process.
pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("/proc").count()
}
