//! Real ssh hosts, each with its own folder and keys, killed when they are dropped.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use tempfile::TempDir;

/// A running host.
pub(crate) struct Peer {
    pub(crate) port: u16,
    pub(crate) folder: TempDir,
    pub(crate) process: Child,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
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
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nPidFile none\nAuthorizedKeysFile {}\nStrictModes no\n\
         PermitRootLogin yes\nUsePAM no\nPasswordAuthentication no\nUseDNS no\nPrintMotd no\nPrintLastLog no\n{more}\n",
        path("host"),
        path("authorized"),
    );
    fs::write(path("sshd_config"), config).unwrap();
    let command = Command::new("/usr/sbin/sshd").args(["-D", "-e", "-f", &path("sshd_config")]).spawn_piped();
    started(command, port, folder, "Server listening")
}

/// dropbear; it reads `~/.ssh/authorized_keys`, see [`Authorized`].
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
    let command = Command::new("dropbear")
        .args(["-F", "-E", "-p", &address, "-r", &path("host"), "-P", &path("pid")])
        .spawn_piped();
    started(command, port, folder, "Not backgrounding")
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
    let command = Command::new("tcpsvd")
        .args(["-v", "-E", "127.0.0.1", &port_text, "tinysshd", "-v", &path("keys")])
        .spawn_piped();
    started(command, port, folder, "")
}

/// A key in `~/.ssh/authorized_keys`, which some hosts require; removed when it is dropped.
pub(crate) struct Authorized {
    key: String,
    file: PathBuf,
    made: bool,
}

impl Authorized {
    pub(crate) fn new(peer: &Peer) -> Self {
        let folder = Path::new(&std::env::var("HOME").unwrap()).join(".ssh");
        let file = folder.join("authorized_keys");
        run(Command::new("mkdir").args(["-p", "-m", "700"]).arg(&folder));
        let made = !file.exists();
        // The newline before it separates the key from a last row without one.
        let key = format!("\n{}", fs::read_to_string(peer.path("client.pub")).unwrap());
        let before = fs::read_to_string(&file).unwrap_or_default();
        fs::write(&file, format!("{before}{key}")).unwrap();
        run(Command::new("chmod").arg("600").arg(&file));
        Self { key, file, made }
    }
}

impl Drop for Authorized {
    fn drop(&mut self) {
        let left = fs::read_to_string(&self.file).unwrap_or_default().replace(&self.key, "");
        let _ = if self.made && left.is_empty() { fs::remove_file(&self.file) } else { fs::write(&self.file, left) };
    }
}

pub(crate) fn keygen(path: &str) {
    run(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", "throwaway", "-f", path]));
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

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

trait SpawnPiped {
    fn spawn_piped(&mut self) -> Child;
}

impl SpawnPiped for Command {
    fn spawn_piped(&mut self) -> Child {
        let command = self.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap_or_else(|error| panic!("{self:?}: {error}: ./scripts/setup --tests installs it"))
    }
}

/// Waits until a row of its output contains `sign` and its port accepts; later output is discarded.
fn started(mut process: Child, port: u16, folder: TempDir, sign: &str) -> Peer {
    let mut said = BufReader::new(process.stderr.take().unwrap());
    let mut row = String::new();
    let mut all = String::new();
    while !row.contains(sign) {
        row.clear();
        assert!(said.read_line(&mut row).unwrap() > 0, "it does not listen: {all}");
        all.push_str(&row);
    }
    thread::spawn(move || said.lines().count());
    // dropbear prints its sign before it listens, and tcpsvd prints none.
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        thread::yield_now();
    }
    Peer { port, folder, process }
}
