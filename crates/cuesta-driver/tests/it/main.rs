//! Virtual users on lines. Each test has a process of its own (nextest), so tests may measure their process.

mod harness;
mod programs;
mod trace;

mod announced;
mod answers;
mod bisync;
mod block;
mod changes;
mod closed_loop;
mod cut;
mod determinism;
mod drops;
mod due;
mod echoes;
mod edits;
mod emacs_study;
mod followed;
mod hostile;
mod key_frames;
mod keystrokes;
mod line_rate;
mod loads;
mod memory;
mod ready;
mod real;
mod screen;
mod screen_memory;
mod stall;
mod turns;
mod unanswered;
mod untimed;
mod watched;
