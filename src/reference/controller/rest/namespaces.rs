//! Namespaces: folders of clusters.

use super::super::failure::Failure;
use super::answer::{self, one};
use super::body::Body;
use super::route::{Answered, Asked};
use crate::reference::host::Host;

pub async fn list<H: Host>(asked: &Asked<'_, H>) -> Answered {
    Ok(answer::ok(one("namespaces", asked.shared.store.namespaces().await?)))
}

pub async fn exists<H: Host>(asked: &Asked<'_, H>, namespace: &str) -> Answered {
    match asked.shared.store.has_namespace(namespace).await? {
        true => Ok(answer::ok(())),
        false => Err(Failure::not_found()),
    }
}

pub async fn create<H: Host>(asked: &Asked<'_, H>) -> Answered {
    let body = Body::read("", asked.body).and_then(|body| body.text("namespace"));
    let namespace = match body {
        Ok(namespace) => namespace,
        Err(message) => return Ok(answer::unreadable(message)),
    };
    if namespace.is_empty() {
        return Err(Failure::bad_request("namespace should NOT be empty"));
    }
    asked.shared.store.create_namespace(&namespace).await?;
    Ok(answer::created(one("namespace", namespace)))
}

pub async fn remove<H: Host>(asked: &Asked<'_, H>, namespace: &str) -> Answered {
    asked.shared.store.remove_namespace(namespace).await?;
    Ok(answer::no_content())
}
