//! What the two ends agree on in HTTP before the first frame (RFC 6455 §4, RFC 7692 §7).

use data_encoding::BASE64;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

/// What a server adds to a key (RFC 6455 §1.3).
const SUFFIX: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The answer to a `Sec-WebSocket-Key`.
pub fn accept_key(key: &str) -> String {
    BASE64.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{SUFFIX}").as_bytes()).as_ref())
}

/// The compression that a browser offers.
pub const DEFLATE_OFFER: &str = "permessage-deflate; client_max_window_bits";

/// Whether the answer to the offer, a `Sec-WebSocket-Extensions`, is one that the offer allows. Its parameters change nothing here:
/// a smaller window is read with a larger one, and nothing is sent compressed.
pub fn accepts_deflate(answer: &str) -> bool {
    let mut parts = answer.split(';').map(|part| part.split_once('=').map_or(part, |(name, _)| name).trim());
    let is_known = |parameter| {
        ["server_no_context_takeover", "client_no_context_takeover", "server_max_window_bits", "client_max_window_bits"]
            .contains(&parameter)
    };
    parts.next() == Some("permessage-deflate") && parts.all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_the_standard_is_accepted() {
        assert_eq!(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn only_what_was_offered_is_agreed_on() {
        assert!(accepts_deflate("permessage-deflate"));
        assert!(accepts_deflate("permessage-deflate; server_no_context_takeover; client_max_window_bits=15"));
        assert!(!accepts_deflate("permessage-deflate; nonsense"));
        assert!(!accepts_deflate("x-webkit-deflate-frame"));
    }
}
