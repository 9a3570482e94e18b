//! At least 99 % of the samples of ordinary work have a cause.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;

use cuesta_meters::Subject;
use cuesta_meters::cause::{Cause, Options, Sampler, Tally};

/// Samples that are asked for; the work goes on until they are there.
const ENOUGH: u64 = 4000;

#[test]
fn shells_an_editor_and_a_network_are_classified() {
    let subjects = [Subject::Machine, Subject::Process(std::process::id())];
    let sampler = Sampler::start(&subjects, Options::default()).expect("this test needs to be allowed to sample");
    let _shells = Load::start("sh", &["-c", "while :; do ls -lR /usr/share/doc; date; true; done"]);
    let mut machine = Tally::default();
    let mut own = Tally::default();
    while own.busy() < ENOUGH {
        edit();
        exchange(2000);
        let cut = sampler.cut().expect("the sampler lives");
        machine += &cut.tallies[0];
        own += &cut.tallies[1];
        assert_eq!(cut.lost, 0, "the rings are large enough for this");
    }
    for (whose, tally) in [("the machine", &machine), ("the programs", &own)] {
        let unknown = tally.of(Cause::Unclassified) as f64 / tally.busy() as f64;
        assert!(unknown < 0.01, "of {whose}: {:.2} % of {} samples have no cause", 100.0 * unknown, tally.busy());
    }
    for cause in [Cause::User, Cause::Linking, Cause::PageFaults, Cause::SystemCalls, Cause::Loading, Cause::Mapping] {
        assert!(own.of(cause) > 0, "{} is missing: {own:?}", cause.name());
    }
    assert!(own.of(Cause::Softirq) > 0, "what comes in from the network is softirq: {own:?}");
    assert!(own.named > own.calls() * 9 / 10, "{} of {} calls are known", own.named, own.calls());
}

/// Emacs puts a file in order.
fn edit() {
    let work = "(progn (insert-file-contents \"/usr/share/common-licenses/GPL-3\") (sort-lines nil (point-min) (point-max)) \
                (fill-region (point-min) (point-max)))";
    let done = Command::new("emacs").args(["-Q", "--batch", "--eval", work]).stdout(Stdio::null()).status();
    assert!(done.expect("emacs is needed: ./scripts/setup --tests installs it").success());
}

/// So many messages there and back over loopback.
fn exchange(messages: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    let host = thread::spawn(move || {
        let (mut line, _) = listener.accept().expect("somebody calls");
        let mut key = [0];
        while line.read(&mut key).expect("a line") > 0 {
            line.write_all(&key).expect("a line");
        }
    });
    let mut line = TcpStream::connect(address).expect("a host");
    for _ in 0..messages {
        line.write_all(b"x").expect("a line");
        line.read_exact(&mut [0]).expect("an echo");
    }
    drop(line);
    host.join().expect("the host is well");
}

/// A program that goes on until this is dropped.
struct Load(Child);

impl Load {
    fn start(program: &str, words: &[&str]) -> Self {
        Self(Command::new(program).args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
