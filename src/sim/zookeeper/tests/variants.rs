//! Each planted bug breaks what it says it breaks.
