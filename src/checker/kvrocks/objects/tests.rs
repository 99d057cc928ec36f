//! Objects held against every order that there is: what is called impossible has none, and what has none
//! is found, as far as that is claimed.

mod clusters;
mod counters;
mod lists;
mod locks;
mod oracle;
mod sets;
mod told;
