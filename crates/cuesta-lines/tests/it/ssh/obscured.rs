//! Obscured keys, as the host receives them. Which keys go together: the unit tests of `src/ssh/grid.rs`, in virtual time.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use cuesta_lines::{Line, Login, send};
use cuesta_record::{Stamp, clock};
use russh::MethodKind;

use super::harness::{ask, opened_by, until};
use super::passwords::host;
use crate::real::play;

#[test]
fn obscured_keys_are_sent_on_the_grid_followed_by_chaff() {
    let (address, came) = host(&[MethodKind::Password]);
    let start = play(async move {
        let known = tempfile::NamedTempFile::new().unwrap();
        let known = known.path().display();
        let url = format!("ssh://joe@{address}?agent=off&known_hosts=accept-new&known_hosts={known}&obscure=100ms");
        let login = Login { password: Some("geheim".to_owned()), ..Login::default() };
        let mut line = opened_by(&url, login).await.unwrap();
        let start = clock::now();
        send(&mut line, b"a").await.unwrap();
        send(&mut line, b"b").await.unwrap();
        until(&mut line, "ab").await;
        // Eight packets of chaff, of about fifty bytes each, follow a key within a second: ten ticks of this grid. A busy machine
        // may leave some of them out: then another key has them.
        let mut chaff = 0;
        while chaff < 8 * 48 {
            ask(&mut line, "c", "c").await;
            let sent = line.traffic().sent;
            listen_until(&mut line, clock::now() + Duration::from_secs(1)).await;
            chaff = line.traffic().sent - sent;
        }
        start
    });
    let keys: Vec<_> = came.iter().collect();
    let text: Vec<u8> = keys.iter().flat_map(|(_, keys)| keys.clone()).collect();
    assert!(text.starts_with(b"abc") && text[2..].iter().all(|key| *key == b'c'), "{text:?}");
    let first = keys[0].0.since(start);
    assert!(first >= Duration::from_millis(100), "{first:?}");
}

/// Listens until an instant, as a user does in every wait.
async fn listen_until(line: &mut dyn Line, due: Stamp) {
    let (mut wait, mut room) = (clock::sleep_until(due), [0; 64]);
    poll_fn(|cx| {
        let _ = line.poll_receive(cx, &mut room);
        Pin::new(&mut wait).poll(cx)
    })
    .await;
}
