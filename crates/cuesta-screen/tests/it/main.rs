//! The screen, beside a real terminal and however its input is cut.

mod cuts;
mod s3270;
mod screen_echo;
mod tap;
mod tmux;
mod xterm;
