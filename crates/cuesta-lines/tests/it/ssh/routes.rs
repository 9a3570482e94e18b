//! Routes to a host from OpenSSH's configuration: jump hosts, commands, and settings that Cuesta does not support.

use std::fs;

use cuesta_lines::{Login, Target, preflight};

use super::harness::{echoes, is_refused, opened, until};
use super::peers::{Peer, me, openssh};
use crate::real::play;

/// A configuration in the peer's folder, and a target that reads it; `{key}` and `{known}` are the peer's own files.
pub(super) fn configured(peer: &Peer, host: &str, text: &str) -> String {
    let [key, known] = ["client", "known"].map(|name| peer.path(name).display().to_string());
    // Each configuration has its own file, because a process reads each file once.
    let number = fs::read_dir(peer.folder.path()).unwrap().count();
    let file = peer.path(&format!("config-{number}"));
    fs::write(&file, text.replace("{key}", &key).replace("{known}", &known)).unwrap();
    format!("ssh://{host}?agent=off&config={}", file.display())
}

/// The block of a peer in a configuration.
pub(super) fn block(name: &str, peer: &Peer, more: &str) -> String {
    let [key, known] = ["client", "known"].map(|name| peer.path(name).display().to_string());
    format!(
        "Host {name}\n  HostName 127.0.0.1\n  Port {}\n  User {}\n  IdentityFile {key}\n  IdentitiesOnly yes\n  \
         UserKnownHostsFile {known}\n  {more}\n",
        peer.port,
        me()
    )
}

#[test]
fn a_line_goes_through_two_jump_hosts() {
    let [first, second, last] = ["", "", "ForceCommand exec cat"].map(openssh);
    let text = block("first", &first, "")
        + &block("second", &second, "")
        + &block("last", &last, "ProxyJump first,second")
        + &block("plain", &last, "");
    echoes(&configured(&last, "last", &text));
    echoes(&(configured(&last, "plain", &text) + "&jump=first"));
}

#[test]
fn a_jump_host_that_does_not_forward_is_named() {
    let [closed, last] = ["AllowTcpForwarding no", ""].map(openssh);
    let text = block("closed", &closed, "") + &block("last", &last, "ProxyJump closed");
    let (name, said) = is_refused(&configured(&last, "last", &text));
    assert_eq!(name, "jump");
    assert!(said.contains(&closed.port.to_string()) && said.contains("AllowTcpForwarding"), "{said}");
    let stranger = block("closed", &closed, "IdentityAgent none").replace("/client\n", "/nowhere\n");
    let (name, said) = is_refused(&configured(&last, "last", &(stranger + &block("last", &last, "ProxyJump closed"))));
    assert_eq!(name, "identity");
    assert!(said.contains("nowhere"), "{said}");
}

#[test]
fn a_loop_of_jump_hosts_is_refused() {
    let last = openssh("");
    let text = format!("Host *\n  ProxyJump other\n{}", block("last", &last, ""));
    let (name, said) = is_refused(&configured(&last, "last", &text));
    assert_eq!(name, "ssh-config");
    assert!(said.contains("loop"), "{said}");
}

#[test]
fn a_line_goes_through_a_proxy_command() {
    let last = openssh("ForceCommand exec cat");
    for command in ["socat - TCP:%h:%p", "exec 3<>/dev/tcp/%h/%p; cat <&3 & cat >&3"] {
        let command = if command.starts_with("exec") { format!("bash -c '{command}'") } else { command.to_owned() };
        echoes(&configured(&last, "last", &block("last", &last, &format!("ProxyCommand {command}"))));
    }
}

#[test]
fn a_line_goes_through_openssh_as_proxy_command() {
    let [first, last] = ["", "ForceCommand exec cat"].map(openssh);
    let own = last.path("own").display().to_string();
    fs::write(&own, block("first", &first, "")).unwrap();
    let command = format!("ProxyCommand ssh -F {own} -W %h:%p first");
    echoes(&configured(&last, "last", &block("last", &last, &command)));
}

#[test]
fn a_failing_proxy_command_is_named_with_its_output() {
    let last = openssh("");
    for (command, expected) in
        [("no-such-program-at-all %h", "not found"), ("echo why >&2; exit 1", "why"), ("true", "true")]
    {
        let text = block("last", &last, &format!("ProxyCommand {command}"));
        let (name, said) = is_refused(&configured(&last, "last", &text));
        assert_eq!(name, "proxy-command", "{said}");
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn blocks_match_by_host_by_user_and_by_exec() {
    let last = openssh("ForceCommand exec cat");
    let text = format!(
        "Host right wrong\n  HostName 127.0.0.1\nMatch originalhost right exec \"test %n = right\"\n  Port {}\n\
         Match user {}\n  IdentityFile {{key}}\n  IdentitiesOnly yes\nMatch host 127.0.0.*\n  \
         UserKnownHostsFile {{known}}\nHost wrong\n  Port 1\nMatch exec false\n  ProxyCommand false\n",
        last.port,
        me()
    );
    echoes(&configured(&last, "right", &text));
    assert_eq!(is_refused(&configured(&last, "wrong", &text)).0, "refused");
}

#[test]
fn the_configured_environment_and_command_are_sent() {
    let last = openssh("AcceptEnv CUESTA_*");
    let more = "SetEnv CUESTA_SET=one\n  SendEnv CARGO_PKG_NAME\n  RemoteCommand echo \"[$CUESTA_SET]\"; exec cat";
    let url = configured(&last, "last", &block("last", &last, more));
    play(async move { until(&mut *opened(&url).await.unwrap(), "[one]").await });
}

#[test]
fn unsupported_settings_are_refused_or_reported() {
    let last = openssh("");
    for more in ["BindAddress 127.0.0.2", "KnownHostsCommand /bin/true", "RequestTTY no", "AddressFamily inet6"] {
        let (name, said) = is_refused(&configured(&last, "last", &block("last", &last, more)));
        let keyword = more.split(' ').next().unwrap().to_ascii_lowercase();
        assert_eq!(name, "ssh-config");
        assert!(said.contains(&keyword), "{said}");
    }
    let (name, said) = is_refused(&configured(&last, "last", "NoSuchWord yes\n"));
    assert_eq!(name, "ssh-config");
    assert!(said.contains("nosuchword") && said.contains(" line 1"), "{said}");
    let more = "GSSAPIAuthentication yes\n  LocalForward 8080 h:80\n  Compression yes\n  Ciphers aes256-ctr";
    let Target::Ssh(target) = configured(&last, "last", &block("last", &last, more)).parse().unwrap() else {
        unreachable!()
    };
    let unused = play(async move { preflight(&target, &Login::default()).await.unwrap().unused });
    let named = ["compression yes", "localforward 8080 [h]:80"];
    assert_eq!(unused, named.map(|unused| format!("last: {unused}")));
}
