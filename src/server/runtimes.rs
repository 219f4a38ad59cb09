//! Which runtime serves a new connection: the one with the fewest connections. It stays there, so that no question
//! about a weight waits for another thread: the time that such a question takes is the reason for this module.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{net::TcpStream, runtime::Handle};

/// The runtimes that serve connections, and the number of connections of each.
pub(super) struct Runtimes(Vec<(Handle, Arc<AtomicUsize>)>);

/// The slot of one connection at a runtime, until it is dropped.
pub(super) struct RuntimeSlot(Option<(Handle, Arc<AtomicUsize>)>);

/// A connection on its way to the runtime that will serve it.
pub(super) enum Detached {
    /// It is served where it came in.
    Here(TcpStream),
    /// It has left the runtime on which it came in.
    Elsewhere(std::net::TcpStream),
}

impl Runtimes {
    /// No connection at any of these runtimes.
    pub fn new(runtimes: &[Handle]) -> Self {
        let runtimes = runtimes.iter();
        Self(
            runtimes
                .map(|runtime| (runtime.clone(), Arc::default()))
                .collect(),
        )
    }

    /// A slot at the runtime with the fewest connections. Without any runtimes, connections are served where
    /// they come in.
    pub fn take(&self) -> RuntimeSlot {
        let fewest = self
            .0
            .iter()
            .min_by_key(|(_, number)| number.load(Ordering::Relaxed));
        if let Some((_, number)) = fewest {
            number.fetch_add(1, Ordering::Relaxed);
        }
        RuntimeSlot(fewest.cloned())
    }
}

impl RuntimeSlot {
    /// The runtime that serves the connection; `None` for the one on which it came in.
    pub fn runtime(&self) -> Option<&Handle> {
        self.0.as_ref().map(|(runtime, _)| runtime)
    }

    /// Takes the connection off the runtime on which it came in, if another one serves it.
    ///
    /// # Errors
    /// Fails if the operating system does not let go of the socket.
    pub fn detach(&self, stream: TcpStream) -> io::Result<Detached> {
        Ok(match self.0 {
            Some(_) => Detached::Elsewhere(stream.into_std()?),
            None => Detached::Here(stream),
        })
    }
}

impl Drop for RuntimeSlot {
    fn drop(&mut self) {
        if let Some((_, number)) = &self.0 {
            number.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Detached {
    /// The connection on the present runtime.
    ///
    /// # Errors
    /// Fails if the runtime cannot watch the socket.
    pub fn attach(self) -> io::Result<TcpStream> {
        match self {
            Self::Here(stream) => Ok(stream),
            Self::Elsewhere(stream) => TcpStream::from_std(stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_are_spread_and_the_slots_of_those_that_end_are_taken_first() {
        let runtimes = Runtimes::new(&[Handle::current(), Handle::current()]);
        let number = |at: usize| runtimes.0[at].1.load(Ordering::Relaxed);
        let mut taken: Vec<RuntimeSlot> = (0..6).map(|_| runtimes.take()).collect();
        assert_eq!((number(0), number(1)), (3, 3));
        taken.retain(|slot| !Arc::ptr_eq(&slot.0.as_ref().unwrap().1, &runtimes.0[1].1));
        assert_eq!((number(0), number(1)), (3, 0));
        taken.extend((0..2).map(|_| runtimes.take()));
        assert_eq!((number(0), number(1)), (3, 2));
        drop(taken);
        assert_eq!((number(0), number(1)), (0, 0));
    }
}
