//! Text before the version (RFC 4253 §4.2): a listener in front of OpenSSH sends it, in pieces, and passes the rest on.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use super::harness::{echoes, is_refused};
use super::peers::openssh;

/// Serves one connection: sends `text` in pieces, then passes bytes on to a port; or hangs up if there is none.
fn front(text: Vec<u8>, to: Option<u16>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.set_nodelay(true).unwrap();
        for piece in text.chunks(997) {
            client.write_all(piece).unwrap();
        }
        let Some(to) = to else { return };
        let server = TcpStream::connect(("127.0.0.1", to)).unwrap();
        let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
        thread::spawn(move || pass_on(back.0, back.1));
        pass_on(client, server);
    });
    port
}

fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    let mut room = [0; 4096];
    while let Ok(len @ 1..) = from.read(&mut room) {
        if to.write_all(&room[..len]).is_err() {
            break;
        }
    }
}

#[test]
fn text_of_any_length_before_the_version_is_passed_over() {
    for (rows, row) in [(1, 20), (30, 20), (1, 255), (40, 300), (3, 5000), (900, 70)] {
        let peer = openssh("ForceCommand exec cat");
        let text = format!("notice {}\r\n", "x".repeat(row)).repeat(rows);
        let port = front(text.into_bytes(), Some(peer.port));
        let url = peer.url("&known_hosts=accept-new").replace(&format!(":{}?", peer.port), &format!(":{port}?"));
        echoes(&url);
    }
}

#[test]
fn a_full_host_is_recognized_behind_its_text() {
    let text = "welcome to the gate\r\n".repeat(40) + "Exceeded MaxStartups\r\n";
    let port = front(text.into_bytes(), None);
    let (name, text) = is_refused(&format!("ssh://joe@127.0.0.1:{port}?agent=off"));
    assert_eq!(name, "max-startups", "{text}");
}
