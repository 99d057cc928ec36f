//! The variants.
