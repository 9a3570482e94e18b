//! Memory whose pages are absent until touched. In a file of its own because mapping memory is unsafe.
#![allow(unsafe_code)]

use std::io;
use std::ptr::{self, NonNull};

/// Anonymous memory of our own, in small pages.
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
    count: usize,
    size: usize,
}

impl Pages {
    /// Maps `count` pages; all are absent.
    pub(crate) fn map(count: usize) -> io::Result<Self> {
        let size = rustix::param::page_size();
        let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new private mapping at an address of the kernel's choice.
        let start = unsafe { libc::mmap(ptr::null_mut(), count * size, protection, kind, -1, 0) };
        let Some(start) = NonNull::new(start.cast::<u8>()).filter(|start| start.as_ptr().cast() != libc::MAP_FAILED)
        else {
            return Err(io::Error::last_os_error());
        };
        let pages = Self { start, count, size };
        // A kernel without huge pages refuses, which does no harm.
        let _ = pages.advise(libc::MADV_NOHUGEPAGE);
        Ok(pages)
    }

    /// Touches each page once.
    #[inline(never)]
    pub(crate) fn touch(&mut self) {
        for page in 0..self.count {
            // SAFETY: the page is within the mapping, which is writable and which this value alone owns.
            unsafe { self.start.as_ptr().add(page * self.size).write_volatile(1) };
        }
    }

    /// Returns the pages to the kernel: the next touch of each is a fault.
    pub(crate) fn give_back(&mut self) -> io::Result<()> {
        self.advise(libc::MADV_DONTNEED)
    }

    fn advise(&self, advice: i32) -> io::Result<()> {
        // SAFETY: this value owns the whole mapping, and no reference into it exists.
        let refused = unsafe { libc::madvise(self.start.as_ptr().cast(), self.count * self.size, advice) };
        if refused == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, which has this length, and no reference into it exists.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.count * self.size) };
    }
}
