//! What the two ends agree on in HTTP before the first frame (RFC 6455 §4, RFC 7692 §7).

use data_encoding::BASE64;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

/// What a server adds to a key (RFC 6455 §1.3).
const SUFFIX: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The answer to a `Sec-WebSocket-Key`.
pub fn accept_key(key: &str) -> String {
    BASE64.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{SUFFIX}").as_bytes()).as_ref())
}

/// The compression that a server chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deflate {
    /// The server begins each message anew (`server_no_context_takeover`).
    pub without_context: bool,
}

impl Deflate {
    /// What a browser offers.
    pub const OFFER: &'static str = "permessage-deflate; client_max_window_bits";

    /// Reads the answer to the offer, a `Sec-WebSocket-Extensions`. None if it is not one that was offered.
    pub fn parse(answer: &str) -> Option<Self> {
        let mut parts = answer.split(';').map(str::trim);
        if parts.next() != Some("permessage-deflate") {
            return None;
        }
        let mut deflate = Self { without_context: false };
        for parameter in parts {
            match parameter.split_once('=').map_or(parameter, |(name, _)| name).trim() {
                "server_no_context_takeover" => deflate.without_context = true,
                // A smaller window is read with a larger one, and nothing is sent compressed.
                "server_max_window_bits" | "client_max_window_bits" | "client_no_context_takeover" => {}
                _ => return None,
            }
        }
        Some(deflate)
    }
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
        let context = |answer| Deflate::parse(answer).map(|deflate| deflate.without_context);
        assert_eq!(context("permessage-deflate"), Some(false));
        assert_eq!(context("permessage-deflate; server_no_context_takeover; client_max_window_bits=15"), Some(true));
        assert_eq!(context("permessage-deflate; nonsense"), None);
        assert_eq!(context("x-webkit-deflate-frame"), None);
    }
}
