//! A process without free file descriptors. One test in its own process, because it lowers the limit of the process.

use std::fs::File;

use cuesta_lines::{Listener, Options, open};
use cuesta_record::clock::{self, Time};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn running_out_of_descriptors_is_reported_with_a_remedy() {
    clock::run(Time::Real, async {
        let listener = Listener::bind(&"tcp://127.0.0.1:0".parse().unwrap()).unwrap();
        let hard = getrlimit(Resource::Nofile).maximum;
        setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: hard }).unwrap();
        let mut files = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            files.push(file);
        }
        let error = open(&listener.target(), &Options::default()).await.err().expect("no descriptor is left");
        assert_eq!(error.failure().name(), "out-of-files");
        assert!(error.to_string().contains("raise the limit with `ulimit -n`"), "{error}");
        files.truncate(files.len() - 1);
        let line = open(&listener.target(), &Options::default()).await;
        assert!(line.is_ok(), "one descriptor is enough for a line");
    })
    .unwrap();
}
