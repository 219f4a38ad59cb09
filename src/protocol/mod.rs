//! The line protocol, version 1, in both directions: requests and replies, each parsed and encoded once.
//!
//! This room knows the grammar, and nothing of what a request does. It never gives up on a stream: a
//! line that is too long or makes no sense becomes a [`Refusal`] or a [`MalformedReply`], and the next
//! line is read as usual.
//!
//! A server uses [`Framer::next_line`], [`Request::parse`] and [`Reply::encode`]; a client uses
//! [`Request::encode`], [`Framer::next_line`] and [`ReplyReader::line`]. The room `client` joins the
//! latter three to a socket.
#![doc = ""]
#![doc = include_str!("../../docs/protocol.md")]

mod error;
mod framing;
mod push;
mod reply;
mod request;
mod words;

pub use error::{Code, MalformedReply, Refusal};
pub use framing::{FramedLine, Framer};
pub use push::Push;
pub use reply::{Received, Reply, ReplyReader};
pub use request::{Join, ReplyRule, Request, Token};

/// The version of the protocol that the reply to HELLO names.
pub const VERSION: u32 = 1;
