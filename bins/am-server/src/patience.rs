//! A connection that is given up when its peer takes nothing.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Bounds the time for which a write makes no progress. Reads are bounded elsewhere: by the head's and the body's time.
pub(crate) struct Patient<C> {
    connection: C,
    longest: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<C: AsyncWrite + Unpin> Patient<C> {
    pub(crate) fn new(connection: C, longest: Duration) -> Self {
        Self { connection, longest, waiting: None }
    }

    fn bounded<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut C>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(done) = write(Pin::new(&mut self.connection), context) {
            self.waiting = None;
            return Poll::Ready(done);
        }
        let longest = self.longest;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(longest)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for Patient<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for Patient<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.bounded(context, |connection, context| connection.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.bounded(context, |connection, context| connection.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.bounded(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.bounded(context, AsyncWrite::poll_shutdown)
    }
}
