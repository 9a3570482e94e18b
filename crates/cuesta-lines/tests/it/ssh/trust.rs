//! Host keys that a line trusts, and users' keys that a host accepts.

use std::fs;

use super::harness::{ask, driven, opened, refused};
use super::peers::{keygen, openssh, openssh_at};

#[test]
fn an_unknown_host_is_refused_unless_new_keys_may_be_learnt() {
    let peer = openssh("ForceCommand exec cat");
    let known = peer.path("known");
    let right = fs::read_to_string(&known).unwrap();
    fs::write(&known, "").unwrap();
    let (strict, accepting) = (peer.url(""), peer.url("&known_hosts=accept-new&config=none"));
    driven({
        let (strict, accepting) = (strict.clone(), accepting.clone());
        async move {
            let (name, text) = refused(&strict).await;
            assert_eq!(name, "host-key");
            assert!(
                text.contains("is not a known host") && text.contains("SHA256:") && text.contains("accept-new"),
                "{text}"
            );
            opened(&accepting).await.unwrap();
        }
    });
    let learnt = fs::read_to_string(&known).unwrap();
    assert!(right.starts_with(learnt.trim()), "{learnt} {right}");
    driven(async move { ask(&mut opened(&strict).await.unwrap(), "hi\r", "hi\r\nhi").await });
}

#[test]
fn a_host_whose_key_has_changed_is_always_refused() {
    let first = openssh("");
    let (port, known) = (first.port, fs::read_to_string(first.path("known")).unwrap());
    drop(first);
    let second = openssh_at(port, "");
    fs::write(second.path("known"), known).unwrap();
    for more in ["", "&known_hosts=accept-new"] {
        let url = second.url(more);
        let (name, text) = driven(async move { refused(&url).await });
        assert_eq!(name, "host-key");
        assert!(text.contains("has changed") && text.contains("row 1"), "{text}");
    }
}

#[test]
fn many_logins_write_a_new_host_key_once() {
    let peer = openssh("MaxStartups 100\nForceCommand exec cat");
    fs::write(peer.path("known"), "").unwrap();
    let url = peer.url("&known_hosts=accept-new");
    driven(async move {
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
    let url = peer.url("").replace("/client&", "/stranger&");
    let (name, text) = driven(async move { refused(&url).await });
    assert_eq!(name, "auth");
    assert!(text.contains("stranger") && text.contains("it accepts publickey"), "{text}");
}

#[test]
fn a_key_file_that_is_missing_or_has_a_passphrase_is_named() {
    let peer = openssh("");
    let missing = peer.url("").replace("/client&", "/nowhere&");
    let (name, text) = driven(async move { refused(&missing).await });
    assert_eq!(name, "identity");
    assert!(text.contains("/nowhere"), "{text}");
    let key = peer.path("client").display().to_string();
    let locked =
        std::process::Command::new("ssh-keygen").args(["-q", "-p", "-P", "", "-N", "secret", "-f", &key]).output();
    assert!(locked.unwrap().status.success());
    let url = peer.url("");
    let (name, text) = driven(async move { refused(&url).await });
    assert_eq!(name, "identity");
    assert!(text.contains("ssh-add"), "{text}");
}

#[test]
fn an_rsa_key_is_accepted() {
    let peer = openssh("ForceCommand exec cat");
    let key = peer.path("rsa").display().to_string();
    let made =
        std::process::Command::new("ssh-keygen").args(["-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", &key]).output();
    assert!(made.unwrap().status.success());
    fs::copy(peer.path("rsa.pub"), peer.path("authorized")).unwrap();
    let url = peer.url("").replace("/client&", "/rsa&");
    driven(async move { ask(&mut opened(&url).await.unwrap(), "hi\r", "hi\r\nhi").await });
}

#[test]
fn a_new_host_key_is_hashed_if_configured() {
    let peer = openssh("ForceCommand exec cat");
    let (known, config) = (peer.path("known"), peer.path("config"));
    fs::write(&known, "").unwrap();
    fs::write(&config, "HashKnownHosts yes\n").unwrap();
    let url = peer.url(&format!("&config={}", config.display()));
    driven({
        let accepting = format!("{url}&known_hosts=accept-new");
        async move { drop(opened(&accepting).await.unwrap()) }
    });
    assert!(fs::read_to_string(&known).unwrap().starts_with("|1|"));
    let found = std::process::Command::new("ssh-keygen")
        .args(["-F", &format!("[127.0.0.1]:{}", peer.port), "-f"])
        .arg(&known)
        .output();
    assert!(found.unwrap().status.success(), "OpenSSH finds it too");
    driven(async move { ask(&mut opened(&url).await.unwrap(), "hi\r", "hi\r\nhi").await });
}
