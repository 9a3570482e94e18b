//! Recorded sessions: casts in and out, and tapes made from them.
