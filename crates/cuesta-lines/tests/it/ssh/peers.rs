//! Real ssh hosts, each with its own keys and home folder. Each runs in its own PID namespace, so that its sessions end with it,
//! and in the test's network.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A running host.
pub(crate) struct Peer {
    pub(crate) port: u16,
    pub(crate) folder: TempDir,
    /// `unshare`, which ends once all processes of the host have ended.
    namespace: Child,
}

impl Drop for Peer {
    /// Kills the host; the kernel then kills all other processes of its namespace.
    fn drop(&mut self) {
        let unshare = self.namespace.id();
        let children = fs::read_to_string(format!("/proc/{unshare}/task/{unshare}/children")).unwrap_or_default();
        for host in children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
            let _ = kill_process(host, Signal::KILL);
        }
        let _ = self.namespace.wait();
    }
}

impl Peer {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A target with an accepted key, the known host key, and `more` settings.
    pub(crate) fn url(&self, more: &str) -> String {
        let [key, known] = ["client", "known"].map(|name| self.path(name).display().to_string());
        format!("ssh://{}@127.0.0.1:{}?agent=off&identity={key}&known_hosts={known}{more}", me(), self.port)
    }
}

/// OpenSSH with `more` rows in its configuration.
pub(crate) fn openssh(more: &str) -> Peer {
    openssh_at(free_port(), more)
}

pub(crate) fn openssh_at(port: u16, more: &str) -> Peer {
    openssh_made(port, |_| more.to_owned())
}

/// The same; `more` gets the folder, which contains the host's keys by then.
pub(crate) fn openssh_with(more: impl FnOnce(&str) -> String) -> Peer {
    openssh_made(free_port(), more)
}

/// OpenSSH with `more` rows in its configuration. The password of every user is `geheim`, by PAM, which writes each one that it is given
/// to the file `given`.
pub(crate) fn openssh_with_passwords(more: &str) -> Peer {
    openssh_made(free_port(), |folder| {
        let check = format!("{folder}/check");
        let script =
            format!("#!/bin/sh\ngiven=$(tr -d '\\0')\necho \"$given\" >> {folder}/given\n[ \"$given\" = geheim ]\n");
        fs::write(&check, script).unwrap();
        fs::set_permissions(&check, Permissions::from_mode(0o755)).unwrap();
        let stack = format!(
            "auth requisite pam_exec.so quiet expose_authtok {check}\nauth required pam_permit.so\n\
             account required pam_permit.so\nsession required pam_permit.so\n"
        );
        fs::write(format!("{folder}/pam"), stack).unwrap();
        format!("UsePAM yes\nPasswordAuthentication yes\nKbdInteractiveAuthentication yes\n{more}")
    })
}

fn openssh_made(port: u16, more: impl FnOnce(&str) -> String) -> Peer {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    keygen(&path("host"));
    keygen(&path("client"));
    fs::copy(path("client.pub"), path("authorized")).unwrap();
    know(&folder, port);
    let more = more(&folder.path().display().to_string());
    let _ = fs::create_dir_all("/run/sshd");
    let config = format!(
        "{more}\nPort {port}\nListenAddress 127.0.0.1\nHostKey {}\nPidFile none\nAuthorizedKeysFile {}\nStrictModes no\n\
         PermitRootLogin yes\nUsePAM no\nPasswordAuthentication no\nUseDNS no\nPrintMotd no\nPrintLastLog no\n",
        path("host"),
        path("authorized"),
    );
    fs::write(path("sshd_config"), config).unwrap();
    let host = spawn(&folder, &["/usr/sbin/sshd", "-D", "-e", "-f", &path("sshd_config")]);
    started(host, port, folder, "Server listening")
}

