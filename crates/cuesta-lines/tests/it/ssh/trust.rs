//! Host keys that a line trusts, and users' keys that a host accepts.

use std::fs;

use super::harness::{echoes, is_refused, opened};
use super::peers::{keygen, openssh, openssh_at, ssh_keygen};
use crate::real::play;

#[test]
fn an_unknown_host_is_refused_unless_new_keys_may_be_learnt() {
    let peer = openssh("ForceCommand exec cat");
    let known = peer.path("known");
    let right = fs::read_to_string(&known).unwrap();
    fs::write(&known, "").unwrap();
    let (strict, accepting) = (peer.url(""), peer.url("&known_hosts=accept-new&config=none"));
    let (name, text) = is_refused(&strict);
    assert_eq!(name, "host-key");
    assert!(["is not a known host", "SHA256:", "accept-new"].iter().all(|part| text.contains(part)), "{text}");
    echoes(&accepting);
    let learnt = fs::read_to_string(&known).unwrap();
    assert!(right.starts_with(learnt.trim()), "{learnt} {right}");
    echoes(&strict);
}

#[test]
fn a_host_whose_key_has_changed_is_always_refused() {
    let first = openssh("");
    let (port, known) = (first.port, fs::read_to_string(first.path("known")).unwrap());
    drop(first);
    let second = openssh_at(port, "");
    fs::write(second.path("known"), known).unwrap();
    for more in ["", "&known_hosts=accept-new"] {
        let (name, text) = is_refused(&second.url(more));
        assert_eq!(name, "host-key");
        assert!(text.contains("has changed") && text.contains("row 1"), "{text}");
    }
}

#[test]
fn many_logins_write_a_new_host_key_once() {
    let peer = openssh("MaxStartups 100\nForceCommand exec cat");
    fs::write(peer.path("known"), "").unwrap();
    let url = peer.url("&known_hosts=accept-new");
    play(async move {
        let open = |url: String| tokio::task::spawn_local(async move { opened(&url).await.unwrap() });
        let lines: Vec<_> = (0..10).map(|_| open(url.clone())).collect();
        for line in lines {
            line.await.unwrap();
        }
    });
    assert_eq!(fs::read_to_string(peer.path("known")).unwrap().lines().count(), 1);
}

#[test]
fn a_rejected_key_is_named() {
    let peer = openssh("");
    keygen(&peer.path("stranger").display().to_string());
    let (name, text) = is_refused(&peer.url("").replace("/client&", "/stranger&"));
    assert_eq!(name, "auth");
    assert!(text.contains("stranger") && text.contains("it accepts publickey"), "{text}");
}

#[test]
fn a_missing_key_file_is_named() {
    let (name, text) = is_refused(&openssh("").url("").replace("/client&", "/nowhere&"));
    assert!(name == "identity" && text.contains("/nowhere"), "{text}");
}

#[test]
fn a_new_host_key_is_hashed_if_configured() {
    let peer = openssh("ForceCommand exec cat");
    let (known, config) = (peer.path("known"), peer.path("config"));
    fs::write(&known, "").unwrap();
    fs::write(&config, "HashKnownHosts yes\n").unwrap();
    let url = peer.url(&format!("&config={}", config.display()));
    echoes(&format!("{url}&known_hosts=accept-new"));
    assert!(fs::read_to_string(&known).unwrap().starts_with("|1|"));
    // OpenSSH finds it too.
    ssh_keygen(&["-F", &format!("[127.0.0.1]:{}", peer.port), "-f", &known.display().to_string()]);
    echoes(&url);
}
