//! Pulling from a registry, bounded: a machine without one must learn so in seconds.

use std::time::Duration;

use bollard::query_parameters::CreateImageOptionsBuilder;
use futures::StreamExt;

use crate::docker::Progress;
use crate::docker::engine::{Engine, words};

/// A registry that has not answered by then is taken as unreachable.
const FIRST_ANSWER: Duration = Duration::from_secs(15);

/// A pull that says nothing for so long has stalled.
const SILENCE: Duration = Duration::from_secs(90);

/// Pulls an image by tag or digest. The error is a phrase, not a sentence.
pub(super) async fn pull(
    engine: &Engine,
    reference: &str,
    progress: Progress<'_>,
) -> Result<(), String> {
    let (image, tag) = split(reference)?;
    let seconds = FIRST_ANSWER.as_secs();
    progress(&format!("pulling {reference}; its registry has {seconds} s to answer"));
    let options = CreateImageOptionsBuilder::new().from_image(image).tag(tag).build();
    let mut steps = engine.api().create_image(Some(options), None, None);
    let mut patience = FIRST_ANSWER;
    loop {
        let step = tokio::time::timeout(patience, steps.next())
            .await
            .map_err(|_| format!("no answer for {} s", patience.as_secs()))?;
        let Some(step) = step else { return Ok(()) };
        let step = step.map_err(|error| words(&error))?;
        if let Some(error) = step.error_detail.and_then(|detail| detail.message) {
            return Err(error);
        }
        if let (None, Some(status)) = (step.id, step.status) {
            progress(&status);
        }
        patience = SILENCE;
    }
}

/// Name and tag (or digest) as the API wants them apart. Without a tag the API would pull all tags.
fn split(reference: &str) -> Result<(&str, &str), String> {
    if reference.starts_with("sha256:") {
        return Err("an id can only be found on the engine that has it".to_owned());
    }
    if let Some((image, digest)) = reference.split_once('@') {
        return Ok((image, digest));
    }
    match reference.rsplit_once(':') {
        Some((image, tag)) if !tag.contains('/') => Ok((image, tag)),
        _ => Ok((reference, "latest")),
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn references_are_split_as_docker_reads_them() {
        for (reference, image, tag) in [
            ("zookeeper:3.9", "zookeeper", "3.9"),
            ("zookeeper", "zookeeper", "latest"),
            ("host:5000/team/zookeeper", "host:5000/team/zookeeper", "latest"),
            ("host:5000/team/zookeeper:3", "host:5000/team/zookeeper", "3"),
            ("zookeeper@sha256:ab", "zookeeper", "sha256:ab"),
        ] {
            assert_eq!(split(reference), Ok((image, tag)), "{reference}");
        }
        assert!(split("sha256:abcdef").is_err());
    }
}
