//! The executable mappings of each process, and the file at an address.
//!
//! Mappings arrive with the samples, in order of time, so those of a process that lives for a millisecond are known too. Those
//! of older processes are read from `/proc/PID/maps` at their first sample.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;

use cuesta_record::Stamp;

use crate::perf::record::Map;

/// The number of a file (or of memory with a name) in [`Modules`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Module(pub u32);

/// Mapped files, each once.
#[derive(Debug, Default)]
pub struct Modules {
    by_path: HashMap<Arc<str>, Module>,
    paths: Vec<Arc<str>>,
}

impl Modules {
    pub fn number(&mut self, path: &str) -> Module {
        if let Some(module) = self.by_path.get(path) {
            return *module;
        }
        let path: Arc<str> = if self.paths.len() < MOST_FILES { path.into() } else { OTHER_FILES.into() };
        if let Some(module) = self.by_path.get(&path) {
            return *module;
        }
        let module = Module(u32::try_from(self.paths.len()).unwrap_or(u32::MAX));
        self.paths.push(Arc::clone(&path));
        self.by_path.insert(path, module);
        module
    }

    /// The path of a number.
    pub fn path(&self, module: Module) -> &str {
        self.paths.get(module.0 as usize).map_or("", |path| path)
    }

    /// Whether it is the dynamic linker.
    pub fn is_linker(&self, module: Module) -> bool {
        is_linker(self.path(module))
    }
}

/// Most files that are told apart.
const MOST_FILES: usize = 1 << 16;
const OTHER_FILES: &str = "[other files]";

/// Whether a file is a dynamic linker, by its name: glibc's and musl's (which is its C library too).
pub fn is_linker(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let starts = ["ld-linux", "ld-musl-", "ld64.so", "ld.so"].iter().any(|start| name.starts_with(start));
    // Debian of old: /lib/x86_64-linux-gnu/ld-2.31.so.
    let version = name.strip_prefix("ld-").and_then(|rest| rest.strip_suffix(".so"));
    starts || version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// Where in which file an address lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileOffset {
    /// The file.
    pub module: Module,
    /// Bytes from its start.
    pub offset: u64,
}

/// The executable mappings of all processes with samples.
#[derive(Debug, Default)]
pub struct Maps {
    by_process: HashMap<u32, Process>,
    /// The files.
    pub modules: Modules,
}

#[derive(Debug, Clone, Default)]
struct Process {
    /// In order of address; shared with the children until one of them changes its own.
    ranges: Arc<Vec<MappedRange>>,
    /// When its first task ended.
    ended: Option<Stamp>,
}

#[derive(Debug, Clone, Copy)]
struct MappedRange {
    start: u64,
    end: u64,
    offset: u64,
    module: Module,
}

impl Maps {
    pub fn map(&mut self, process: u32, map: &Map) {
        // Older mappings are read from /proc, which may have this one too. Adding it twice does no harm.
        self.read_if_unknown(process);
        let module = self.modules.number(&map.path);
        let range = MappedRange { start: map.start, end: map.end, offset: map.offset, module };
        if let Some(known) = self.by_process.get_mut(&process) {
            insert_range(Arc::make_mut(&mut known.ranges), range);
        }
    }

    /// A process runs a new program.
    pub fn exec(&mut self, process: u32) {
        self.by_process.insert(process, Process::default());
    }

    /// A new process has the mappings of its parent.
    pub fn fork(&mut self, process: u32, parent: u32) {
        self.read_if_unknown(parent);
        let mut child = self.by_process.get(&parent).cloned().unwrap_or_default();
        child.ended = None;
        self.by_process.insert(process, child);
    }

    /// The first task of a process has ended. Its last samples may still arrive, so it is forgotten later.
    pub fn end(&mut self, process: u32, at: Stamp) {
        if let Some(known) = self.by_process.get_mut(&process) {
            known.ended = Some(at);
        }
    }

    /// Forgets processes that ended before `floor`.
    pub fn forget(&mut self, floor: Stamp) {
        self.by_process.retain(|_, process| process.ended.is_none_or(|ended| ended >= floor));
    }

    /// The file at an address of a process.
    pub fn find(&mut self, process: u32, address: u64) -> Option<FileOffset> {
        self.read_if_unknown(process);
        let ranges = &self.by_process.get(&process)?.ranges;
        let next = ranges.partition_point(|range| range.start <= address);
        let range = ranges.get(next.checked_sub(1)?).filter(|range| address < range.end)?;
        let offset = (address - range.start).saturating_add(range.offset);
        Some(FileOffset { module: range.module, offset })
    }

    /// Reads the mappings of a process that is older than the sampler.
    fn read_if_unknown(&mut self, process: u32) {
        if self.by_process.contains_key(&process) {
            return;
        }
        let text = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let mut ranges = Vec::new();
        for map in executable(&text) {
            let module = self.modules.number(&map.path);
            insert_range(&mut ranges, MappedRange { start: map.start, end: map.end, offset: map.offset, module });
        }
        self.by_process.insert(process, Process { ranges: Arc::new(ranges), ended: None });
    }
}

