//! Patterns of host names in `~/.ssh/config` and known hosts files (`ssh_config(5)`, PATTERNS).

/// Whether any of `patterns` matches `name` and none that begins with `!` does.
pub(super) fn any_matches<'a>(patterns: impl Iterator<Item = &'a str>, name: &str) -> bool {
    let mut any = false;
    for pattern in patterns {
        match pattern.strip_prefix('!') {
            Some(pattern) if matches(pattern, name) => return false,
            Some(_) => {}
            None => any |= matches(pattern, name),
        }
    }
    any
}

/// Whether a pattern matches a name: `*` is any characters, `?` is one.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut in_name) = (0, 0);
    // Where to backtrack to if what follows the last star does not match.
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(c) if *c == b'?' || c.eq_ignore_ascii_case(&name[in_name]) => (at, in_name) = (at + 1, in_name + 1),
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                (at, in_name) = (star_at + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match() {
        for (pattern, name) in [("*", ""), ("a*c", "abbc"), ("a?c", "abc"), ("*.*", "a.b"), ("**a", "ba"), ("A", "a")] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("", "a"), ("a?", "a"), ("a*c", "abcd"), ("*a*b", "ba")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn a_negated_pattern_excludes_wherever_it_stands() {
        assert!(any_matches(["*.net", "!x.*"].into_iter(), "y.net"));
        assert!(!any_matches(["!x.*", "*.net"].into_iter(), "x.net"));
        assert!(!any_matches(["!x.*"].into_iter(), "y.net"));
    }
}
