//! Certificates of users and of hosts, and keys with a passphrase, with OpenSSH's ssh-keygen, sshd and ssh-agent.

use std::fs;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use cuesta_lines::{Login, Target, preflight, unlock};

use super::harness::{echoes, is_refused};
use super::peers::{Peer, keygen, me, openssh, openssh_with, ssh_keygen};
use crate::real::play;

fn path(peer: &Peer, name: &str) -> String {
    peer.path(name).display().to_string()
}

/// A host that trusts only an authority, which has signed the key `user` of this kind.
fn host_with_an_authority(kind: &str) -> Peer {
    let peer = openssh_with(|folder| {
        keygen(&format!("{folder}/authority"));
        format!("TrustedUserCAKeys {folder}/authority.pub\nForceCommand exec cat")
    });
    let key = path(&peer, "user");
    ssh_keygen(&["-q", "-t", kind, "-N", "", "-f", &key]);
    ssh_keygen(&["-q", "-s", &path(&peer, "authority"), "-I", "joe's", "-n", &me(), &format!("{key}.pub")]);
    peer
}

#[test]
fn a_certificate_beside_its_key_is_accepted() {
    for kind in ["ed25519", "rsa", "ecdsa"] {
        let peer = host_with_an_authority(kind);
        echoes(&peer.url("").replace("/client&", "/user&"));
    }
}

#[test]
fn a_configured_certificate_works_with_a_key_file_or_an_agent_key() {
    let peer = host_with_an_authority("rsa");
    fs::rename(peer.path("user-cert.pub"), peer.path("elsewhere-cert.pub")).unwrap();
    let [config, key, socket] = ["config", "user", "agent"].map(|name| path(&peer, name));
    fs::write(&config, format!("CertificateFile {}\n", path(&peer, "elsewhere-cert.pub"))).unwrap();
    let url = peer.url(&format!("&config={config}")).replace("/client&", "/user&");
    echoes(&url);
    let _agent = agent(&socket);
    add(&socket, &key);
    fs::remove_file(&key).unwrap();
    let with_agent = format!("{config}-with-agent");
    let text = format!("CertificateFile {}\nIdentityAgent {socket}\n", path(&peer, "elsewhere-cert.pub"));
    fs::write(&with_agent, text).unwrap();
    echoes(&url.replace("agent=off&", "").replace(&config, &with_agent));
}

#[test]
fn a_certificate_in_the_agent_is_accepted() {
    let peer = host_with_an_authority("ed25519");
    let [config, key, socket] = ["config", "user", "agent"].map(|name| path(&peer, name));
    let _agent = agent(&socket);
    add(&socket, &key);
    fs::remove_file(&key).unwrap();
    fs::remove_file(peer.path("user-cert.pub")).unwrap();
    fs::write(&config, format!("IdentityAgent {socket}\n")).unwrap();
    echoes(&peer.url(&format!("&config={config}")).replace("agent=off&", "").replace("/client&", "/user&"));
}

#[test]
fn a_rejected_certificate_is_named() {
    let peer = host_with_an_authority("ed25519");
    let key = path(&peer, "user");
    ssh_keygen(&["-q", "-s", &path(&peer, "authority"), "-I", "stranger's", "-n", "nobody", &format!("{key}.pub")]);
    let (name, said) = is_refused(&peer.url("").replace("/client&", "/user&"));
    assert_eq!(name, "auth");
    assert!(said.contains("the certificate \"stranger's\""), "{said}");
}

/// A host with a certificate for `principals`, valid for `validity`, whose authority alone is known.
fn certified_host(principals: &str, validity: &str) -> Peer {
    let peer = openssh_with(|folder| {
        keygen(&format!("{folder}/authority"));
        let sign = ["-q", "-s", &format!("{folder}/authority"), "-I", "host", "-h", "-n", principals, "-V", validity];
        ssh_keygen(&[&sign[..], &[&format!("{folder}/host.pub")]].concat());
        format!("HostCertificate {folder}/host-cert.pub\nForceCommand exec cat")
    });
    know_authority(&peer, "authority");
    peer
}

