//! Which request is answered by whom.

use std::borrow::Cow;
use std::rc::Rc;

use super::super::failure::Failure;
use super::metrics::Requests;
use super::{Shared, answer, clusters, namespaces, shards};
use crate::http::{Method, Received, Response};
use crate::reference::host::Host;

/// What a request is about.
pub struct Asked<'a, H: Host> {
    pub shared: &'a Rc<Shared<H>>,
    pub body: &'a [u8],
    /// A check that the client does without: `X-Dont-Check-Cluster-Mode: yes`.
    pub skips_mode_check: bool,
}

/// A handler's work: an answer, or a failure to be told.
pub type Answered = Result<Response, Failure>;

pub async fn route<H: Host>(
    shared: &Rc<Shared<H>>,
    requests: &Requests,
    request: &Received,
) -> Response {
    let Some(parts) = parts(&request.path) else { return answer::failed(&Failure::not_found()) };
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    let asked = Asked {
        shared,
        body: &request.body,
        skips_mode_check: has_yes(request, "x-dont-check-cluster-mode"),
    };
    let answered = match parts[..] {
        ["metrics"] if request.method == Method::GET => {
            return requests.metrics(shared.leadership.is_leader());
        }
        ["debug", "pprof", ..] => {
            return Response::new(200, answer::TEXT, "no profiles are kept here\n");
        }
        ["api", "v1", "raft", "peers"]
            if request.method == Method::GET || request.method == Method::POST =>
        {
            Err(Failure::bad_request("raft engine is not enabled"))
        }
        ["api", "v1", "namespaces", ref rest @ ..] => asked.namespaces(&request.method, rest).await,
        _ => Err(Failure::not_found()),
    };
    answered.unwrap_or_else(|failure| answer::failed(&failure))
}

fn has_yes(request: &Received, header: &str) -> bool {
    let found = request.headers.iter().find(|(name, _)| name == header);
    found.is_some_and(|(_, value)| value.eq_ignore_ascii_case("yes"))
}

/// The decoded parts of a path; none of them is empty.
fn parts(path: &str) -> Option<Vec<Cow<'_, str>>> {
    path.strip_prefix('/')?.split('/').map(|part| decoded(part).filter(|p| !p.is_empty())).collect()
}

/// With `%xx` as the byte that it stands for.
fn decoded(part: &str) -> Option<Cow<'_, str>> {
    if !part.contains('%') {
        return Some(Cow::Borrowed(part));
    }
    let mut pieces = part.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let code = piece.get(..2).filter(|code| code.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(&piece.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

impl<H: Host> Asked<'_, H> {
    async fn namespaces(&self, method: &Method, parts: &[&str]) -> Answered {
        let method = method.as_str();
        match (method, parts) {
            ("GET", []) => namespaces::list(self).await,
            ("POST", []) => namespaces::create(self).await,
            ("GET", [namespace]) => namespaces::exists(self, namespace).await,
            ("DELETE", [namespace]) => namespaces::remove(self, namespace).await,
            (_, [namespace, "clusters", rest @ ..]) => self.clusters(method, namespace, rest).await,
            _ => Err(Failure::not_found()),
        }
    }

    async fn clusters(&self, method: &str, namespace: &str, parts: &[&str]) -> Answered {
        let key = |cluster: &str| (namespace.to_owned(), cluster.to_owned());
        let is_known = matches!(
            (method, parts),
            ("GET" | "POST", [])
                | ("GET" | "DELETE", [_])
                | ("POST", [_, "import" | "migrate"])
                | ("GET" | "POST", [_, "shards"])
                | ("GET" | "DELETE", [_, "shards", _])
                | ("POST", [_, "shards", _, "failover"])
                | ("GET" | "POST", [_, "shards", _, "nodes"])
                | ("DELETE", [_, "shards", _, "nodes", _])
        );
        if !is_known {
            return Err(Failure::not_found());
        }
        if !self.shared.store.has_namespace(namespace).await? {
            return Err(Failure::bad_request("namespace not found"));
        }
        match (method, parts) {
            ("GET", []) => clusters::list(self, namespace).await,
            ("POST", []) => clusters::create(self, namespace).await,
            ("GET", [cluster]) => clusters::get(self, key(cluster)).await,
            ("DELETE", [cluster]) => clusters::remove(self, key(cluster)).await,
            (_, [cluster, "import"]) => clusters::import(self, key(cluster)).await,
            (_, [cluster, "migrate"]) => clusters::migrate(self, key(cluster)).await,
            (_, [cluster, "shards", rest @ ..]) => {
                shards::route(self, method, key(cluster), rest).await
            }
            _ => Err(Failure::not_found()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_path_falls_into_decoded_parts() {
        let split = |path| parts(path).map(|parts| parts.join("|"));
        assert_eq!(split("/api/v1/namespaces").as_deref(), Some("api|v1|namespaces"));
        assert_eq!(split("/a%20b/%2F").as_deref(), Some("a b|/"));
        for wrong in ["", "a", "/", "//", "/a/", "/a//b", "/%", "/%2", "/%zz", "/%ff", "/%+1"] {
            assert_eq!(split(wrong), None, "{wrong}");
        }
    }
}
