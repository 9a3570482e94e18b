//! The histogram as `ic_sample` printed it: largest first, until a fraction is covered; and by module.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::stacks::{Location, Profile};

/// A histogram, largest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Listing {
    /// Busy samples: 100 % in all rows.
    pub samples: u64,
    /// The part of them that the locations should cover, 0 to 1.
    pub fraction: f64,
    /// The part that they cover.
    pub covered: f64,
    /// How many more locations there are.
    pub more: usize,
    /// Samples whose stacks were too rare to be kept ([`Profile::rare`]).
    pub rare: u64,
    pub locations: Vec<Row>,
    /// All modules: the kernel, its modules, users' files.
    pub modules: Vec<Row>,
}

/// A location or a module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The module: `kernel`, `[nf_tables]`, `libc.so.6`.
    pub module: String,
    /// The function; empty for a module as a whole.
    pub function: String,
    pub samples: u64,
    /// Percent of the busy samples.
    pub percent: f64,
}

impl Profile {
    /// The locations that cover `fraction` of the busy samples (1979: 0.9), and all modules.
    pub fn listing(&self, fraction: f64) -> Listing {
        let samples = self.busy();
        let mut locations = BTreeMap::new();
        let mut modules = BTreeMap::new();
        for stack in &self.stacks {
            let location =
                stack.frames.last().and_then(|frame| self.places.get(*frame as usize)).unwrap_or(&Location::Unknown);
            let (module, function) = location.words();
            *modules.entry((module.clone(), String::new())).or_default() += stack.samples;
            *locations.entry((module, function)).or_default() += stack.samples;
        }
        let all = rows(locations, samples);
        let enough = (fraction.clamp(0.0, 1.0) * samples as f64 - 1e-9).max(0.0);
        let mut covered = 0;
        let many = all.iter().take_while(|row| {
            let wanted = (covered as f64) < enough;
            covered += if wanted { row.samples } else { 0 };
            wanted
        });
        let many = many.count();
        let part = if samples == 0 { 0.0 } else { covered as f64 / samples as f64 };
        let more = all.len() - many;
        let locations = all.into_iter().take(many).collect();
        Listing { samples, fraction, covered: part, more, rare: self.rare, locations, modules: rows(modules, samples) }
    }
}

/// Largest first; equal ones by name.
fn rows(counts: BTreeMap<(String, String), u64>, all: u64) -> Vec<Row> {
    let row = |((module, function), samples): ((String, String), u64)| {
        let percent = 100.0 * samples as f64 / all.max(1) as f64;
        Row { module, function, samples, percent }
    };
    let mut rows: Vec<_> = counts.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.samples));
    rows
}

impl Location {
    /// The module and the function, as a listing shows them.
    pub fn words(&self) -> (String, String) {
        match self {
            Self::Kernel { function, module } if module.is_empty() => ("kernel".to_owned(), function.clone()),
            Self::Kernel { function, module } => (format!("[{module}]"), function.clone()),
            Self::User { path, offset } => (file(path), format!("+{offset:#x}")),
            Self::Function { path, function } => (file(path), function.clone()),
            Self::Unknown => ("unknown".to_owned(), String::new()),
            Self::Others => ("others".to_owned(), String::new()),
        }
    }
}

/// A file's name without its folder, or `[made at run time]` for code without a file.
fn file(path: &str) -> String {
    let path = path.trim_end_matches(" (deleted)");
    match path.rsplit('/').next() {
        Some(name) if !name.is_empty() && path != "//anon" => name.to_owned(),
        _ => "[made at run time]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::stacks::Stack;

    pub(crate) fn profile(counts: &[(&str, &str, u64)]) -> Profile {
        let mut profile = Profile::default();
        for (path, function, samples) in counts {
            let frame = u32::try_from(profile.places.len()).expect("few");
            let (path, function) = ((*path).to_owned(), (*function).to_owned());
            profile.places.push(match &*path {
                "kernel" => Location::Kernel { function, module: String::new() },
                _ => Location::Function { path, function },
            });
            profile.stacks.push(Stack { command: "x".to_owned(), frames: vec![frame], samples: *samples });
        }
        profile
    }

    #[test]
    fn the_largest_cover_the_fraction() {
        let counts = [("/lib/a.so", "f", 5), ("kernel", "g", 60), ("/lib/a.so", "h", 30), ("//anon", "+0x0", 5)];
        let listing = profile(&counts).listing(0.9);
        let shown: Vec<_> = listing.locations.iter().map(|row| (&*row.function, row.samples)).collect();
        assert_eq!(shown, [("g", 60), ("h", 30)]);
        assert_eq!((listing.more, listing.samples), (2, 100));
        assert!((listing.covered - 0.9).abs() < 1e-9);
        let modules: Vec<_> = listing.modules.iter().map(|row| (&*row.module, row.samples)).collect();
        assert_eq!(modules, [("kernel", 60), ("a.so", 35), ("[made at run time]", 5)]);
    }

    #[test]
    fn all_or_nothing() {
        let counts = [("kernel", "g", 1), ("kernel", "h", 2)];
        assert_eq!(profile(&counts).listing(1.0).more, 0);
        assert_eq!(profile(&counts).listing(0.0).locations.len(), 0);
        let nothing = Profile::default().listing(0.9);
        assert_eq!((nothing.samples, nothing.locations.len(), nothing.modules.len()), (0, 0, 0));
    }
}