fn know_authority(peer: &Peer, name: &str) {
    let key = fs::read_to_string(peer.path(&format!("{name}.pub"))).unwrap();
    fs::write(peer.path("known"), format!("@cert-authority [127.0.0.1]:*,127.0.0.* {key}")).unwrap();
}

#[test]
fn a_host_is_known_by_the_authority_that_signed_its_certificate() {
    echoes(&certified_host("127.0.0.1", "always:forever").url(""));
}

#[test]
fn a_certificate_for_another_host_or_another_time_is_refused() {
    for (principals, validity, expected) in
        [("other.example", "always:forever", "other.example"), ("127.0.0.1", "20200101:20210101", "is not valid now")]
    {
        let (name, said) = is_refused(&certified_host(principals, validity).url(""));
        assert_eq!(name, "host-certificate");
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_host_with_an_unknown_or_revoked_authority_is_refused() {
    let peer = certified_host("127.0.0.1", "always:forever");
    keygen(&path(&peer, "other"));
    know_authority(&peer, "other");
    let (name, said) = is_refused(&peer.url(""));
    assert_eq!(name, "host-key");
    assert!(said.contains("is not a known host"), "{said}");
    know_authority(&peer, "authority");
    let known = fs::read_to_string(peer.path("known")).unwrap();
    let revoked = known.replace("@cert-authority", "@revoked");
    fs::write(peer.path("known"), format!("{known}{revoked}")).unwrap();
    let (name, said) = is_refused(&peer.url(""));
    assert_eq!(name, "host-key");
    assert!(said.contains("revoked"), "{said}");
}

#[test]
fn a_key_with_a_passphrase_is_unlocked_once() {
    for kind in ["ed25519", "rsa"] {
        let peer = openssh("ForceCommand exec cat");
        let key = path(&peer, "locked");
        ssh_keygen(&["-q", "-t", kind, "-N", "open sesame", "-f", &key]);
        fs::copy(peer.path("locked.pub"), peer.path("authorized")).unwrap();
        let url = peer.url("").replace("/client&", "/locked&");
        let locked = || {
            let Target::Ssh(target) = url.parse().unwrap() else { unreachable!() };
            play(async move { preflight(&target, &Login::default()).await.unwrap().locked })
        };
        assert_eq!(locked(), [peer.path("locked")]);
        let (name, said) = is_refused(&url);
        assert_eq!(name, "identity");
        assert!(said.contains("has a passphrase"), "{said}");
        assert!(!unlock(&peer.path("locked"), "open barley").unwrap());
        assert!(unlock(&peer.path("locked"), "open sesame").unwrap());
        assert_eq!(locked(), [] as [std::path::PathBuf; 0]);
        echoes(&url);
    }
}

#[test]
fn a_key_in_the_agent_needs_no_passphrase() {
    let peer = openssh("ForceCommand exec cat");
    let [config, key, socket] = ["config", "client", "agent"].map(|name| path(&peer, name));
    let _agent = agent(&socket);
    add(&socket, &key);
    ssh_keygen(&["-q", "-p", "-P", "", "-N", "secret", "-f", &key]);
    fs::write(&config, format!("IdentityAgent {socket}\n")).unwrap();
    let url = peer.url(&format!("&config={config}")).replace("agent=off&", "");
    let Target::Ssh(target) = url.parse().unwrap() else { unreachable!() };
    let preflight = play(async move { preflight(&target, &Login::default()).await.unwrap() });
    assert!(preflight.locked.is_empty(), "{preflight:?}");
    echoes(&url);
}

/// An ssh-agent, killed when it is dropped.
pub(crate) struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn agent(socket: &str) -> Agent {
    let agent = Agent(Command::new("ssh-agent").args(["-D", "-a", socket]).stdout(Stdio::null()).spawn().unwrap());
    while UnixStream::connect(socket).is_err() {
        std::thread::yield_now();
    }
    agent
}

pub(crate) fn add(socket: &str, key: &str) {
    let added = Command::new("ssh-add").args(["-q", key]).env("SSH_AUTH_SOCK", socket).status().unwrap();
    assert!(added.success());
}
