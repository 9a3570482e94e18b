//! Reads any bytes as the kernel's samples, symbols and maps: nothing panics, and every sample has a cause.
#![no_main]

use cuesta_meters::sampled::cause::{Kallsyms, StackBase, UserCode, class_of, classify, executable};
use cuesta_meters::sampled::perf::record::{Layout, Record, records};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let symbols = Kallsyms::parse(&text);
    assert!(executable(&text).count() <= text.lines().count());
    for layout in [true, false].map(|all| Layout { chain: all, cgroup: all }) {
        for stamped in records(bytes, layout) {
            let Record::Sample(sample) = stamped.record else { continue };
            let names = sample.kernel.iter().filter_map(|at| symbols.find(*at)).map(|function| symbols.name(function));
            let class = classify(names.map(class_of), StackBase::User(UserCode::Program), None);
            assert!(!class.cause.name().is_empty());
        }
    }
});
