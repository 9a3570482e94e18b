//! The memory into which the kernel writes an event's records. In a file of its own because sharing it with the kernel is
//! unsafe.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::bindings::perf_event_mmap_page as Head;

use super::Event;
use super::event_config::RING_BYTES;

/// An event with its ring.
#[derive(Debug)]
pub(crate) struct Ring {
    event: Event,
    /// A page with the write and read positions, then `RING_BYTES` of records.
    start: NonNull<Head>,
    page: usize,
}

// SAFETY: the mapping belongs to this value alone, and reading takes `&mut self`.
unsafe impl Send for Ring {}

impl Ring {
    pub(crate) fn of(event: Event) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new shared mapping at an address of the kernel's choice, of an event's descriptor.
        let start = unsafe {
            libc::mmap(ptr::null_mut(), page + RING_BYTES, protection, libc::MAP_SHARED, event.as_fd().as_raw_fd(), 0)
        };
        match NonNull::new(start.cast::<Head>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Self { event, start, page }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(crate) fn event(&self) -> &Event {
        &self.event
    }

    /// Appends to `bytes` all that the kernel wrote since the last call, and frees that room in the ring.
    pub(crate) fn drain(&mut self, bytes: &mut Vec<u8>) {
        let (written, read) = self.ends();
        let head = written.load(Ordering::Acquire);
        let tail = read.load(Ordering::Relaxed);
        let length = usize::try_from(head.wrapping_sub(tail)).unwrap_or(0).min(RING_BYTES);
        let from = usize::try_from(tail % RING_BYTES as u64).unwrap_or(0);
        let first = length.min(RING_BYTES - from);
        bytes.reserve(length);
        // SAFETY: the data lies one page behind `start` and is RING_BYTES long; `from + first` is not beyond its end and
        // `length - first` is less than `from`. The kernel does not write between tail and head until tail is moved.
        unsafe {
            let data = self.start.as_ptr().cast::<u8>().add(self.page);
            let end = bytes.as_mut_ptr().add(bytes.len());
            ptr::copy_nonoverlapping(data.add(from), end, first);
            ptr::copy_nonoverlapping(data, end.add(first), length - first);
            bytes.set_len(bytes.len() + length);
        }
        read.store(head, Ordering::Release);
    }

    /// The kernel's write position and our read position, in bytes since the ring was mapped.
    fn ends(&self) -> (&AtomicU64, &AtomicU64) {
        let head = self.start.as_ptr();
        // SAFETY: both fields lie in the mapping, are aligned, and are shared with the kernel as atomics.
        unsafe { (AtomicU64::from_ptr(&raw mut (*head).data_head), AtomicU64::from_ptr(&raw mut (*head).data_tail)) }
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this length, and no reference into it is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.page + RING_BYTES) };
    }
}
