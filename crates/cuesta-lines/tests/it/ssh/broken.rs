//! Hosts that are full, refuse, hang, send garbage or die: each fault has its own name, and no login hangs.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::harness::{PATIENCE, ask, end, is_refused, opened, refused, refused_within};
use super::peers::openssh;
use crate::real::play;

#[test]
fn a_host_at_max_startups_is_named_and_accepts_later() {
    let peer = openssh("MaxStartups 2:100:2\nForceCommand exec cat");
    let (url, port) = (peer.url(""), peer.port);
    play(async move {
        // Connects until the host refuses one after accepting others: then it is full.
        let mut under_way = Vec::new();
        loop {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let mut said = [0; 64];
            let len = stream.read(&mut said).await.unwrap_or(0);
            // The connection that tested whether the host listens may still count.
            match said[..len].starts_with(b"SSH-") {
                true => under_way.push(stream),
                false if under_way.len() >= 2 => break,
                false => {}
            }
        }
        assert!(under_way.len() <= 3, "{}", under_way.len());
        let (name, text) = refused(&url).await;
        assert_eq!(name, "max-startups");
        assert!(text.contains("--stagger"), "{text}");
        drop(under_way);
        loop {
            match opened(&url).await {
                Ok(mut line) => break ask(&mut line, "hi\r", "hi\r\nhi").await,
                Err(error) => assert_eq!(error.failure().name(), "max-startups"),
            }
        }
    });
}

#[test]
fn each_refused_request_has_its_own_error() {
    for (more, wanted) in [
        ("MaxSessions 0", "channel"),
        ("PermitTTY no", "no-pty"),
        ("KexAlgorithms sntrup761x25519-sha512@openssh.com", "kex"),
        ("AuthenticationMethods none\nPermitEmptyPasswords no", "auth"),
    ] {
        let peer = openssh(more);
        let (name, text) = is_refused(&peer.url(""));
        assert_eq!(name, wanted, "{more}: {text}");
    }
}

#[test]
fn a_host_that_dies_in_a_session_breaks_the_line() {
    let peer = openssh("");
    let url = peer.url("");
    play(async move {
        let mut line = opened(&url).await.unwrap();
        ask(&mut line, "echo $((6*7)) up\r", "42 up").await;
        // The shell's parent is the process that serves this session.
        cuesta_lines::send(&mut line, b"kill -9 $PPID\r").await.unwrap();
        let ended = end(&mut line).await;
        assert!(ended.starts_with("closed: ") || ended.starts_with("reset: "), "{ended}");
        let error = cuesta_lines::send(&mut line, b"x").await.unwrap_err();
        assert!(["closed", "reset"].contains(&cuesta_lines::failure_of(&error).name()), "{error}");
    });
}

/// A listener that sends `words`, and then hangs up or waits until the client does.
async fn listener(words: &'static [u8], hangs_up: bool) -> (SocketAddr, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::task::spawn_local(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(words).await.unwrap();
        let mut room = [0; 1024];
        while !hangs_up && stream.read(&mut room).await.is_ok_and(|len| len > 0) {}
    });
    (address, served)
}

async fn refused_by(words: &'static [u8], hangs_up: bool) -> (&'static str, String) {
    refused_by_within(words, hangs_up, PATIENCE).await
}

async fn refused_by_within(words: &'static [u8], hangs_up: bool, connect_timeout: Duration) -> (&'static str, String) {
    let (address, served) = listener(words, hangs_up).await;
    let refused = refused_within(&format!("ssh://joe@{address}?agent=off"), connect_timeout).await;
    // The client has closed its end.
    served.await.unwrap();
    refused
}

#[test]
fn hosts_that_hang_or_send_garbage_have_their_own_errors() {
    play(async {
        for words in [&b""[..], b"SSH-2.0-sleepy\r\n"] {
            assert_eq!(refused_by_within(words, false, Duration::from_millis(400)).await.0, "timeout");
        }
        assert_eq!(refused_by(b"", true).await.0, "max-startups");
        assert_eq!(refused_by(b"SSH-2.0-busy\r\n", true).await.0, "max-startups");
        let (name, text) = refused_by(b"Exceeded MaxStartups\r\n", true).await;
        assert!(name == "max-startups" && text.contains("Exceeded MaxStartups"), "{text}");
        assert_eq!(refused_by(b"Not allowed at this time\r\n", true).await.0, "max-startups");
        let (name, text) = refused_by(b"HTTP/1.1 400 Bad\x1b Request\r\n\r\n", true).await;
        assert!(name == "not-ssh" && text.contains("\"HTTP/1.1 400 Bad  Request\""), "{text}");
        assert_eq!(refused_by(&[b'x'; 9000], false).await.0, "not-ssh");
        assert_eq!(refused_by(&[b'\n'; 5000], false).await.0, "not-ssh");
        let garbage = b"SSH-2.0-mad\r\n\x7f\xff\xff\xff garbage in place of a packet";
        assert_eq!(refused_by(garbage, false).await.0, "kex");
    });
}
