//! Programs leave no zombies and no descriptors. One test in its own process, because it counts the children and descriptors of
//! the process.

use std::fs;

use crate::real::{children, descriptors, line, opened, play, to_the_end, typed, up_to};
use cuesta_lines::{Listener, Options};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn no_zombie_and_no_descriptor_is_left_or_inherited() {
    play(async { drop(line("pty:true").await) });
    cuesta_lines::wait_for_ended_programs();
    let before = descriptors();
    play(async {
        let mut lines = Vec::new();
        for target in ["pty:cat", "pipe:cat", "pty:true", "pty:trap '' HUP; sleep 600", "pty:no-such-program"] {
            for _ in 0..5 {
                lines.push(line(target).await);
            }
        }
        assert_eq!(children().len(), 25);
        let mut last = line("pty:ls -l /proc/self/fd").await;
        let (shown, _) = to_the_end(&mut *last).await;
        let open: Vec<&str> = shown.lines().filter_map(|row| Some(row.split_once(" -> ")?.1)).collect();
        let own = open.iter().filter(|what| what.starts_with("/dev/pts/")).count();
        assert_eq!(own, 3, "its own terminal, three times: {shown}");
        assert!(!shown.contains("ptmx") && !shown.contains("anon_inode"), "{shown}");
        typed(&mut *lines[0], "still here\r").await;
        up_to(&mut *lines[0], "still here").await;
    });
    cuesta_lines::wait_for_ended_programs();
    assert_eq!(children(), Vec::<i32>::new());
    assert_eq!(descriptors(), before);
    threads_start_programs_without_each_others_terminals();
    running_out_of_descriptors_is_reported();
}

/// A terminal is not hung up while a program of another thread has it open.
fn threads_start_programs_without_each_others_terminals() {
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                play(async {
                    for _ in 0..25 {
                        let mut line = line("pty:ls -l /proc/self/fd").await;
                        let (shown, fault) = to_the_end(&mut *line).await;
                        assert!(!shown.contains("ptmx") && fault.is_none(), "{shown}");
                    }
                });
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
    cuesta_lines::wait_for_ended_programs();
    assert_eq!(children(), Vec::<i32>::new());
}

fn running_out_of_descriptors_is_reported() {
    play(async {
        let listener = Listener::bind(&"tcp://127.0.0.1:0".parse().expect("a target")).expect("a free port");
        let hard = getrlimit(Resource::Nofile).maximum;
        setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: hard }).expect("a lower limit");
        let mut files = Vec::new();
        while let Ok(file) = fs::File::open("/dev/null") {
            files.push(file);
        }
        // Files are closed one by one until there are enough; a failed start must leave nothing behind.
        let mut refused = Vec::new();
        for target in [&listener.target().to_string(), "pty:cat", "pipe:cat"] {
            let before = files.len();
            while let Err(error) = opened(target, &Options::default()).await {
                assert_eq!(error.failure().name(), "out-of-files");
                assert!(error.to_string().contains("raise the limit with `ulimit -n`"), "{error}");
                files.pop().expect("fewer than all are enough");
            }
            refused.push(before - files.len());
        }
        assert!(refused[0] == 1 && refused[1] > 0, "a connection takes one descriptor, a terminal more: {refused:?}");
    });
    cuesta_lines::wait_for_ended_programs();
    assert_eq!(children(), Vec::<i32>::new());
}
