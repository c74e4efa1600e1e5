//! An authorization beyond ASCII, which the HTTP library refuses to send though HTTP allows it.
//!
//! The library writes the request with a stand-in of the same length; on its way out the value takes its place.

use std::fmt;
use std::sync::Arc;

use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, DefaultConnector, NextTimeout, Transport,
};
use ureq::{Agent, Error};

/// The value, and what stands in for it.
struct Spelling {
    value: String,
    stand_in: String,
}

/// Returns a stand-in for `value`, and an agent like `agent` that sends `value` for it.
pub(super) fn spelled(agent: &Agent, value: &str) -> (String, Agent) {
    let stand_in: String =
        value.bytes().map(|byte| if byte.is_ascii() { char::from(byte) } else { '?' }).collect();
    let spelling = Arc::new(Spelling { value: value.to_owned(), stand_in: stand_in.clone() });
    let connector = DefaultConnector::new().chain(Speller(spelling));
    (stand_in, Agent::with_parts(agent.config().clone(), connector, DefaultResolver::default()))
}

struct Speller(Arc<Spelling>);

impl fmt::Debug for Speller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Speller")
    }
}

impl<In: Transport> Connector<In> for Speller {
    type Out = Spelled<In>;

    fn connect(&self, _: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<Spelled<In>>, Error> {
        Ok(chained.map(|inner| Spelled { inner, unsent: Some(Arc::clone(&self.0)) }))
    }
}

/// A connection that carries one request.
struct Spelled<In> {
    inner: In,
    /// `None` once it is sent.
    unsent: Option<Arc<Spelling>>,
}

impl<In> fmt::Debug for Spelled<In> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spelled")
    }
}

impl<In: Transport> Transport for Spelled<In> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        if let Some(spelling) = self.unsent.take() {
            // The head comes first and in one piece, and a header before any body.
            let line = format!("\r\nauthorization: {}\r\n", spelling.stand_in);
            let output = self.inner.buffers().output().get_mut(..amount).unwrap_or_default();
            let found = output.windows(line.len()).position(|window| window == line.as_bytes());
            let spelled = format!("\r\nauthorization: {}\r\n", spelling.value);
            let place = found.and_then(|start| output.get_mut(start..start + spelled.len()));
            let unwritable = || Error::BadUri("the authorization can't be written".to_owned());
            place.ok_or_else(unwritable)?.copy_from_slice(spelled.as_bytes());
        }
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.inner.await_input(timeout)
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}
