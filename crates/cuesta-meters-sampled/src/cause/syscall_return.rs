//! Whether a system call returns to a user's address, and which call: by the bytes before it in its file.
//!
//! A timer cannot interrupt the kernel's way out of a system call: a sample that was due there is taken at the user's next
//! instruction, the one after the call. So a sample exactly there belongs to the call. The C library's wrappers put the number
//! of the call right before it (`mov eax, N; syscall`), which gives the purpose of the call.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use super::classify::CallKind;
use super::maps::{FileOffset, Module, Modules};

/// A cache of addresses and their calls.
#[derive(Debug, Default)]
pub(super) struct SyscallReturns {
    files: HashMap<Module, Option<File>>,
    known: HashMap<FileOffset, Option<CallKind>>,
}

impl SyscallReturns {
    /// The call that returns to `offset`; none if no call does, or the file cannot be read.
    pub(super) fn call_returning_to(&mut self, modules: &Modules, offset: FileOffset) -> Option<CallKind> {
        if let Some(call) = self.known.get(&offset) {
            return *call;
        }
        if self.known.len() >= MOST_OFFSETS {
            self.known.clear();
        }
        let call = self.bytes_before(modules, offset).and_then(call_before);
        self.known.insert(offset, call);
        call
    }

    fn bytes_before(&mut self, modules: &Modules, offset: FileOffset) -> Option<[u8; REACH]> {
        if self.files.len() >= MOST_FILES {
            self.files.clear();
        }
        // Only plain files, not pipes, devices or names in brackets.
        let open = || Some(modules.path(offset.module)).filter(|path| path.starts_with('/')).and_then(open_plain);
        let file = self.files.entry(offset.module).or_insert_with(open).as_ref()?;
        let mut bytes = [0; REACH];
        file.read_exact_at(&mut bytes, offset.offset.checked_sub(REACH as u64)?).ok()?;
        Some(bytes)
    }
}

fn open_plain(path: &str) -> Option<File> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    File::open(path).ok()
}

/// Most addresses in the cache.
const MOST_OFFSETS: usize = 1 << 16;
/// Most files that stay open.
const MOST_FILES: usize = 128;

/// Bytes that are read before an address.
#[cfg(target_arch = "x86_64")]
const REACH: usize = 7;
#[cfg(target_arch = "aarch64")]
const REACH: usize = 4;

/// `syscall` is 0f 05; `mov eax, N` is b8 and four bytes.
#[cfg(target_arch = "x86_64")]
fn call_before(bytes: [u8; REACH]) -> Option<CallKind> {
    match bytes {
        [0xb8, a, b, c, d, 0x0f, 0x05] => Some(call_of(u32::from_le_bytes([a, b, c, d]))),
        [.., 0x0f, 0x05] => Some(CallKind::Unnamed),
        _ => None,
    }
}

/// `svc #0`. Not tested.
#[cfg(target_arch = "aarch64")]
fn call_before(bytes: [u8; REACH]) -> Option<CallKind> {
    (bytes == [0x01, 0x00, 0x00, 0xd4]).then_some(CallKind::Unnamed)
}

/// The purpose of a call by its number (`asm/unistd_64.h`).
#[cfg(target_arch = "x86_64")]
pub fn call_of(number: u32) -> CallKind {
    match number {
        // clone fork vfork execve exit exit_group execveat clone3
        56..=60 | 231 | 322 | 435 => CallKind::Loading,
        // open close mmap mprotect munmap mremap openat close_range openat2
        2 | 3 | 9..=11 | 25 | 257 | 436 | 437 => CallKind::Mapping,
        _ => CallKind::Other,
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub fn call_of(_: u32) -> CallKind {
    CallKind::Other
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_before_the_address_give_the_call() {
        let calls = [
            ([0xb8, 0x6e, 0, 0, 0, 0x0f, 0x05], Some(CallKind::Other)),
            ([0xb8, 9, 0, 0, 0, 0x0f, 0x05], Some(CallKind::Mapping)),
            ([0xb8, 59, 0, 0, 0, 0x0f, 0x05], Some(CallKind::Loading)),
            ([0x48, 0x89, 0xf8, 0, 0, 0x0f, 0x05], Some(CallKind::Unnamed)),
            ([0xb8, 9, 0, 0, 0, 0x90, 0x90], None),
        ];
        for (bytes, call) in calls {
            assert_eq!(call_before(bytes), call, "{bytes:x?}");
        }
    }

    #[test]
    fn a_file_is_read_at_the_offset() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        std::fs::write(&path, [0x90, 0xb8, 0x3b, 0, 0, 0, 0x0f, 0x05, 0x90]).expect("written");
        let mut modules = Modules::default();
        let module = modules.number(path.to_str().expect("text"));
        let nowhere = modules.number("/nonexistent");
        let mut syscall_returns = SyscallReturns::default();
        let mut call = |module, offset| syscall_returns.call_returning_to(&modules, FileOffset { module, offset });
        assert_eq!(call(module, 8), Some(CallKind::Loading));
        assert_eq!([call(module, 7), call(module, 3), call(module, 99), call(nowhere, 8)], [None; 4]);
    }
}
