//! A terminal's screen: what came in, what it shows, what it answers.
