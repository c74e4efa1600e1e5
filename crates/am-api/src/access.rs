//! Who may ask: the secret, and the values of `Host` and `Origin` that are answered.

use std::net::IpAddr;

use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The header value that shows the secret, as its digest.
pub(crate) struct Secret([u8; 32]);

impl Secret {
    pub(crate) fn new(secret: &str) -> Self {
        Self(Sha256::digest(format!("Bearer {secret}")).into())
    }

    /// Returns whether a request shows the secret. Takes as long whatever it shows: digests are compared.
    pub(crate) fn admits(&self, head: &Parts) -> bool {
        head.headers.get(AUTHORIZATION).is_some_and(|value| {
            let shown: [u8; 32] = Sha256::digest(value.as_bytes()).into();
            shown.ct_eq(&self.0).into()
        })
    }
}

/// What a request may name as the server, and as the page it was made from.
///
/// Loopback names and addresses always pass: a name that leads here by DNS rebinding is none of them, and neither is
/// the origin of a foreign page.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllowList {
    /// Host names beside loopback, in lower case.
    pub(crate) hosts: Vec<String>,
    /// Origins beside loopback, such as `https://tools.example`, in lower case.
    pub(crate) origins: Vec<String>,
    /// Whether `Host` may be any address: rebinding needs a name.
    pub(crate) addresses: bool,
}

impl AllowList {
    /// Returns whether the request names this server, everywhere where it names one.
    pub(crate) fn admits_host(&self, head: &Parts) -> bool {
        let mut named = head.headers.get_all(HOST).iter().peekable();
        named.peek().is_some()
            && named.all(|value| value.to_str().is_ok_and(|value| self.is_host(value)))
            && head.uri.authority().is_none_or(|authority| self.is_host(authority.as_str()))
    }

    /// Returns whether the request was made by no page, or by one that may.
    pub(crate) fn admits_origin(&self, head: &Parts) -> bool {
        head.headers
            .get_all(ORIGIN)
            .iter()
            .all(|value| value.to_str().is_ok_and(|value| self.is_origin(&value.to_ascii_lowercase())))
    }

    fn is_host(&self, authority: &str) -> bool {
        let Some(host) = host_of(authority) else { return false };
        is_loopback(&host) || self.hosts.contains(&host) || (self.addresses && address(&host).is_some())
    }

    fn is_origin(&self, origin: &str) -> bool {
        if self.origins.iter().any(|allowed| allowed == origin) {
            return true;
        }
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.and_then(host_of).is_some_and(|host| is_loopback(&host) || self.hosts.contains(&host))
    }
}

/// Returns the host of `HOST[:PORT]`, in lower case and without the dot of a complete name.
fn host_of(authority: &str) -> Option<String> {
    let authority: Authority = authority.parse().ok()?;
    if authority.as_str().contains('@') {
        return None;
    }
    let host = authority.host().to_ascii_lowercase();
    Some(host.strip_suffix('.').map_or(host.clone(), str::to_owned)).filter(|host| !host.is_empty())
}

fn address(host: &str) -> Option<IpAddr> {
    host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host).parse().ok()
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || address(host).is_some_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> AllowList {
        AllowList {
            hosts: vec!["memory.lan".to_owned()],
            origins: vec!["app://viewer".to_owned()],
            addresses: false,
        }
    }

    #[test]
    fn only_loopback_and_listed_hosts_pass() {
        for (host, passes) in [
            ("localhost", true),
            ("LocalHost:3111", true),
            ("localhost.", true),
            ("am.localhost:1", true),
            ("127.0.0.1:3111", true),
            ("127.9.9.9", true),
            ("[::1]:3111", true),
            ("[::ffff:127.0.0.1]", true),
            ("memory.lan:80", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("evil@localhost", false),
            ("10.0.0.1", false),
            ("0.0.0.0:3111", false),
            ("", false),
            ("local host", false),
        ] {
            assert_eq!(list().is_host(host), passes, "{host}");
        }
        let open = AllowList { addresses: true, ..list() };
        assert!(open.is_host("10.0.0.1:3111") && open.is_host("[fe80::1]"));
        assert!(!open.is_host("evil.example"));
    }

    #[test]
    fn only_pages_of_loopback_and_listed_origins_pass() {
        let open = AllowList { addresses: true, ..list() };
        for (origin, passes) in [
            ("http://localhost:5173", true),
            ("https://127.0.0.1", true),
            ("http://memory.lan", true),
            ("app://viewer", true),
            ("app://viewer.evil", false),
            ("null", false),
            ("http://evil.example", false),
            ("http://10.0.0.1", false),
            ("file://", false),
            ("", false),
        ] {
            assert_eq!(open.is_origin(origin), passes, "{origin}");
        }
    }
}
