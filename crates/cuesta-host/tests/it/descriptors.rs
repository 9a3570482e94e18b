//! A host without free descriptors refuses new lines and serves the others. One test in its own process, because it takes all
//! descriptors.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::programs::{connect, start};

fn is_served(mut line: &TcpStream) -> bool {
    let mut echo = [0];
    line.write_all(b"x").is_ok() && line.read(&mut echo).is_ok_and(|len| len == 1)
}

#[test]
fn without_descriptors_new_lines_are_refused() {
    let few = Rlimit { current: Some(200), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, few).unwrap();
    let spec = r#"{"listen":["tcp://127.0.0.1:0"],"service":{"echo":{}}}"#;
    let host = start(spec).unwrap();
    assert!(host.notes()[0].contains("200 file descriptors are room for about 136 lines"), "{:?}", host.notes());
    assert!(host.meters()["notes"][0].as_str().unwrap().contains("ulimit -n 10064"));

    let first = connect(&host);
    assert!(is_served(&first));
    let mut taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    for refused in 1..4 {
        taken.pop();
        let line = connect(&host);
        assert!(!is_served(&line), "there is no descriptor for the host's end");
        // The host has finished with the previous line by now.
        assert!(is_served(&first));
        assert_eq!(host.meters()["lines"]["refused"], refused);
        drop(line);
        taken.extend(File::open("/dev/null"));
    }
    drop(taken);
    assert!(is_served(&connect(&host)));
    assert_eq!(host.meters()["lines"]["opened"], 2);
}
