//! The program's counters as memory, so that reading them takes no system call. A file of its own because mapping is unsafe.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsFd;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use cuesta_record::Stamp;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

use super::ReceivedInKernel;

/// `struct heard` of `receive.bpf.c`, which the kernel changes at any time.
#[repr(C)]
struct PeerCounters {
    at: AtomicU64,
    messages: AtomicU64,
    segments: AtomicU64,
    octets: AtomicU64,
    lost: AtomicU64,
}

/// A map of such structures.
#[derive(Debug)]
pub(super) struct Counters {
    first: *const PeerCounters,
    count: usize,
}

// SAFETY: the memory belongs to the structure, and is only read, by atomic loads.
unsafe impl Send for Counters {}

impl Counters {
    /// Maps `count` entries of the map `heard`.
    pub(super) fn map(heard: impl AsFd, count: usize) -> io::Result<Self> {
        let length = length(count);
        // SAFETY: the kernel chooses where, so nothing of ours is replaced; it refuses a length above the map's.
        let memory = unsafe { mmap(ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, heard, 0) }?;
        Ok(Self { first: memory.cast_const().cast(), count })
    }

    /// All that was received from a peer so far.
    pub(super) fn read(&self, peer: usize) -> ReceivedInKernel {
        assert!(peer < self.count, "a peer has a place in the map");
        // SAFETY: the place is within the mapping, which lives as long as `self`; any content is valid.
        let heard = unsafe { &*self.first.add(peer) };
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ReceivedInKernel {
            at: Stamp::from_nanos(load(&heard.at)),
            messages: load(&heard.messages),
            segments: load(&heard.segments),
            octets: load(&heard.octets),
            lost: load(&heard.lost),
        }
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no reference to it is left.
        let _ = unsafe { munmap(self.first.cast_mut().cast(), length(self.count)) };
    }
}

fn length(count: usize) -> usize {
    (count.max(1) * size_of::<PeerCounters>()).next_multiple_of(page_size())
}
