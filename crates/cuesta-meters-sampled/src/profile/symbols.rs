//! Users' addresses → names of functions, by the symbol tables of their files. `blazesym` is built without its feature `dwarf`:
//! symbol tables are enough for names, and reading all debug information of a large program takes seconds.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{Input, Symbolizer};

use super::stacks::{Location, Profile, Stack};

impl Profile {
    /// Looks up users' addresses. Addresses of one function become one location; an address without a name becomes its page. It
    /// reads symbol tables, so do not call it on a thread with other work.
    #[must_use]
    pub fn named(self) -> Self {
        let names = look_up(&self.places);
        let mut numbers = HashMap::<Location, u32>::new();
        let mut places = Vec::new();
        let mut new = Vec::with_capacity(self.places.len());
        for place in self.places {
            let place = name(place, &names);
            let next = u32::try_from(places.len()).unwrap_or(u32::MAX);
            let number = *numbers.entry(place.clone()).or_insert(next);
            if number == next {
                places.push(place);
            }
            new.push(number);
        }
        let mut stacks = BTreeMap::<(String, Vec<u32>), u64>::new();
        for Stack { command, frames, samples } in self.stacks {
            let frames = frames.iter().filter_map(|frame| new.get(*frame as usize).copied()).collect();
            *stacks.entry((command, frames)).or_default() += samples;
        }
        let stacks =
            stacks.into_iter().map(|((command, frames), samples)| Stack { command, frames, samples }).collect();
        Self { places, stacks, idle: self.idle, rare: self.rare }
    }
}

/// Names of functions by file and offset.
type Names = HashMap<(String, u64), String>;

fn look_up(places: &[Location]) -> Names {
    let mut by_file = BTreeMap::<&str, Vec<u64>>::new();
    for place in places {
        if let Location::User { path, offset } = place {
            by_file.entry(path).or_default().push(*offset);
        }
    }
    let symbolizer = Symbolizer::new();
    let mut names = Names::new();
    for (path, offsets) in by_file {
        if !Path::new(path).is_file() {
            continue;
        }
        let file = Source::Elf(Elf::new(path));
        let symbols = symbolizer.symbolize(&file, Input::FileOffset(&offsets)).unwrap_or_default();
        for (offset, symbol) in offsets.iter().zip(symbols) {
            if let Some(symbol) = symbol.as_sym() {
                names.insert((path.to_owned(), *offset), symbol.name.to_string());
            }
        }
    }
    names
}

fn name(place: Location, names: &Names) -> Location {
    match place {
        Location::User { path, offset } => {
            let key = (path, offset);
            let function = names.get(&key).cloned().unwrap_or_else(|| format!("+{:#x}", offset & !0xfff));
            Location::Function { path: key.0, function }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_without_names_are_pages_and_equal_ones_become_one() {
        let user = |offset| Location::User { path: "/nonexistent".to_owned(), offset };
        let stack = |frame, samples| Stack { command: "x".to_owned(), frames: vec![frame], samples };
        let profile = Profile {
            places: vec![user(0x1004), user(0x1ff8), user(0x2000)],
            stacks: vec![stack(0, 1), stack(1, 2), stack(2, 4), stack(9, 8)],
            idle: 5,
            rare: 3,
        };
        let named = profile.named();
        let function = |name: &str| Location::Function { path: "/nonexistent".to_owned(), function: name.to_owned() };
        assert_eq!(named.places, [function("+0x1000"), function("+0x2000")]);
        let empty = Stack { frames: vec![], ..stack(0, 8) };
        assert_eq!(named.stacks, [empty, stack(0, 3), stack(1, 4)]);
        assert_eq!((named.idle, named.rare), (5, 3));
    }

    #[test]
    fn our_own_functions_have_names() {
        let text = std::fs::read_to_string("/proc/self/maps").expect("our maps");
        let program = std::env::current_exe().expect("our program");
        let address = our_own_functions_have_names as *const () as u64;
        let map = crate::cause::executable(&text).find(|map| (map.start..map.end).contains(&address)).expect("mapped");
        assert_eq!(Path::new(&map.path), program);
        let place = Location::User { path: map.path.clone(), offset: address - map.start + map.offset };
        let names = look_up(std::slice::from_ref(&place));
        let Location::Function { function, .. } = name(place, &names) else { panic!("the function has no name") };
        assert!(function.contains("our_own_functions_have_names"), "{function}");
    }
}
