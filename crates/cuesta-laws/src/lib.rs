//! Laws of durations: text in, seeded samples out.
