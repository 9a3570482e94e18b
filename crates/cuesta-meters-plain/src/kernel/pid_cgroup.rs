//! `/proc/PID/cgroup`: the control groups of a process, one of version 2 and one for each controller of version 1.

/// The group of version 2 (`controller` is empty), or that of a controller of version 1.
pub fn path<'a>(text: &'a str, controller: &str) -> Option<&'a str> {
    text.lines().find_map(|row| {
        let mut parts = row.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        controllers.split(',').any(|name| name == controller).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let hybrid = "9:name=systemd:/\n2:cpu,cpuacct:/jobs/a:b\n0::/user.slice\n";
        assert_eq!(path(hybrid, ""), Some("/user.slice"));
        assert_eq!(path(hybrid, "cpuacct"), Some("/jobs/a:b"));
        assert_eq!(path(hybrid, "memory"), None);
        assert_eq!(path("garbage\n:\n", "cpu"), None);
    }
}
