//! The kernel's symbols: the function at an address, and its class. Source: `/proc/kallsyms`.

use std::fs;
use std::io;
use std::path::Path;

use super::classify::SymbolClass;
use super::symbol_classes::class_of;

/// Symbols at the ends of the kernel's own code.
const ENDS: [&str; 2] = ["_etext", "_einittext"];

/// Upper bound of a function's bytes, since modules and BPF programs have no end symbol.
const LONGEST: u64 = 1 << 20;

/// The kernel's functions by address.
#[derive(Debug, Default)]
pub struct Kallsyms {
    /// In order of address.
    symbols: Vec<Symbol>,
    /// Ends of the kernel's own code ranges, in order.
    ends: Vec<u64>,
    /// All names, concatenated.
    names: String,
}

#[derive(Debug)]
struct Symbol {
    start: u64,
    /// Its range in `names`.
    name: (u32, u32),
    /// The range of its module's name; empty for the kernel itself.
    module: (u32, u32),
    class: SymbolClass,
}

/// The number of a function in a [`Kallsyms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Function(pub u32);

impl Kallsyms {
    /// `root` is "/" except in tests.
    ///
    /// # Errors
    /// If the file cannot be read, or hides addresses from us.
    pub fn read(root: &Path) -> io::Result<Self> {
        let all = Self::parse(&fs::read_to_string(root.join("proc/kallsyms"))?);
        if all.symbols.is_empty() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "kallsyms shows no addresses"));
        }
        Ok(all)
    }

    /// Functions in the text of kallsyms. Rows that are no function, or have no address, are skipped.
    pub fn parse(text: &str) -> Self {
        let mut all = Self::default();
        for row in text.lines() {
            let mut words = row.split_ascii_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let Ok(start) = u64::from_str_radix(address, 16) else { continue };
            if start != 0 && ENDS.contains(&name) {
                all.ends.push(start);
            }
            // `__pfx_`: padding before a function, for patching.
            if start == 0
                || ENDS.contains(&name)
                || !matches!(kind, "t" | "T" | "w" | "W")
                || name.starts_with("__pfx_")
            {
                continue;
            }
            let module = words.next().map_or("", |module| module.trim_matches(['[', ']']));
            let class = class_of(name);
            let (Some(name), Some(module)) = (all.intern(name), all.intern(module)) else { break };
            all.symbols.push(Symbol { start, name, module, class });
        }
        all.symbols.sort_by_key(|symbol| symbol.start);
        all.ends.sort_unstable();
        all
    }

    /// The function at `address`; none after the end of the kernel's code, or too far from any function.
    pub fn find(&self, address: u64) -> Option<Function> {
        let last = self.symbols.partition_point(|symbol| symbol.start <= address).checked_sub(1)?;
        let start = self.symbols[last].start;
        let ended =
            self.ends[..self.ends.partition_point(|end| *end <= address)].last().is_some_and(|end| *end > start);
        let near = address - start < LONGEST;
        u32::try_from(last).ok().filter(|_| near && !ended).map(Function)
    }

    pub fn name(&self, function: Function) -> &str {
        self.symbols.get(function.0 as usize).map_or("", |symbol| self.text(symbol.name))
    }

    /// The name of its module; empty for the kernel itself.
    pub fn module(&self, function: Function) -> &str {
        self.symbols.get(function.0 as usize).map_or("", |symbol| self.text(symbol.module))
    }

    pub fn class(&self, function: Function) -> SymbolClass {
        self.symbols.get(function.0 as usize).map_or(SymbolClass::None, |symbol| symbol.class)
    }

    /// Whether there are none, since the kernel hides its symbols.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    fn intern(&mut self, name: &str) -> Option<(u32, u32)> {
        let from = u32::try_from(self.names.len()).ok()?;
        self.names.push_str(name);
        Some((from, u32::try_from(self.names.len()).ok()?))
    }

    fn text(&self, (from, to): (u32, u32)) -> &str {
        self.names.get(from as usize..to as usize).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "\
ffffffff81000000 T _text
ffffffff81000010 D some_data
ffffffff81000100 t handle_softirqs
ffffffff810000f0 t __pfx_handle_softirqs
ffffffff81080000 T _etext
ffffffff82000000 T _sinittext
ffffffff82000100 t start_kernel
ffffffff82080000 T _einittext
ffffffffc0000000 t nft_do_chain\t[nf_tables]
ffffffffc0005000 t bpf_prog_6deef7357e7b4530_switched\t[bpf]
";

    #[test]
    fn an_address_lies_in_the_function_that_begins_before_it() {
        let symbols = Kallsyms::parse(TEXT);
        let name = |address| symbols.find(address).map(|function| symbols.name(function));
        assert_eq!(name(0xffff_ffff_8100_0000), Some("_text"));
        assert_eq!(name(0xffff_ffff_8100_0105), Some("handle_softirqs"));
        assert_eq!(name(0x1000), None);
        let program = symbols.find(0xffff_ffff_c000_5010).expect("a program");
        assert_eq!((symbols.name(program), symbols.module(program)), ("bpf_prog_6deef7357e7b4530_switched", "bpf"));
        assert_eq!(name(0xffff_ffff_c000_0010), Some("nft_do_chain"));
    }

    #[test]
    fn there_is_no_function_after_the_last_one() {
        let symbols = Kallsyms::parse(TEXT);
        let name = |address| symbols.find(address).map(|function| symbols.name(function));
        assert_eq!(name(0xffff_ffff_8107_ffff), Some("handle_softirqs"));
        assert_eq!(name(0xffff_ffff_8108_0000), None);
        assert_eq!(name(0xffff_ffff_8200_0100), Some("start_kernel"));
        assert_eq!([0xffff_ffff_8208_0000, 0xffff_ffff_8208_1000, u64::MAX].map(name), [None; 3]);
    }

    #[test]
    fn hidden_addresses_are_no_addresses() {
        let hidden = "0000000000000000 T _text\n0000000000000000 t x\n";
        assert!(Kallsyms::parse(hidden).is_empty());
    }

    proptest! {
        #[test]
        fn no_text_causes_a_panic(text in "([0-9a-f]{0,20}[ \\t][tTwd]?[ ]?\\PC{0,9}\n){0,20}", address: u64) {
            let symbols = Kallsyms::parse(&text);
            if let Some(function) = symbols.find(address) {
                prop_assert!(!symbols.name(function).is_empty());
            }
        }
    }
}
