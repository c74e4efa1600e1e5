//! Request bodies: read up to a limit, or thrown away up to another.

use std::pin::pin;
use std::time::Duration;

use bytes::Buf as _;
use http_body::Body;
use http_body_util::BodyExt as _;

/// Most bytes thrown away so that a client which is still sending gets its reply, and not a broken connection.
const DISCARD_MAX: u64 = 16 << 20;
/// Longest time spent on that.
const DISCARD_TIME: Duration = Duration::from_secs(5);

/// Why there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It has more bytes than the limit. What lay above it was thrown away.
    TooLarge,
    /// It ended early or was framed wrongly.
    Broken,
}

/// Reads a body of at most `limit` bytes. `patient`: the client waits for a word before it sends.
pub(crate) async fn read<B: Body>(body: B, limit: usize, patient: bool) -> Result<Vec<u8>, Unreadable> {
    let mut body = pin!(body);
    let announced = body.size_hint();
    if announced.lower() > limit as u64 {
        discard(body, patient).await;
        return Err(Unreadable::TooLarge);
    }
    let mut received =
        Vec::with_capacity(announced.upper().map_or(0, |upper| upper.min(limit as u64) as usize));
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Err(Unreadable::Broken) };
        let Ok(mut data) = frame.into_data() else { continue };
        if received.len().saturating_add(data.remaining()) > limit {
            drop(received);
            discard(body, false).await;
            return Err(Unreadable::TooLarge);
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            received.extend_from_slice(chunk);
            let length = chunk.len();
            data.advance(length);
        }
    }
    Ok(received)
}

/// Throws a body away, within bounds.
pub(crate) async fn discard<B: Body>(body: B, patient: bool) {
    // A patient client reads our reply before it sends; a larger body isn't worth the time.
    if patient || body.is_end_stream() || body.size_hint().lower() > DISCARD_MAX {
        return;
    }
    let mut body = pin!(body);
    let mut left = DISCARD_MAX;
    let all = async {
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.into_data().map_or(0, |data| data.remaining() as u64);
            match left.checked_sub(length) {
                Some(less) => left = less,
                None => return,
            }
        }
    };
    // Whether all of it was thrown away makes no difference to the reply.
    drop(tokio::time::timeout(DISCARD_TIME, all).await);
}
