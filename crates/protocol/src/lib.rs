#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! The line protocol, version 1, in both directions: requests and replies, each parsed and encoded once.
//!
//! This room contains the grammar, and does not depend on what a request does. It never gives up on
//! a stream: it converts a line that is too long or malformed to a [`Refusal`] or a
//! [`MalformedReply`](error::MalformedReply), and reads the next line as usual.
//!
//! A server uses [`Framer::next_line`], [`Request::parse`] and [`Reply::encode`]; a client uses
//! [`Request::encode`], [`Framer::next_line`] and [`ReplyReader::line`]. The room `client` connects
//! these to a socket.
#![doc = ""]
#![doc = include_str!("../../../docs/reference/protocol.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping
#![warn(unreachable_pub)]

#[cfg(test)]
#[macro_use]
mod testing;

pub mod error;
mod framing;
pub mod push;
pub mod reply;
pub mod request;
mod words;

pub use error::{Code, Refusal};
pub use framing::{FramedLine, Framer};
pub use push::Push;
pub use reply::{Received, Reply, ReplyReader};
pub use request::{Request, Verb};
