//! Lines over ssh against real hosts: OpenSSH, dropbear, tinysshd; and against a host of our own for what those do not do on
//! demand. Throwaway keys, free loopback ports, nothing left behind.
#![allow(clippy::unwrap_used)] // What the tests share is for tests.

mod peers;
mod routes;
mod stand;

mod broken;
mod certificates;
mod hosts;
mod obscured;
mod passwords;
mod trust;
