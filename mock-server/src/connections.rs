//! Accepts connections and serves them until it is told to stop, and then ends in bounded time.

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// How long open connections may take to end by themselves.
const GRACE: Duration = Duration::from_millis(500);

/// How many bytes the next write may take; `None` as many as there are.
pub(crate) type Stride = Arc<dyn Fn() -> Option<usize> + Send + Sync>;

/// A listener that is being served.
pub(crate) struct Connections {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Connections {
    /// Serves on a spawned task. What `stop` carries becomes true when [`Connections::stop`] is called.
    pub(crate) fn serve(listener: TcpListener, router: Router, stride: Stride, stop: watch::Sender<bool>) -> Self {
        let task = tokio::spawn(accept(listener, router, stride, stop.subscribe()));
        Self { stop, task }
    }

    /// Accepts nothing more, lets open connections end, and cuts those that do not.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        // The task does not panic; if it did, nothing would be left to stop.
        let _ = self.task.await;
    }
}

/// Waits until the server stops, which it also does when nobody is left to stop it.
pub(crate) async fn stopped(mut stop: watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn accept(listener: TcpListener, router: Router, stride: Stride, stop: watch::Receiver<bool>) {
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            () = stopped(stop.clone()) => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    open.spawn(connection(stream, router.clone(), Arc::clone(&stride), stop.clone()));
                }
                // Out of file descriptors, most likely: wait until some connection has ended.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
            Some(_) = open.join_next() => {}
        }
    }
    drop(listener);
    let ended = async { while open.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, ended).await.is_err() {
        open.shutdown().await;
    }
}

async fn connection(stream: TcpStream, router: Router, stride: Stride, stop: watch::Receiver<bool>) {
    // Without it frames wait for acknowledgements; a connection that refuses is slower, not wrong.
    let _ = stream.set_nodelay(true);
    let server = auto::Builder::new(TokioExecutor::new());
    let stream = TokioIo::new(Strided { stream, stride });
    let mut connection = std::pin::pin!(server.serve_connection(stream, TowerToHyperService::new(router)));
    tokio::select! {
        // A broken connection is the client's business.
        _ = connection.as_mut() => return,
        () = stopped(stop) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// A stream whose writes may be shorter than asked for.
struct Strided {
    stream: TcpStream,
    stride: Stride,
}

impl AsyncRead for Strided {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Strided {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let most = (self.stride)().map_or(bytes.len(), |stride| bytes.len().min(stride.max(1)));
        Pin::new(&mut self.stream).poll_write(context, &bytes[..most])
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
