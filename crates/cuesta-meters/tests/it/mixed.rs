//! The sampler finds a cause for at least 99 % of the samples of ordinary work: shells, Emacs, sshd, the built-in host.

#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::running::Running;
use cuesta_host::{Host, Spec};
use cuesta_meters::Subject;
use cuesta_meters::sampled::cause::{Cause, SampleTally, Sampler, SamplerOptions};
use tempfile::TempDir;

/// Required samples; the work repeats until there are enough.
const ENOUGH: u64 = 4000;

#[test]
fn shells_an_editor_sshd_and_the_built_in_host_are_classified() {
    let subjects = [Subject::Machine, Subject::Process(std::process::id())];
    let sampler = Sampler::start(&subjects, SamplerOptions::default())
        .expect("this test must be allowed to sample: run it as root");
    let shells = "while :; do ls -lR /usr/share/doc; date; true; done";
    let _shells = Running::start(Command::new("sh").args(["-c", shells]).stdout(Stdio::null()).stderr(Stdio::null()));
    let host = Host::start(&Spec::parse(HOST).unwrap()).unwrap();
    let sshd = Sshd::new();
    let mut machine = SampleTally::default();
    let mut own = SampleTally::default();
    while own.busy() < ENOUGH {
        edit();
        exchange(&host.addresses()[0], 2000);
        sshd.log_in();
        let window = sampler.window().expect("the sampler lives");
        machine += &window.tallies[0];
        own += &window.tallies[1];
        assert_eq!(window.lost, 0, "records were lost: the rings are too small");
    }
    for (whose, tally) in [("the machine", &machine), ("the programs", &own)] {
        let unknown = tally.samples_of(Cause::Unclassified) as f64 / tally.busy() as f64;
        println!("{whose}: {:.3} % of {} samples have no cause", 100.0 * unknown, tally.busy());
        assert!(unknown < 0.01, "{whose}: {:.2} % of {} samples have no cause", 100.0 * unknown, tally.busy());
    }
    for cause in [Cause::User, Cause::Linking, Cause::PageFaults, Cause::SystemCalls, Cause::Loading, Cause::Mapping] {
        assert!(own.samples_of(cause) > 0, "{} is missing: {own:?}", cause.name());
    }
    assert!(own.network > 0, "no softirq time for received packets: {own:?}");
    assert!(own.network <= own.time_of(Cause::Softirq), "{own:?}");
    assert!(own.named > own.calls() * 9 / 10, "only {} of {} system calls are named", own.named, own.calls());
}

/// Lets Emacs sort and fill a file.
fn edit() {
    let work = "(progn (insert-file-contents \"/usr/share/common-licenses/GPL-3\") (sort-lines nil (point-min) (point-max)) \
                (fill-region (point-min) (point-max)))";
    let done = Command::new("emacs").args(["-Q", "--batch", "--eval", work]).stdout(Stdio::null()).status();
    assert!(done.expect("emacs is needed: ./scripts/setup --tests installs it").success());
}

const HOST: &str = r#"{"listen": ["tcp://127.0.0.1:0"], "service": {"echo": {}}}"#;

/// Sends keys, each echoed by the built-in host.
fn exchange(address: &str, keys: usize) {
    let mut line = TcpStream::connect(address.strip_prefix("tcp://").unwrap()).unwrap();
    for _ in 0..keys {
        line.write_all(b"x").unwrap();
        line.read_exact(&mut [0]).unwrap();
    }
}

/// A real sshd with temporary keys and no port: each client starts its own.
struct Sshd(TempDir);

impl Sshd {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for key in ["host", "client"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(folder.path().join(key));
            assert!(keygen.status().expect("ssh-keygen is needed: ./scripts/setup --tests installs it").success());
        }
        let path = |name: &str| folder.path().join(name).display().to_string();
        let config = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nPermitRootLogin yes\nUsePAM no\nPrintMotd no\n\
             SetEnv HOME={}\n",
            path("host"),
            path("client.pub"),
            folder.path().display(),
        );
        fs::write(folder.path().join("config"), config).unwrap();
        let _ = fs::create_dir_all("/run/sshd");
        Self(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Logs in on a terminal, runs a command and logs out.
    fn log_in(&self) {
        let sshd = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].into_iter().find(|path| Path::new(path).exists());
        let sshd = sshd.expect("sshd is needed: ./scripts/setup --tests installs it");
        let output = Command::new("ssh")
            .args(["-F", "none", "-tt", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no"])
            .args(["-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-i"])
            .arg(self.file("client"))
            .arg("-o")
            .arg(format!("ProxyCommand={sshd} -i -f {}", self.file("config").display()))
            .args(["localhost", "seq 20000; ls -l /usr/bin | tail -n 1000; echo well"])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("well"), "{output:?}");
    }
}
