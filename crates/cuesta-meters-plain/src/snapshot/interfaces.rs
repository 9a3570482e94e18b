//! The speeds of network interfaces, which `/proc/net/dev` does not have.

use std::collections::BTreeMap;
use std::fs;

use crate::Roots;
use crate::kernel::number;

/// Bytes a second of one direction, of the interfaces that have a speed: virtual ones have none, or -1.
pub(crate) fn speeds<'a>(roots: &Roots, names: impl Iterator<Item = &'a String>) -> BTreeMap<String, u64> {
    let speed = |name: &'a String| {
        let megabits = number(&fs::read_to_string(roots.sys.join("class/net").join(name).join("speed")).ok()?)?;
        (megabits > 0).then(|| (name.clone(), megabits.saturating_mul(1_000_000 / 8)))
    };
    names.filter_map(speed).collect()
}
