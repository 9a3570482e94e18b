//! The screen, beside real terminals and however its input is cut.
#![allow(clippy::print_stdout)] // Nightly shows how much was compared.

mod cuts;
mod esctest;
mod fixtures;
mod recordings;
mod s3270;
mod tap;
mod tmux;
mod typed_text;
mod xterm;
mod xterm_js;
