//! A screen takes the memory of its cells, and no more over time. One test in its own process, because it measures the process.

use crate::harness::{play, resident, spec};
use serde_json::json;

/// Resident memory after users' screens were drawn on for some seconds, in bytes.
fn screens(users: u32, seconds: f64) -> u64 {
    let host = json!({"service": {"echo": {}}, "input": "raw"});
    let tape = "Set TypingSpeed 5ms\nSet Echo screen\nType \"the quick brown fox\"\nWait+Line /x$/\n";
    let played = play(spec(users, 1.0, seconds, &json!({})), tape, &host);
    let shown = played.histogram("g/keys/echo").len() as f64;
    assert!(shown > f64::from(users) * seconds * 100.0, "only {shown} keys were shown");
    let row = played.series.last().expect("a row");
    let (count, bytes) = (row["screens"]["count"].as_u64(), row["screens"]["bytes"].as_u64());
    assert_eq!(count, Some(users.into()));
    // 80 by 24 cells of 24 bytes, the rows, the tab stops, the state, and the frames of a few keys.
    let each = bytes.expect("a number") / u64::from(users);
    assert!((46_080..51_000).contains(&each), "{each} bytes a screen");
    resident()
}

#[test]
fn screens_take_the_memory_of_their_cells_and_no_more_with_time() {
    let few = screens(10, 1.0);
    let many = screens(110, 1.0);
    let each = many.saturating_sub(few) / 100;
    assert!((40_000..65_000).contains(&each), "{each} bytes a user");
    let longer = screens(110, 4.0);
    let growth = longer.saturating_sub(many);
    // The allocator may keep some pages.
    assert!(growth < 2 << 20, "{growth} bytes more");
}
