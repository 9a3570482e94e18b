//! The screen, beside a real terminal and however its input is cut.

mod cuts;
mod screen_echo;
mod tmux;
