//! Hosts that ask for one method after the other (`AuthenticationMethods`), and what a configuration says of methods and algorithms.

use std::fs;
use std::process::Command;

use cuesta_lines::{Login, Target, preflight};

use super::harness::{ask, opened_by};
use super::peers::{Peer, keygen, me, openssh, openssh_with_passwords};
use crate::real::play;

/// Logs in with a password, and returns the error's name and text if that fails.
fn logs_in(url: String, password: &str) -> Result<(), (String, String)> {
    let login = Login { user: Some(me()), password: Some(password.to_owned()), ..Login::default() };
    play(async move {
        let mut line =
            opened_by(&url, login).await.map_err(|error| (error.failure().name().to_owned(), error.to_string()))?;
        ask(&mut line, "hi\r", "hi\r\nhi").await;
        Ok(())
    })
}

/// A target whose key is the default one of a home folder, so that nothing in the target names it.
fn with_a_default_key(peer: &Peer) -> String {
    let config = peer.path("config").display().to_string();
    fs::write(&config, format!("IdentityFile {}\n", peer.path("client").display())).unwrap();
    format!("ssh://127.0.0.1:{}?agent=off&config={config}&known_hosts={}", peer.port, peer.path("known").display())
}

fn given(peer: &Peer) -> String {
    fs::read_to_string(peer.path("given")).unwrap_or_default()
}

#[test]
fn methods_are_tried_in_the_order_that_the_host_asks_for() {
    for methods in [
        "publickey,password",
        "password,publickey",
        "publickey,keyboard-interactive",
        "keyboard-interactive,publickey",
        "publickey,password,keyboard-interactive",
    ] {
        let peer = openssh_with_passwords(&format!("AuthenticationMethods {methods}\nForceCommand exec cat"));
        for url in [peer.url(""), with_a_default_key(&peer)] {
            assert_eq!(logs_in(url, "geheim"), Ok(()), "{methods}");
        }
    }
}

#[test]
fn a_host_may_ask_for_two_keys_of_the_agent_and_a_password() {
    let peer = openssh_with_passwords("AuthenticationMethods publickey,publickey,password\nForceCommand exec cat");
    let [socket, second] = ["agent", "second"].map(|name| peer.path(name).display().to_string());
    keygen(&second);
    let both = ["client.pub", "second.pub"].map(|name| fs::read_to_string(peer.path(name)).unwrap());
    fs::write(peer.path("authorized"), both.concat()).unwrap();
    let _agent = super::certificates::agent(&socket);
    for key in [&second, &peer.path("client").display().to_string()] {
        super::certificates::add(&socket, key);
        fs::remove_file(key).unwrap();
    }
    fs::write(peer.path("config"), format!("IdentityAgent {socket}\n")).unwrap();
    let url = format!(
        "ssh://127.0.0.1:{}?config={}&known_hosts={}",
        peer.port,
        peer.path("config").display(),
        peer.path("known").display()
    );
    assert_eq!(logs_in(url, "geheim"), Ok(()));
}

#[test]
fn a_wrong_password_is_sent_once_whatever_asks_for_it_and_however_often_users_come() {
    let peer = openssh_with_passwords("MaxAuthTries 9");
    fs::remove_file(peer.path("client")).unwrap();
    let errors = [(); 3].map(|()| logs_in(with_a_default_key(&peer), "falsch").unwrap_err());
    assert!(errors[0].0 == "auth" && errors[0].1.contains("the password, when asked"), "{errors:?}");
    assert!(errors[1..].iter().all(|(_, text)| text.contains("not tried again")), "{errors:?}");
    assert!(errors.iter().all(|(_, text)| !text.contains("falsch")), "{errors:?}");
    assert_eq!(given(&peer), "falsch\n");
}

#[test]
fn preferred_authentications_give_the_order() {
    let peer = openssh_with_passwords("ForceCommand exec cat");
    let config = peer.path("config").display().to_string();
    for (preferred, password_is_used) in [("publickey,password", false), ("password,publickey", true)] {
        let _ = fs::remove_file(peer.path("given"));
        let file = format!("{config}-{preferred}");
        fs::write(&file, format!("PreferredAuthentications {preferred}\n")).unwrap();
        assert_eq!(logs_in(peer.url(&format!("&config={file}")), "geheim"), Ok(()));
        assert_eq!(given(&peer) == "geheim\n", password_is_used, "{preferred}");
    }
}

#[test]
fn configured_algorithms_are_used_and_those_that_cannot_be_are_named() {
    // What the host logs of the key exchange is what was agreed on.
    for (ours, theirs) in [
        ("KexAlgorithms ecdh-sha2-nistp384\nCiphers aes256-ctr\nMACs hmac-sha2-256\n", ""),
        ("", "KexAlgorithms ecdh-sha2-nistp256\nCiphers aes128-gcm@openssh.com"),
        ("", "Ciphers aes128-ctr\nMACs hmac-sha1"),
        ("KexAlgorithms sntrup761x25519-sha512@openssh.com,curve25519-sha256\n", "KexAlgorithms curve25519-sha256"),
    ] {
        let peer = openssh(&format!("{theirs}\nForceCommand exec cat"));
        let config = peer.path("config").display().to_string();
        fs::write(&config, ours).unwrap();
        let url = peer.url(&format!("&config={config}"));
        let Target::Ssh(target) = url.parse().unwrap() else { unreachable!() };
        let unused = play(async move { preflight(&target, &Login::default()).await.unwrap().unused });
        let named = "127.0.0.1: kexalgorithms sntrup761x25519-sha512@openssh.com (not supported)";
        assert_eq!(unused.iter().any(|row| row == named), ours.contains("sntrup"), "{unused:?}");
        assert_eq!(logs_in(url, ""), Ok(()), "{ours}{theirs}");
    }
}

#[test]
fn a_configured_algorithm_that_the_host_does_not_allow_is_not_replaced() {
    let peer = openssh("Ciphers aes128-ctr");
    let config = peer.path("config").display().to_string();
    fs::write(&config, "Ciphers aes256-ctr\n").unwrap();
    let (name, _) = logs_in(peer.url(&format!("&config={config}")), "").unwrap_err();
    assert_eq!(name, "kex");
    let ssh = Command::new("ssh").args(["-F", &config, "-G", "h"]).output().unwrap();
    assert!(String::from_utf8_lossy(&ssh.stdout).contains("ciphers aes256-ctr\n"));
}
