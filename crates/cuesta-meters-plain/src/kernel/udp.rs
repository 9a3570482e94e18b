//! `/proc/net/udp` and `udp6`: sockets that wait for answers of name servers.

/// The port of name servers, as the table has it.
const NAME_SERVERS: &str = "0035";

/// Sockets that are connected to a name server: look-ups under way.
pub fn name_lookups(text: &str) -> u64 {
    let remote = |row: &str| {
        row.split_ascii_whitespace()
            .nth(2)
            .and_then(|address| address.rsplit_once(':'))
            .map(|remote| remote.1 == NAME_SERVERS)
    };
    text.lines().filter(|row| remote(row) == Some(true)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_that_are_connected_to_name_servers_count() {
        let captured = include_str!("../../tests/captured/udp");
        assert_eq!(name_lookups(captured), 1);
        assert_eq!(name_lookups(""), 0);
        assert_eq!(name_lookups("a b c:0035\nx\n"), 1);
    }
}
