//! Who may connect, what each client may do, and how fast.
//!
//! It decides and counts; it reads no clock, no socket and no file. A time is an argument, in
//! nanoseconds since any fixed moment. Every table has a bound, whatever strangers send.
//!
//! Entry points: [`AccessPolicy::greet`] for a HELLO, [`AccessPolicy::silent`] for a connection without
//! one, [`Bucket`] for limits, [`Slowdown`] for HELLOs that fail.

mod addresses;
mod bucket;
mod client_spec;
mod policy;
mod settings;
mod slowdown;

pub use addresses::{AddressKey, AddressTable};
pub use bucket::{Allowance, Bucket, Rate, Rates};
pub use client_spec::{ClientSpec, PlayerScope};
pub use policy::{AccessPolicy, Grant};
pub use settings::{AccessSettings, RateSettings};
pub use slowdown::{HelloKey, Slowdown};