pub(crate) fn dropbear() -> Peer {
    let (port, folder) = (free_port(), tempfile::tempdir().unwrap());
    let path = |name: &str| folder.path().join(name).display().to_string();
    run(Command::new("dropbearkey").args(["-t", "ed25519", "-f", &path("host")]));
    let public = Command::new("dropbearkey").args(["-y", "-f", &path("host")]).output().unwrap();
    let public = String::from_utf8(public.stdout).unwrap();
    let key = public.lines().find(|row| row.starts_with("ssh-ed25519 ")).unwrap().to_owned();
    fs::write(path("known"), format!("[127.0.0.1]:{port} {key}\n")).unwrap();
    keygen(&path("client"));
    let address = format!("127.0.0.1:{port}");
    let host = spawn(&folder, &["dropbear", "-F", "-E", "-p", &address, "-r", &path("host"), "-P", &path("pid")]);
    started(host, port, folder, "Not backgrounding")
}

/// tinysshd, one process for each connection.
pub(crate) fn tinysshd() -> Peer {
    let (port, folder) = (free_port(), tempfile::tempdir().unwrap());
    let path = |name: &str| folder.path().join(name).display().to_string();
    run(Command::new("tinysshd-makekey").args(["-q", &path("keys")]));
    let printed = Command::new("tinysshd-printkey").arg(path("keys")).output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let key = printed.lines().find(|row| row.contains("ssh-ed25519 ")).unwrap();
    fs::write(path("known"), format!("[127.0.0.1]:{port} {}\n", &key[key.find("ssh-ed25519").unwrap()..])).unwrap();
    keygen(&path("client"));
    let port_text = port.to_string();
    // Without a name, tcpsvd asks the DNS for one, which this network has not.
    let listens = ["tcpsvd", "-v", "-E", "-l", "localhost", "127.0.0.1", &port_text];
    let host = spawn(&folder, &[&listens[..], &["tinysshd", "-v", &path("keys")]].concat());
    started(host, port, folder, "")
}

/// Makes a key without a passphrase.
pub(crate) fn keygen(path: &str) {
    ssh_keygen(&["-q", "-t", "ed25519", "-N", "", "-C", "throwaway", "-f", path]);
}

pub(crate) fn ssh_keygen(arguments: &[&str]) {
    run(Command::new("ssh-keygen").args(arguments));
}

/// Writes the host's key to `known`.
fn know(folder: &TempDir, port: u16) {
    let key = fs::read_to_string(folder.path().join("host.pub")).unwrap();
    fs::write(folder.path().join("known"), format!("[127.0.0.1]:{port} {key}")).unwrap();
}

pub(crate) fn me() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Each test has a network of its own (`.config/nextest.toml`), and no connection has a port as low as this at its other end.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(2201);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Starts a host as the first process of a new PID namespace. Its users' home contains nothing but the client's key, in a mount
/// namespace: a shell's start files may read what a test types, or run for a minute.
fn spawn(folder: &TempDir, command: &[&str]) -> Child {
    let home = folder.path().join("home");
    let keys = home.join(".ssh");
    DirBuilder::new().recursive(true).mode(0o700).create(&keys).unwrap();
    fs::copy(folder.path().join("client.pub"), keys.join("authorized_keys")).unwrap();
    // A folder's PAM configuration takes the place of the machine's.
    let in_home = "mount --bind \"$1\" ~ && if [ -e \"$1/../pam\" ]; then mount --bind \"$1/../pam\" /etc/pam.d/sshd; fi && \
                   shift && exec \"$@\"";
    let mut unshare = Command::new("unshare");
    unshare.args(["--pid", "--fork", "--kill-child", "--mount", "sh", "-c", in_home, "sh"]).arg(home).args(command);
    unshare.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    unshare.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Waits until a row of its output contains `sign` and its port accepts; later output is discarded.
fn started(mut namespace: Child, port: u16, folder: TempDir, sign: &str) -> Peer {
    let mut said = BufReader::new(namespace.stderr.take().unwrap());
    let mut row = String::new();
    let mut all = String::new();
    while !row.contains(sign) {
        row.clear();
        assert!(said.read_line(&mut row).unwrap() > 0, "{all}\n./scripts/setup --tests installs ssh hosts");
        all.push_str(&row);
    }
    thread::spawn(move || said.lines().count());
    // dropbear prints its sign before it listens, and tcpsvd prints none.
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert_eq!(namespace.try_wait().unwrap(), None, "it has ended");
        thread::yield_now();
    }
    Peer { port, folder, namespace }
}
