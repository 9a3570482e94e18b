//! Web terminals: each kind's terminal end at its host end, over real connections.
#![allow(clippy::unwrap_used)] // Shared functions are part of tests too.

use std::fs;
use std::process::Command;
use std::rc::Rc;

use cuesta_lines::{Line, Listener, Login, Options, failure_of, open, receive, send};
use tempfile::TempDir;
use tokio::task::spawn_local;

use crate::real::{play, refused, up_to};
use crate::tcp::{echo, listen};

/// The schemes without TLS, and the paths of their targets.
const KINDS: [(&str, &str); 10] = [
    ("ws", "/"),
    ("ttyd+ws", "/base"),
    ("gotty+ws", "/base"),
    ("jupyter+ws", "/user/joe"),
    ("wetty+ws", "/wetty"),
    ("k8s+ws", "/default/web-1"),
    ("coder+ws", "/4f0e"),
    ("cockpit+ws", ""),
    ("code-server+ws", ""),
    ("teleport+ws", "/example.org/7a1c"),
];

/// Gives each connection a program that sends a prompt and then sends back what it receives.
fn serve(listener: Listener) -> Rc<Listener> {
    let listener = Rc::new(listener);
    let accepting = Rc::clone(&listener);
    spawn_local(async move {
        while let Ok(mut line) = accepting.accept().await {
            spawn_local(async move {
                if send(&mut line, b"$ ").await.is_ok() {
                    let _ = echo(line).await;
                }
            });
        }
    });
    listener
}

/// A user with what the host of a kind asks for.
fn user(kind: &str) -> Options {
    let cells: &[(&str, &str)] = if kind.starts_with("teleport") { &[("user", "joe"), ("token", "abc")] } else { &[] };
    let row = cells.iter().map(|(column, cell)| ((*column).to_owned(), (*cell).to_owned())).collect();
    Options { login: Login::from_row(&row), ..Options::default() }
}

fn listen_at(target: &str) -> Listener {
    Listener::bind(&target.parse().unwrap()).unwrap()
}

/// Opens a line to a listener, with further settings.
async fn connect(listener: &Listener, settings: &str) -> Box<dyn Line> {
    let target = format!("{}{settings}", listener.target());
    open(&target.parse().unwrap(), &user(&target)).await.unwrap_or_else(|error| panic!("{target}: {error}"))
}

#[test]
fn each_kind_opens_in_its_phases_and_carries_text_both_ways() {
    for (kind, path) in KINDS {
        play(async move {
            let listener = serve(listen_at(&format!("{kind}://127.0.0.1:0{path}")));
            let mut line = connect(&listener, "").await;
            let opening = line.opening();
            let phases = [opening.prepared, opening.connected, opening.upgraded, opening.ready];
            let phases: Vec<_> = phases.into_iter().flatten().collect();
            assert!(phases.len() >= 3 && phases.is_sorted(), "{kind}: {opening:?}");
            assert_eq!(up_to(&mut *line, "$ ").await, "$ ", "{kind}");
            for key in ["a", "\r", "\u{1}", "\u{7f}", "é", "😀", "\"\\"] {
                send(&mut line, key.as_bytes()).await.unwrap();
                assert_eq!(up_to(&mut *line, key).await, key, "{kind}");
            }
            line.terminal().unwrap().resize(100, 30);
            let text = "0123456789é".repeat(10_000) + "the end";
            let typed = text.clone();
            send(&mut line, typed.as_bytes()).await.unwrap();
            assert!(up_to_the_end_of(&mut line, text.len()).await == text, "{kind}");
        });
    }
}

async fn up_to_the_end_of(line: &mut Box<dyn Line>, len: usize) -> String {
    let (mut all, mut buffer) = (Vec::new(), vec![0; 4096]);
    while all.len() < len {
        let received = receive(line, &mut buffer).await.unwrap();
        assert!(received.len > 0, "closed after {}", all.len());
        all.extend_from_slice(&buffer[..received.len]);
    }
    String::from_utf8(all).unwrap()
}

#[test]
fn tls_is_a_phase_of_its_own_and_the_certificate_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = make_certificate(&folder);
    play(async move {
        let listener = format!("wss://127.0.0.1:0#cert={certificate}&key={key}");
        let listener = serve(listen_at(&listener));
        let mut line = connect(&listener, "").await;
        let opening = line.opening();
        assert!(opening.connected < opening.secured && opening.secured < opening.upgraded, "{opening:?}");
        assert_eq!(up_to(&mut *line, "$ ").await, "$ ");
        let target = listener.target().to_string();
        let untrusted = target.split_once('#').unwrap().0.to_owned();
        let (failure, text) = refused(&untrusted, &Options::default()).await;
        assert!(failure == "tls" && text.contains("ca=FILE"), "{text}");
        drop(open(&format!("{untrusted}#insecure").parse().unwrap(), &Options::default()).await.unwrap());
    });
}

/// Makes a certificate for 127.0.0.1, and its key.
fn make_certificate(folder: &TempDir) -> [String; 2] {
    let files = ["own.pem", "own.key"].map(|name| folder.path().join(name).display().to_string());
    let more = "-newkey rsa:2048 -nodes -subj /CN=host -addext subjectAltName=IP:127.0.0.1 -days 2";
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-out", &files[0], "-keyout", &files[1]]).args(more.split(' '));
    assert!(command.output().unwrap().status.success());
    assert!(files.iter().all(|file| fs::exists(file).unwrap()));
    files
}

#[test]
fn a_page_of_another_host_cannot_type_at_the_built_in_host() {
    play(async {
        let listener = serve(listen("ws"));
        let target = format!("{}#origin=https://evil.example", listener.target());
        let (failure, text) = refused(&target, &Options::default()).await;
        assert!(failure == "upgrade-403" && text.ends_with("another page's origin"), "{text}");
        drop(open(&format!("{}#origin=none", listener.target()).parse().unwrap(), &Options::default()).await.unwrap());
    });
}

#[test]
fn bytes_that_are_no_text_are_refused_where_only_text_is_carried() {
    play(async {
        let listener = serve(listen("ws"));
        let mut line = connect(&listener, "#frames=text").await;
        let error = send(&mut line, b"a\xff").await.unwrap_err();
        assert_eq!(failure_of(&error).name(), "not-text");
    });
}
