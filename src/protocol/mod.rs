//! The line protocol, version 1: bytes → request, reply → bytes, once each.
//!
//! This room knows the grammar and nothing of what a request does. It never refuses to go on: a line
//! that is too long or makes no sense becomes an [`Refusal`], and the next line is read as usual.
//! Entry points: [`Framer::next_line`], [`Request::parse`], [`Reply::encode`].

mod framing;
mod reply;
mod request;
mod words;

pub use framing::{Framer, Line};
pub use reply::{Code, Refusal, Reply};
pub use request::{Join, Request};

/// The protocol version told in the reply to HELLO.
pub const VERSION: u32 = 1;
