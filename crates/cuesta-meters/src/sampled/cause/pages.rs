//! Pages that are not there until they are touched. Apart because mapping memory is unsafe.
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
    /// Maps `count` pages; none is there yet.
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
        // A kernel that knows no huge pages refuses, and need not be told.
        let _ = pages.advise(libc::MADV_NOHUGEPAGE);
        Ok(pages)
    }

    /// Touches each once.
    #[inline(never)]
    pub(crate) fn touch(&mut self) {
        for page in 0..self.count {
            // SAFETY: within the mapping, which is writable and ours alone.
            unsafe { self.start.as_ptr().add(page * self.size).write_volatile(1) };
        }
    }

    /// Gives them back: each will be a fault when it is touched next.
    pub(crate) fn give_back(&mut self) -> io::Result<()> {
        self.advise(libc::MADV_DONTNEED)
    }

    fn advise(&self, advice: i32) -> io::Result<()> {
        // SAFETY: the whole mapping is ours, and nobody refers into it.
        let refused = unsafe { libc::madvise(self.start.as_ptr().cast(), self.count * self.size, advice) };
        if refused == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this length, and nobody refers into it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.count * self.size) };
    }
}
