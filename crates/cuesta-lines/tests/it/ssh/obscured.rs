//! Obscured keys, as the host receives them.

use std::time::Duration;

use cuesta_lines::{Login, send};
use cuesta_record::clock;
use russh::MethodKind;

use super::harness::{ask, driven, opened_by};
use super::passwords::host;

#[test]
fn obscured_keys_are_sent_together_on_the_grid_followed_by_chaff() {
    let (address, came) = host(&[MethodKind::Password]);
    let sent = driven(async move {
        let known = tempfile::NamedTempFile::new().unwrap();
        let known = known.path().display();
        let url = format!("ssh://joe@{address}?agent=off&known_hosts=accept-new&known_hosts={known}&obscure=100ms");
        let login = Login { user: None, password: Some("geheim".to_owned()) };
        let mut line = opened_by(&url, login).await.unwrap();
        let start = clock::now();
        send(&mut line, b"a").await.unwrap();
        send(&mut line, b"b").await.unwrap();
        super::harness::until(&mut line, "ab").await;
        let sent = line.traffic().sent;
        // After the last key, chaff follows for at least a second: ten ticks of this grid.
        ask(&mut line, "c", "c").await;
        let due = clock::now() + Duration::from_secs(1);
        let mut room = [0; 64];
        listen_until(&mut line, &mut room, due).await;
        (start, line.traffic().sent - sent)
    });
    let (start, chaff) = sent;
    let keys: Vec<_> = came.iter().collect();
    assert_eq!(keys.iter().map(|(_, keys)| keys.as_slice()).collect::<Vec<_>>(), [b"ab".as_slice(), b"c"]);
    let first = keys[0].0.since(start);
    assert!(first >= Duration::from_millis(100), "{first:?}");
    let gap = keys[1].0.since(keys[0].0).as_millis();
    assert!(gap >= 90, "{gap}");
    // One key and at least eight packets of chaff, of about fifty bytes each.
    assert!(chaff >= 8 * 48, "{chaff}");
}

/// Listens until an instant, as a user does in every wait.
async fn listen_until(line: &mut dyn cuesta_lines::Line, room: &mut [u8], due: cuesta_record::Stamp) {
    let mut wait = clock::sleep_until(due);
    std::future::poll_fn(|cx| {
        let _ = line.poll_receive(cx, room);
        std::pin::Pin::new(&mut wait).poll(cx)
    })
    .await;
}
