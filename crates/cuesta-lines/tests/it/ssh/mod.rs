//! Lines over ssh to real hosts (OpenSSH, dropbear, tinysshd), and to a `russh` server for passwords. Keys and ports are
//! temporary.
#![allow(clippy::unwrap_used)] // Shared functions are part of tests too.

mod harness;
mod peers;
mod routes;

mod broken;
mod certificates;
mod followed;
mod hosts;
mod methods;
mod obscured;
mod passwords;
mod prompts;
mod text_first;
mod trust;
