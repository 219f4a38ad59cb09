//! A way to a PostgreSQL server that can be blocked, as if the network had lost it without a word.
#![cfg(unix)]

use std::{net::SocketAddr, path::PathBuf};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, UnixStream},
    sync::watch,
};

/// Forwards connections to a socket, until it is dropped.
pub struct Proxy {
    pub address: SocketAddr,
    open: watch::Sender<bool>,
}

impl Proxy {
    pub async fn to(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (open, is_open) = watch::channel(true);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (socket, is_open) = (socket.clone(), is_open.clone());
                tokio::spawn(async move {
                    let Ok(server) = UnixStream::connect(socket).await else {
                        return;
                    };
                    let (from_client, to_client) = client.into_split();
                    let (from_server, to_server) = server.into_split();
                    tokio::join!(
                        forward(from_client, to_server, is_open.clone()),
                        forward(from_server, to_client, is_open),
                    );
                });
            }
        });
        Self { address, open }
    }

    /// Holds everything back, or forwards what was held back.
    pub fn set_open(&self, open: bool) {
        self.open.send_replace(open);
    }
}

async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut is_open: watch::Receiver<bool>,
) {
    let mut bytes = vec![0; 16_384];
    loop {
        let Ok(count @ 1..) = from.read(&mut bytes).await else {
            let _ = to.shutdown().await;
            return;
        };
        if is_open.wait_for(|open| *open).await.is_err() {
            return;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
