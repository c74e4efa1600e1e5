//! The MCP surface of agent-memory: eleven tools over a stream of lines.
//!
//! Owns the tools' names, schemas and words, and the protocol of both eras: `initialize` (2024-11-05 to
//! 2025-11-25) and `server/discover` (2026-07-28). Arguments and bodies are those of `am-wire`. Nothing of rmcp shows.
//! Is not a second implementation of any verb: a call is one verb of `am-service`. What goes out is protocol and nothing else; what a user should see beside it
//! is handed to the program as a [`Note`].

mod call;
mod note;
mod protocol;
mod surface;
mod tool;
mod transport;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use am_service::{Service, ServiceError};
use rmcp::service::{QuitReason, serve_directly};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

pub use note::Note;

use crate::protocol::Server;
use crate::surface::Surface;
use crate::transport::Lines;

/// What [`ServiceSource`] gives.
pub type Sourced<'a> = Pin<Box<dyn Future<Output = Result<Service, ServiceError>> + Send + 'a>>;

/// Gives the service when the first call needs it: a handshake doesn't wait for a store.
///
/// Where the store can't be opened, a service over one that is out of reach gives the answers of the contract; after
/// an error every call fails.
pub trait ServiceSource: Send + Sync {
    /// Returns the service.
    fn service(&self) -> Sourced<'_>;
}

/// A service that is there already.
impl ServiceSource for Service {
    fn service(&self) -> Sourced<'_> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

/// How the surface behaves.
#[derive(Clone)]
pub struct Options {
    /// What `params._meta.authorization` of calls must carry after `Bearer `; `None` or empty: nothing.
    pub secret: Option<String>,
    /// Hears what belongs on the program's error stream.
    pub notes: Arc<dyn Fn(Note) + Send + Sync>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("secret", &self.secret.is_some()).finish_non_exhaustive()
    }
}

/// Why a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The peer closed a stream.
    Closed,
    /// The program asked for it.
    Stopped,
    /// A defect of ours.
    Failed,
}

/// Talks to one peer until it closes its stream or `stop` comes true. Calls that are under way are answered first,
/// for at most five seconds (two after `stop`).
pub async fn serve<R, W>(
    reader: R,
    writer: W,
    source: Arc<dyn ServiceSource>,
    options: Options,
    stop: impl Future<Output = ()>,
) -> Ended
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let over = watch::Sender::new(false);
    let server = Server::new(Arc::new(Surface::new(source, options)), over.subscribe());
    // Without rmcp's own opening: that ends the program for a notification that comes too early.
    let running = serve_directly(server, Lines::new(reader, writer, over), None);
    let cancellation = running.cancellation_token();
    let waiting = running.waiting();
    tokio::pin!(waiting, stop);
    let quit = tokio::select! {
        quit = &mut waiting => quit,
        () = &mut stop => {
            cancellation.cancel();
            waiting.await
        }
    };
    match quit {
        Ok(QuitReason::Closed) => Ended::Closed,
        Ok(QuitReason::Cancelled) => Ended::Stopped,
        _ => Ended::Failed,
    }
}

/// Returns the standard streams as [`serve`] wants them: pipes without a thread in between where the system allows.
///
/// Call it inside a runtime with IO enabled.
pub fn standard_streams() -> (impl AsyncRead + Send + Unpin, impl AsyncWrite + Send + Unpin) {
    rmcp::transport::stdio_pipes()
}
