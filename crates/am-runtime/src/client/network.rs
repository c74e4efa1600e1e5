//! Requests over TCP, with TLS where the URL asks for it.

use std::sync::{Arc, LazyLock};

use am_hook::url::BaseUrl;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Error};

use super::spelling::spelled;
use super::{Failure, IDENTITY_HEADER, LARGEST, Reply, Request};

/// Made on first use: reading the system's root certificates takes time.
static AGENT: LazyLock<Agent> = LazyLock::new(|| {
    // The system's own certificates: those of a team's server are often not public ones. Without any, nobody is
    // trusted, and that is what the error says.
    let certificates = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<_> = certificates.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(0)
        .proxy(None)
        .user_agent(concat!("agent-memory/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls)
        .build()
        .into()
});

/// Returns the URL of the server, with a slash at its end.
pub(super) fn address(url: &BaseUrl) -> String {
    format!("{}://{}{}", if url.secure { "https" } else { "http" }, url.authority(), url.path(""))
}

pub(super) fn exchange(url: &BaseUrl, request: &Request<'_>) -> Result<Reply, Failure> {
    let scheme = if url.secure { "https" } else { "http" };
    let uri = format!("{scheme}://{}{}", url.authority(), request.path);
    let mut builder = ureq::http::Request::builder().method(request.method).uri(uri);
    for (name, value) in &request.headers {
        builder = builder.header(*name, *value);
    }
    let mut agent = AGENT.clone();
    if let Some(authorization) = &request.authorization {
        if authorization.is_ascii() {
            builder = builder.header("authorization", authorization.as_str());
        } else {
            let (stand_in, speller) = spelled(&agent, authorization);
            builder = builder.header("authorization", stand_in);
            agent = speller;
        }
    }
    if request.body.is_some() {
        builder = builder.header("content-type", "application/json");
    }
    // Only a host or a value that HTTP can't carry ends here.
    let unusable = |_| Failure::Unreachable("the request can't be written".to_owned());
    let wait = Some(request.wait);
    let reply = if let Some(body) = request.body {
        let built = builder.body(body).map_err(unusable)?;
        agent.run(agent.configure_request(built).timeout_global(wait).build())
    } else {
        let built = builder.body(()).map_err(unusable)?;
        agent.run(agent.configure_request(built).timeout_global(wait).build())
    };
    let mut reply = reply.map_err(failure)?;
    let version = reply.headers().get(IDENTITY_HEADER).and_then(|value| value.to_str().ok());
    let version = version.map(str::to_owned);
    let status = reply.status().as_u16();
    let body = reply.body_mut().with_config().limit(LARGEST).read_to_vec().map_err(failure)?;
    Ok(Reply { status, version, body })
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Timeout(_) => Failure::TimedOut,
        Error::Protocol(_) | Error::Http(_) | Error::BodyExceedsLimit(_) | Error::LargeResponseHeader(..) => {
            Failure::Unusable(error.to_string())
        }
        Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => Failure::TimedOut,
        error => Failure::Unreachable(error.to_string()),
    }
}
