//! Sessions on real hosts.

use std::fs;
use std::time::Duration;

use cuesta_lines::Line;
use cuesta_record::clock;

use super::harness::{PATIENCE, ask, end, opened, until};
use super::peers::{Peer, dropbear, openssh, tinysshd};
use crate::real::play;

/// Opens a shell, checks its terminal and its echo, and exits.
fn serves_a_terminal(peer: &Peer) {
    let url = peer.url("");
    play(async move {
        let mut line = opened(&url).await.unwrap();
        let opening = line.opening();
        assert!(opening.connected.is_some() && opening.connected <= opening.negotiated, "{opening:?}");
        assert!(opening.negotiated <= opening.logged_in, "{opening:?}");
        assert_eq!(line.terminal().unwrap().window(), Some((100, 30)));
        let text = ask(&mut line, "stty size; echo \"<$TERM>\"; tty\r", "/dev/pts/").await;
        assert!(text.contains("30 100") && text.contains("<vt100>"), "{text}");
        ask(&mut line, "echo $((6*7)) done\r", "42 done").await;
        assert!(line.traffic().received > 500 && line.traffic().sent > 500, "{:?}", line.traffic());
        ask(&mut line, "exit\r", "exit").await;
        assert_eq!(end(&mut line).await, "closed by the host");
    });
}

#[test]
fn openssh_dropbear_and_tinysshd_serve_a_terminal() {
    for peer in [openssh(""), dropbear(), tinysshd()] {
        serves_a_terminal(&peer);
    }
}

#[test]
fn a_command_runs_on_a_terminal_in_place_of_the_shell() {
    let peer = openssh("");
    let url = peer.url("&command=tty%3b%20exit%203");
    play(async move {
        let mut line = opened(&url).await.unwrap();
        until(&mut line, "/dev/pts/").await;
        assert_eq!(end(&mut line).await, "closed by the host");
    });
}

#[test]
fn many_users_log_in_at_once() {
    let peer = openssh("MaxStartups 100\nForceCommand exec cat");
    let url = peer.url("");
    play(async move {
        let mut lines = Vec::new();
        for _ in 0..20 {
            lines.push(tokio::task::spawn_local({
                let url = url.clone();
                async move { opened(&url).await.unwrap() }
            }));
        }
        for (number, line) in lines.into_iter().enumerate() {
            let mut line = line.await.unwrap();
            ask(&mut line, &format!("number {number}\r"), &format!("number {number}\r\n")).await;
        }
    });
}

/// Most unread bytes of a line (`INBOX`); in encrypted packets they are somewhat more.
const INBOX: u64 = 64 * 1024;
#[test]
fn a_user_who_does_not_read_is_sent_a_bounded_amount_and_can_interrupt() {
    // This shell leaves the terminal's modes alone, so it can be typed to before it reads.
    let peer = openssh("ForceCommand exec sh");
    let (url, port) = (peer.url(""), peer.port);
    play(async move {
        let mut line = opened(&url).await.unwrap();
        let before = line.traffic().received;
        cuesta_lines::send(&mut line, b"trap 'echo stopped' INT; yes | head -c 100000000; echo over\r").await.unwrap();
        until(&mut line, "y\r\ny\r\ny").await;
        // The user does not read until the inbox is full and the connection rests.
        rests(&*line, port, before + INBOX).await;
        let received = line.traffic().received - before;
        assert!((INBOX..4 * INBOX).contains(&received), "{received}");
        cuesta_lines::send(&mut line, b"\x03").await.unwrap();
        until(&mut line, "stopped").await;
        assert!(line.traffic().received < 50_000_000, "{:?}", line.traffic());
    });
}

/// Waits until a line has received `enough` bytes and leaves further input in the kernel.
async fn rests(line: &dyn Line, port: u16, enough: u64) {
    let begun = clock::now();
    let mut last = None;
    loop {
        let now = (line.traffic().received, waiting(port));
        // Between the two checks the protocol's task would have read if it could.
        if now.0 >= enough && now.1 > 0 && last == Some(now) {
            return;
        }
        assert!(clock::now().since(begun) < PATIENCE, "it does not rest: {last:?}, {now:?}");
        last = Some(now);
        clock::sleep_until(clock::now() + Duration::from_millis(5)).await;
    }
}

/// Bytes in the kernel's receive queue from the host at this port.
fn waiting(port: u16) -> u64 {
    let table = fs::read_to_string("/proc/self/net/tcp").unwrap();
    let host = format!("0100007F:{port:04X}");
    let mut rows = table.lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
    let established = rows.find(|row| row[2] == host && row[3] == "01").unwrap();
    u64::from_str_radix(established[4].split_once(':').unwrap().1, 16).unwrap()
}
