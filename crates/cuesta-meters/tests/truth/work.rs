//! Programs that time their own work.
#![allow(unsafe_code)] // There is no safe interface to dlopen and madvise.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::ptr;
use std::time::Duration;

use cuesta_record::clock;
use serde::{Deserialize, Serialize};

/// CPU time that a program measured of itself: seconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Truth {
    /// The total.
    pub(crate) cpu: f64,
    /// Time by kind of work: `user`, `faults`, `calls`, `linking`, `io`.
    pub(crate) parts: BTreeMap<String, f64>,
    /// Page faults caused on purpose.
    pub(crate) faults: u64,
    /// System calls made on purpose.
    pub(crate) calls: u64,
}

/// Prints `ready`, waits for a row, works, prints the [`Truth`], and waits for another row.
pub(crate) fn serve(kinds: &str, seconds: f64) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut work = Work::new(kinds, folder.path());
    // The first slice of each kind has costs that later ones do not have.
    kinds.split(',').for_each(|kind| work.slice(kind));
    work.truth = Truth::default();
    print_row("ready");
    wait();
    let start = clock::thread_cpu();
    let end = start + Duration::from_secs_f64(seconds);
    while clock::thread_cpu() < end {
        kinds.split(',').for_each(|kind| work.slice(kind));
    }
    work.truth.cpu = clock::thread_cpu().saturating_sub(start).as_secs_f64();
    print_row(&serde_json::to_string(&work.truth).expect("numbers"));
    wait();
}

fn print_row(row: &str) {
    writeln!(io::stdout(), "{row}").expect("stdout is open");
}

fn wait() {
    // An end of file means that the test has ended: no error.
    let _ = io::stdin().read(&mut [0]);
}

struct Work {
    truth: Truth,
    pages: *mut u8,
    library: CString,
    file: File,
    block: Vec<u8>,
    /// State of a small random generator: slices of equal length could run in step with the sampler's timer.
    random: u32,
}

/// Most pages that a slice of faults touches.
const PAGES: usize = 1024;
const PAGE: usize = 4096;

impl Work {
    fn new(kinds: &str, folder: &Path) -> Self {
        let library = if kinds.contains("linking") { build_library(folder) } else { CString::default() };
        let file = File::create(folder.join("written")).expect("a file");
        Self { truth: Truth::default(), pages: map(), library, file, block: vec![7; 1 << 18], random: 1 }
    }

    fn slice(&mut self, kind: &str) {
        match kind {
            "user" => self.user(),
            "faults" => self.faults(),
            "calls" => self.calls(),
            "linking" => self.link(),
            "io" => self.write(),
            "sleep" => rest(),
            _ => panic!("no such work: {kind}"),
        }
    }

    /// Adds the CPU time of `work` to `part` and returns it.
    fn timed(&mut self, part: &str, work: impl FnOnce(&mut Self)) -> f64 {
        let before = clock::thread_cpu();
        work(self);
        let took = clock::thread_cpu().saturating_sub(before).as_secs_f64();
        self.add(part, took);
        took
    }

    /// Allocates only for a new part: later allocations would be work that no part counts.
    fn add(&mut self, part: &str, seconds: f64) {
        match self.truth.parts.get_mut(part) {
            Some(sum) => *sum += seconds,
            None => drop(self.truth.parts.insert(part.to_owned(), seconds)),
        }
    }

    /// A random number between half of `most` and `most`.
    fn some(&mut self, most: usize) -> usize {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        most / 2 + (self.random >> 8) as usize % (most / 2)
    }

    fn user(&mut self) {
        let turns = self.some(4_000_000);
        self.timed("user", |_| {
            let mut sum = 0_usize;
            for turn in 0..turns {
                sum = black_box(sum ^ turn);
            }
        });
    }

    /// Touches unmapped pages, then touches them again: the difference is the cost of the faults.
    fn faults(&mut self) {
        let pages = self.some(PAGES);
        self.timed("faults", |work| touch(work.pages, pages));
        let again = self.timed("user", |work| touch(work.pages, pages));
        self.add("user", again);
        self.add("faults", -again);
        self.truth.faults += pages as u64;
        self.timed("calls", |work| give_back(work.pages));
    }

    fn calls(&mut self) {
        let calls = self.some(16_384);
        self.timed("calls", |_| {
            for _ in 0..calls {
                black_box(rustix::process::getppid());
            }
        });
        self.truth.calls += calls as u64;
    }

    fn link(&mut self) {
        self.timed("linking", |work| {
            // SAFETY: the name ends with a zero; our own library does nothing when it is loaded.
            let handle = unsafe { libc::dlopen(work.library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            assert!(!handle.is_null(), "the library does not load");
            // SAFETY: the handle is that of a loaded library, nothing of which is used.
            unsafe { libc::dlclose(handle) };
        });
    }

    fn write(&mut self) {
        let blocks = self.some(16) as u64;
        self.timed("io", |work| {
            for block in 0..blocks {
                work.file.write_all_at(&work.block, block << 18).expect("written");
            }
            // Syncs rarely, because a slow device would make the test long.
            if blocks == 15 {
                work.file.sync_data().expect("on the device");
            }
        });
    }
}

/// Sleeps for 5 ms, several times as long as a slice of work takes.
#[expect(clippy::disallowed_methods, reason = "the sleep is part of the load, it waits for nothing")]
fn rest() {
    let time = rustix::thread::Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
    let _ = rustix::thread::nanosleep(&time);
}

fn map() -> *mut u8 {
    let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping of small pages at an address that the kernel chooses; it is never unmapped.
    unsafe {
        let start = libc::mmap(ptr::null_mut(), PAGES * PAGE, protection, kind, -1, 0);
        assert!(start != libc::MAP_FAILED, "no memory");
        libc::madvise(start, PAGES * PAGE, libc::MADV_NOHUGEPAGE);
        start.cast()
    }
}

#[inline(never)]
fn touch(start: *mut u8, pages: usize) {
    for page in 0..pages {
        // SAFETY: within the mapping.
        unsafe { start.add(page * PAGE).write_volatile(1) };
    }
}

fn give_back(start: *mut u8) {
    // SAFETY: the mapping belongs to this process and no reference points into it.
    let refused = unsafe { libc::madvise(start.cast(), PAGES * PAGE, libc::MADV_DONTNEED) };
    assert_eq!(refused, 0, "pages cannot be given back");
}

/// Builds a library of 1500 symbols and little else, so that loading it is nearly all the dynamic linker's work.
fn build_library(folder: &Path) -> CString {
    const NAMES: usize = 1500;
    let names = (0..NAMES).map(|n| format!("int cuesta_truth_{n};\n")).collect::<Vec<_>>().concat();
    let table = (0..NAMES).map(|n| format!("&cuesta_truth_{n},")).collect::<Vec<_>>().concat();
    let (source, library) = (folder.join("names.c"), folder.join("libnames.so"));
    std::fs::write(&source, format!("{names}int *table[] = {{{table}}};\n")).expect("written");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(built.expect("cc is needed").success(), "the library is not built");
    CString::new(library.into_os_string().into_encoded_bytes()).expect("no zero in a path")
}
