//! Lines that a tracer at the host is to follow.

use cuesta_lines::{Line, LineMark, Options};
use cuesta_record::FOLLOWED_PORTS;

use super::harness::{PATIENCE, ask};
use super::peers::openssh;
use super::routes::{block, configured};
use crate::real::play;

/// Opens a line, types three keys, and checks that each has a place in the stream of its own, where the transport ended when it was written.
async fn check_keys(url: &str) -> Option<LineMark> {
    let options = Options { followed: true, connect_timeout: PATIENCE, ..Options::default() };
    let mut line = cuesta_lines::open(&url.parse().unwrap(), &options).await.unwrap();
    let mut ends = Vec::new();
    for key in ["a", "b", "c"] {
        let before = line.traffic().sent;
        ask(&mut *line, key, key).await;
        line.mark()?;
        let end = line.sent_up_to().unwrap();
        assert!(before < end && end <= line.traffic().sent, "{before} {end} {:?}", line.traffic());
        ends.push(end);
    }
    assert!(ends.is_sorted_by(|one, next| one < next), "{ends:?}");
    line.mark()
}

#[test]
fn a_line_is_known_by_its_port_unless_a_jump_host_is_between() {
    let [first, last] = ["", "ForceCommand exec cat"].map(openssh);
    let text = block("first", &first, "") + &block("last", &last, "");
    let direct = configured(&last, "last", &text);
    let [mark, through] =
        [direct.clone(), direct + "&jump=first"].map(|url| play(async move { check_keys(&url).await }));
    assert!(matches!(mark, Some(LineMark::Port(port)) if FOLLOWED_PORTS.contains(&port)), "{mark:?}");
    assert_eq!(through, None);
}
