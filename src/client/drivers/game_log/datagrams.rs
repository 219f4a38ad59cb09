//! The log as datagrams, which a Source server sends to one address.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
};

use super::CHUNK;

/// The most datagrams that are read at once, so that a flood of them does not keep the sidecar busy.
const DATAGRAMS: usize = 2_000;
/// The start of a datagram that contains a line of the log.
const OUT_OF_BAND: &[u8] = b"\xff\xff\xff\xff";

/// The lines that one game server sends.
pub(super) struct Datagrams {
    pub(super) socket: UdpSocket,
    server: IpAddr,
    /// What each datagram must contain before its line, if the server is set to send it.
    secret: Option<String>,
}

impl Datagrams {
    pub(super) fn listen(
        listen: SocketAddr,
        server: IpAddr,
        secret: Option<String>,
    ) -> io::Result<Self> {
        let socket = UdpSocket::bind(listen)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            server,
            secret,
        })
    }

    /// The address on which the datagrams are received.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    pub(super) fn read(&self, each: &mut impl FnMut(&[u8])) -> io::Result<()> {
        let mut datagram = vec![0; CHUNK];
        for _ in 0..DATAGRAMS {
            match self.socket.recv_from(&mut datagram) {
                Ok((count, from)) => {
                    let line = line_in(&datagram[..count], self.secret.as_deref());
                    if let Some(line) = line.filter(|_| same_host(from.ip(), self.server)) {
                        each(line);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Whether two addresses are the same, also if one is an IPv4 address that is written as an IPv6 one.
fn same_host(one: IpAddr, other: IpAddr) -> bool {
    one.to_canonical() == other.to_canonical()
}

/// The line in a datagram: after `R`, or after `S` and the secret of `sv_logsecret`. With a secret,
/// only a datagram that contains it counts.
fn line_in<'a>(datagram: &'a [u8], secret: Option<&str>) -> Option<&'a [u8]> {
    let rest = datagram.strip_prefix(OUT_OF_BAND)?;
    let line = match secret {
        None => rest.strip_prefix(b"R")?,
        Some(secret) => rest.strip_prefix(b"S")?.strip_prefix(secret.as_bytes())?,
    };
    let end = line
        .iter()
        .position(|&b| b == 0 || b == b'\n')
        .unwrap_or(line.len());
    Some(line[..end].trim_ascii_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_datagrams() {
        let line = |datagram: &'static [u8], secret| line_in(datagram, secret);
        assert_eq!(line(b"\xff\xff\xff\xffRL 01\n\0", None), Some(&b"L 01"[..]));
        assert_eq!(
            line(b"\xff\xff\xff\xffS123L 01\r\n\0\0", Some("123")),
            Some(&b"L 01"[..])
        );
        for (wrong, secret) in [
            (&b""[..], None),
            (b"\xff\xff\xff", None),
            (b"\xff\xff\xff\xffL 01", None),
            (b"\xff\xff\xff\xffRL 01", Some("123")),
            (b"\xff\xff\xff\xffS12", Some("123")),
            (b"\xff\xff\xff\xffS124L 01", Some("123")),
            (b"\xff\xff\xff\xffS123L 01", None),
        ] {
            assert_eq!(line(wrong, secret), None, "{wrong:?}");
        }
    }
}
