//! Memory does not grow with the number of records: a run of a million records uses as much as a short one.

use crate::harness::{play, resident, spec};
use serde_json::json;

/// The number of durations recorded in some seconds, and the resident memory at the end, in bytes.
fn records(seconds: f64) -> (u64, u64) {
    let host = json!({"service": {"echo": {}}, "input": "raw", "service_time": "exp 200us"});
    let tape = "Set TypingSpeed 5ms\nSet KeyLaw human\nSet Echo timed\nType \"a\"\nWait+Echo\n";
    let played = play(spec(20, 1.0, seconds, &json!({})), tape, &host);
    (played.histograms.values().map(hdrhistogram::Histogram::len).sum(), resident())
}

#[test]
fn a_million_records_take_no_more_memory_than_a_few() {
    let (few, before) = records(10.0);
    let (many, after) = records(80.0);
    assert!(few > 100_000 && many > 1_000_000, "{few}, {many}");
    let growth = after.saturating_sub(before);
    // Under two bytes a record; the allocator may keep some pages.
    assert!(growth < 2 << 20, "{growth} bytes more");
}
