//! Slots with one writer at a time, with two, and histories that leave it open.

mod told;
