//! The order of the tiers: a tier uses only the ones before it.

use std::fs;
use std::path::Path;

/// Each folder of `src/`, with the modules that its files must not use.
const FORBIDDEN: [(&str, &[&str]); 3] = [
    ("report", &["plain", "sampled", "traced", "meter"]),
    ("plain", &["sampled", "traced", "meter"]),
    ("sampled", &["traced", "meter"]),
];

#[test]
fn no_tier_uses_a_later_one() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (room, others) in FORBIDDEN {
        visit(&src.join(room), &|file, text| {
            // Unit tests may build a whole meter.
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                for other in others {
                    assert!(!line.contains(&format!("crate::{other}::")), "{}: {line}", file.display());
                }
            }
        });
    }
}

fn visit(folder: &Path, check: &dyn Fn(&Path, &str)) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            visit(&path, check);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            check(&path, &fs::read_to_string(&path).expect("text"));
        }
    }
}
