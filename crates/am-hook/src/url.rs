//! The address of a memory server, as a user writes it in `AGENT_MEMORY_URL`.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs},
};

/// A base URL, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    /// Whether the scheme is `https` (else `http`).
    pub secure: bool,
    /// The host: a name in lower case, or an address (IPv6 without brackets).
    pub host: String,
    /// The port, by default that of the scheme.
    pub port: u16,
    /// The path before our routes, percent-encoded: it starts and ends with a slash.
    prefix: String,
}

impl BaseUrl {
    /// Parses a base URL. `None` when it is none, has another scheme than `http` or `https`, carries a user
    /// name or password, or has no usable host or port. Query and fragment are dropped.
    pub fn parse(text: &str) -> Option<Self> {
        let text: String = text
            .trim_matches(|c: char| c == ' ' || c.is_ascii_control())
            .chars()
            .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
            .map(|c| if c == '\\' { '/' } else { c })
            .collect();
        let (scheme, rest) = text.split_once("://")?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let rest = rest.split(['?', '#']).next().unwrap_or("");
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = split_authority(authority)?;
        let port = match port {
            "" if secure => 443,
            "" => 80,
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
            _ => return None,
        };
        Some(Self { secure, host, port, prefix: prefix(path) })
    }

    /// Gives the path of a route such as `memory/remember` below this base.
    pub fn path(&self, route: &str) -> String {
        format!("{}{route}", self.prefix)
    }

    /// Gives the value of the `Host` header: the port is left out where it is the scheme's own.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == if self.secure { 443 } else { 80 } { host } else { format!("{host}:{}", self.port) }
    }

    /// Tells whether the host is this machine by its very name.
    pub fn is_loopback(&self) -> bool {
        self.is_localhost() || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Finds the addresses to try. `localhost` is this machine without asking anyone.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        if self.is_localhost() {
            return Ok(vec![
                SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)),
                SocketAddr::from((Ipv6Addr::LOCALHOST, self.port)),
            ]);
        }
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }

    fn is_localhost(&self) -> bool {
        let name = self.host.strip_suffix('.').unwrap_or(&self.host);
        name == "localhost" || name.ends_with(".localhost")
    }
}

fn split_authority(authority: &str) -> Option<(String, &str)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        let port = if after.is_empty() { after } else { after.strip_prefix(':')? };
        return Some((host.parse::<Ipv6Addr>().ok()?.to_string(), port));
    }
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let is_plain = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
    (!host.is_empty() && host.chars().all(is_plain)).then(|| (host.to_lowercase(), port))
}

/// Writes a path with a slash at both ends and nothing in it that a request line can't carry.
fn prefix(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len() + 2);
    encoded.push('/');
    for byte in path.bytes() {
        if byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'`' | b'{' | b'}') {
            encoded.push(char::from(byte));
        } else {
            let escape = format!("%{byte:02X}");
            encoded.push_str(&escape);
        }
    }
    if !encoded.ends_with('/') {
        encoded.push('/');
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::BaseUrl;

    fn request_target(text: &str) -> Option<String> {
        BaseUrl::parse(text).map(|url| format!("{} {}", url.authority(), url.path("memory/remember")))
    }

    #[test]
    fn bases_join_with_the_route() {
        for (base, expected) in [
            ("http://127.0.0.1:3111", "127.0.0.1:3111 /memory/remember"),
            ("HTTP://Example.COM:80/", "example.com /memory/remember"),
            (" http://h:8080/prefix\n", "h:8080 /prefix/memory/remember"),
            ("http://h/prefix/", "h /prefix/memory/remember"),
            ("http://h/a b?q#f", "h /a%20b/memory/remember"),
            ("http://[::1]:3111", "[::1]:3111 /memory/remember"),
            ("https://h", "h /memory/remember"),
            ("http://h?x", "h /memory/remember"),
        ] {
            assert_eq!(request_target(base).as_deref(), Some(expected), "{base}");
        }
    }

    #[test]
    fn what_is_no_base_url_is_refused() {
        for base in [
            "",
            "not a url",
            "127.0.0.1:3111",
            "ftp://h",
            "http://",
            "http://:80",
            "http://u:p@h",
            "http://h:x",
            "http://h:65536",
            "http://h:+1",
            "http://[::1",
            "http://[::1]x",
            "http://a b",
            "http:/h",
            "http://h\u{0}x",
        ] {
            assert_eq!(BaseUrl::parse(base), None, "{base:?}");
        }
    }

    #[test]
    fn loopback_is_told_by_name() {
        for (base, loopback) in [
            ("http://localhost", true),
            ("http://am.localhost.:1", true),
            ("http://127.9.9.9", true),
            ("http://[::1]", true),
            ("http://10.0.0.1", false),
            ("http://localhost.example", false),
        ] {
            assert_eq!(BaseUrl::parse(base).map(|url| url.is_loopback()), Some(loopback), "{base}");
        }
    }
}