/// Adds a range; it replaces whatever it covers.
fn insert_range(ranges: &mut Vec<MappedRange>, new: MappedRange) {
    if new.start >= new.end {
        return;
    }
    let from = ranges.partition_point(|old| old.end <= new.start);
    let to = ranges.partition_point(|old| old.start < new.end);
    let mut pieces = Vec::with_capacity(3);
    if let Some(first) = ranges.get(from..to).and_then(<[_]>::first).filter(|old| old.start < new.start) {
        pieces.push(MappedRange { end: new.start, ..*first });
    }
    pieces.push(new);
    if let Some(last) = ranges.get(from..to).and_then(<[_]>::last).filter(|old| old.end > new.end) {
        let offset = last.offset.saturating_add(new.end - last.start);
        pieces.push(MappedRange { start: new.end, offset, ..*last });
    }
    ranges.splice(from..to, pieces);
}

/// The executable rows of `/proc/PID/maps`; rows that cannot be read are skipped.
pub fn executable(text: &str) -> impl Iterator<Item = Map> {
    text.lines().filter_map(|row| {
        let mut words = row.splitn(6, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        let executable = words.next()?.as_bytes().get(2) == Some(&b'x');
        let offset = words.next()?;
        let _device = words.next()?;
        let _inode = words.next()?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let path = words.next().unwrap_or_default().trim().to_owned();
        let map = Map { start: number(start)?, end: number(end)?, offset: number(offset)?, path };
        executable.then_some(map)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// No process of this machine has such a number.
    const NOBODY: u32 = u32::MAX - 5;

    fn map(start: u64, end: u64, path: &str) -> Map {
        Map { start, end, offset: 0x10, path: path.to_owned() }
    }

    #[test]
    fn endless_new_files_stay_bounded() {
        let mut modules = Modules::default();
        for number in 0..2 * MOST_FILES {
            modules.number(&format!("/tmp/made-{number}"));
        }
        assert!(modules.paths.len() <= MOST_FILES + 1 && modules.by_path.len() <= MOST_FILES + 1);
        let late = modules.number("/tmp/late");
        assert_eq!(modules.path(late), OTHER_FILES);
        let early = modules.number("/tmp/made-7");
        assert_eq!(modules.path(early), "/tmp/made-7");
    }

    #[test]
    fn rows_of_maps() {
        let text = "\
55d0-55e0 r--p 00000000 fd:00 11                         /usr/bin/cat
55e0-55f0 r-xp 00002000 fd:00 11                         /usr/bin/my cat (deleted)
7ff0-7ff8 r-xp 00000000 00:00 0                          [vdso]
garbage
7000-8000 rwxp 00000000 00:00 0 
";
        let rows: Vec<_> = executable(text).map(|map| (map.start, map.offset, map.path)).collect();
        let expected = [(0x55e0, 0x2000, "/usr/bin/my cat (deleted)"), (0x7ff0, 0, "[vdso]"), (0x7000, 0, "")];
        assert_eq!(rows, expected.map(|(start, offset, path)| (start, offset, path.to_owned())));
    }

    #[test]
    fn a_child_has_its_parents_maps_until_it_begins_a_program() {
        let mut maps = Maps::default();
        maps.exec(NOBODY);
        maps.map(NOBODY, &map(0x1000, 0x2000, "/a"));
        maps.fork(NOBODY - 1, NOBODY);
        maps.map(NOBODY - 1, &map(0x3000, 0x4000, "/b"));
        let path = |maps: &mut Maps, process, address| {
            maps.find(process, address).map(|spot| (maps.modules.path(spot.module).to_owned(), spot.offset))
        };
        assert_eq!(path(&mut maps, NOBODY - 1, 0x1001), Some(("/a".to_owned(), 0x11)));
        assert_eq!(path(&mut maps, NOBODY, 0x3001), None);
        maps.exec(NOBODY - 1);
        assert_eq!(path(&mut maps, NOBODY - 1, 0x1001), None);
    }

    #[test]
    fn linkers_are_known_by_name() {
        for path in ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1", "/lib/x86_64-linux-gnu/ld-2.31.so"] {
            assert!(is_linker(path), "{path}");
        }
        for path in ["/usr/bin/ld", "/usr/lib/libld-linux.so", "[vdso]", "/usr/lib/ld-foo.so", ""] {
            assert!(!is_linker(path), "{path}");
        }
    }

    proptest! {
        #[test]
        fn the_last_mapping_of_an_address_wins(rows in proptest::collection::vec((0_u64..50, 1_u64..20), 1..30), at in 0_u64..70) {
            let mut maps = Maps::default();
            maps.exec(NOBODY);
            for (number, (start, length)) in rows.iter().enumerate() {
                maps.map(NOBODY, &Map { start: *start, end: start + length, offset: *start, path: number.to_string() });
            }
            let expected = rows.iter().rposition(|(start, length)| (*start..start + length).contains(&at));
            let spot = maps.find(NOBODY, at);
            let number = spot.map(|spot| maps.modules.path(spot.module).parse::<usize>().expect("a number"));
            prop_assert_eq!(number, expected);
            prop_assert!(spot.is_none_or(|spot| spot.offset == at));
        }

        #[test]
        fn no_text_causes_a_panic(text in "\\PC{0,200}") {
            prop_assert!(executable(&text).count() <= text.lines().count());
        }
    }
}
