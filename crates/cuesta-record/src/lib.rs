//! What is written down, and by which clock
