//! TLS to a real host: socat with OpenSSL in front of a program.
#![allow(clippy::unwrap_used)] // Shared functions are part of tests too.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use cuesta_lines::{Options, send};
use tempfile::TempDir;

use crate::real::{line, play, refused, to_the_end};

/// A host with a certificate for this name, signed by an authority of its own.
struct Host {
    port: u16,
    folder: TempDir,
    socat: Child,
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.socat.kill();
        let _ = self.socat.wait();
    }
}

impl Host {
    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

fn openssl(folder: &TempDir, arguments: &str) {
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let output = Command::new("openssl").args(&arguments).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn host(name: &str, program: &str) -> Host {
    let folder = tempfile::tempdir().unwrap();
    openssl(&folder, "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=authority -days 2");
    openssl(&folder, "req -newkey rsa:2048 -nodes -keyout host.key -out host.csr -subj /CN=host");
    fs::write(folder.path().join("names"), format!("subjectAltName={name}\n")).unwrap();
    openssl(
        &folder,
        "x509 -req -in host.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out host.pem -days 2 -extfile names",
    );
    // Each test has a network of its own, so the port is free.
    let port = 2099;
    let listen = format!("OPENSSL-LISTEN:{port},bind=127.0.0.1,fork,cert=host.pem,key=host.key,verify=0");
    let mut socat = Command::new("socat");
    socat.args(["-d", "-d", &listen, program]).current_dir(folder.path()).stderr(Stdio::piped());
    let mut socat = socat.spawn().unwrap();
    let mut said = BufReader::new(socat.stderr.take().unwrap());
    let mut row = String::new();
    while !row.contains("listening on") {
        row.clear();
        assert!(said.read_line(&mut row).unwrap() > 0, "socat has ended");
    }
    std::thread::spawn(move || said.lines().for_each(drop));
    Host { port, folder, socat }
}

#[test]
fn characters_pass_encrypted_and_the_end_is_seen() {
    let host = host("IP:127.0.0.1", "SYSTEM:head -c 200003 | tr a-z A-Z");
    let url = format!("telnets://127.0.0.1:{}?certificate={}", host.port, host.path("ca.pem"));
    play(async move {
        let mut line = line(&url).await;
        assert!(line.opening().secured > line.opening().connected);
        let text: Vec<u8> = (0..200_003_u32).map(|index| b'a' + (index % 26) as u8).collect();
        send(&mut line, &text).await.unwrap();
        assert!(to_the_end(&mut *line).await == (String::from_utf8(text.to_ascii_uppercase()).unwrap(), None));
        let traffic = line.traffic();
        assert!(traffic.sent > 200_003 && traffic.received > 200_003, "{traffic:?}");
    });
}

#[test]
fn only_a_trusted_host_with_the_right_name_is_accepted() {
    let right = host("IP:127.0.0.1", "EXEC:cat");
    let [authority, own] = ["ca.pem", "host.pem"].map(|name| right.path(name));
    let port = right.port;
    let error = |more: &str| {
        let url = format!("tn3270s://127.0.0.1:{port}{more}");
        play(async move { refused(&url, &Options::default()).await })
    };
    for trusted in [format!("?certificate={authority}"), format!("?certificate={own}"), "?verify=no".to_owned()] {
        play(async move { drop(line(&format!("tn3270s://127.0.0.1:{port}{trusted}")).await) });
    }
    let (name, text) = error("");
    assert!(name == "tls" && text.contains("?certificate=FILE"), "{text}");
    let (name, text) = error("?certificate=/dev/null");
    assert!(name == "tls" && text.contains("/dev/null"), "{text}");
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let other = host("DNS:elsewhere.example", "EXEC:cat");
    let url = format!("telnets://127.0.0.1:{}?certificate={}", other.port, other.path("ca.pem"));
    let (_, text) = play(async move { refused(&url, &Options::default()).await });
    assert!(text.contains("not valid for name"), "{text}");
}

#[test]
fn a_host_without_tls_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("telnets://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut stream, b"login: ").unwrap();
        let _ = std::io::Read::read(&mut stream, &mut [0; 99]);
    });
    assert_eq!(play(async move { refused(&url, &Options::default()).await.0 }), "tls");
}
