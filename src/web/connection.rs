//! Accepts the connections of visitors, and limits their number, size and time.
//!
//! `axum::serve` (0.8) has none of these limits, and no way to set them: it leaves hyper without a timer, so that a head
//! may take for ever; with hyper's bounds on a head, 400 kB and 100 fields; without an end of a connection; and its
//! tasks cannot be dropped when the time to drain is over.

use std::{sync::Arc, time::Duration};

use axum::Router;
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::OwnedSemaphorePermit,
    time,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Site, routes,
    visitors::{NoRoom, Visit, Visitors},
};

/// The largest head of a request, in bytes.
const HEAD: usize = 16 * 1_024;
/// The most header fields of a request.
const FIELDS: usize = 64;
/// How long a visitor for whom there is no room may take to read the answer.
const REFUSAL: Duration = Duration::from_secs(2);
/// How long a connection whose time is over may take to send the rest of its answer.
const REST: Duration = Duration::from_secs(5);

/// What a listener is for.
#[derive(Clone, Copy, Debug)]
pub enum Audience {
    /// The pages, and everything else that the site has.
    Visitors,
    /// Only what is for operators.
    Operators,
}

/// Serves a site until `stop` is cancelled; connections are tasks of `tasks`. Then no connection begins
/// another request, and those that have not ended after `drain` are dropped.
pub async fn run(
    listener: TcpListener,
    (site, audience): (Arc<Site>, Audience),
    tasks: TaskTracker,
    stop: CancellationToken,
    drain: Duration,
) {
    let router = match audience {
        Audience::Visitors => routes::router(site.clone()),
        Audience::Operators => routes::metrics_router(site.clone()),
    };
    let visitors = Visitors::new(site);
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, peer)) => match Visit::begin(&visitors, peer, &stop) {
                Ok(visit) => {
                    tasks.spawn(serve(stream, router.clone(), visit, drain));
                }
                Err(why) => {
                    visitors.metrics().refused.count();
                    tracing::debug!(%peer, %why, "refusing a visitor");
                    if let Ok(permit) = visitors.refusals.clone().try_acquire_owned() {
                        tasks.spawn(refuse(stream, why, permit));
                    }
                }
            },
            Err(error) => {
                tracing::warn!(%error, "cannot accept a visitor");
                // The process has probably run out of file descriptors.
                time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Serves the requests of one connection, for a limited time.
async fn serve(stream: TcpStream, router: Router, visit: Visit, drain: Duration) {
    let (limits, until, stop) = (visit.limits(), visit.until, visit.stop.clone());
    let _ = stream.set_nodelay(true);
    let (pages, visit) = (TowerToHyperService::new(router), Arc::new(visit));
    let answer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(visit.clone());
        pages.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_seconds.duration())
        .max_buf_size(HEAD)
        .max_headers(FIELDS)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    let rest = tokio::select! {
        ended = connection.as_mut() => {
            tracing::trace!(?ended, "a connection of a visitor has ended");
            return;
        }
        () = time::sleep_until(until) => REST,
        () = stop.cancelled() => drain,
    };
    connection.as_mut().graceful_shutdown();
    let _ = time::timeout(rest, connection).await;
}

/// Answers a visitor for whom there is no room, whatever the request is. Reads the request, because a connection that
/// is closed with unread bytes may lose the answer.
async fn refuse(mut stream: TcpStream, why: NoRoom, _permit: OwnedSemaphorePermit) {
    let text = format!("{why}\n");
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Retry-After: 1\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    let telling = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        let mut request = stream.take(HEAD as u64);
        tokio::io::copy(&mut request, &mut tokio::io::sink()).await
    };
    let told = time::timeout(REFUSAL, telling).await;
    tracing::trace!(?told, "a visitor was refused");
}
