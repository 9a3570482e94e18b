//! Meters of a Linux host: exact clocks say how much, samples say what kind.
