//! Building an image from its folder with the engine's own builder.

use std::collections::HashMap;

use bollard::query_parameters::BuildImageOptionsBuilder;
use futures::StreamExt;

use crate::docker::Progress;
use crate::docker::engine::{Engine, words};
use crate::docker::images::{Context, How, ImageError, ResolvedImage, base, find, found, pull};

/// Lines of a failed build that are shown.
const LOG_LINES: usize = 25;

pub(super) async fn build(
    engine: &Engine,
    context: &Context,
    progress: Progress<'_>,
) -> Result<ResolvedImage, ImageError> {
    for reference in context.bases() {
        provide_base(engine, &reference, progress).await?;
    }
    let tag = context.tag();
    progress(&format!("building {tag}"));
    let labels = HashMap::from([("stormglass.image", context.name())]);
    let options = BuildImageOptionsBuilder::new()
        .dockerfile("Dockerfile")
        .t(&tag)
        .rm(true)
        .forcerm(true)
        .labels(&labels)
        .build();
    let body = bollard::body_full(context.to_tar().into());
    let steps = engine.api().build_image(options, None, Some(body));
    follow(context.name(), steps, progress).await?;
    found(engine, context.name(), &tag, How::Built).await
}

/// The base is taken from the engine, else from a registry, else made from Debian's packages.
async fn provide_base(
    engine: &Engine,
    reference: &str,
    progress: Progress<'_>,
) -> Result<(), ImageError> {
    if find(engine, reference, reference, How::Local).await?.is_some() {
        return Ok(());
    }
    progress(&format!("pulling {reference}"));
    let Err(cause) = pull::pull(engine, reference, progress).await else { return Ok(()) };
    progress(&format!("{reference} cannot be pulled ({cause}); making it with debootstrap"));
    base::make(engine, reference, progress).await.map_err(|failure| ImageError::NoBase {
        tag: reference.to_owned(),
        cause: format!("it cannot be pulled ({cause}), and {failure}"),
    })
}

async fn follow(
    name: &str,
    steps: impl futures::Stream<Item = Result<bollard::models::BuildInfo, bollard::errors::Error>>,
    progress: Progress<'_>,
) -> Result<(), ImageError> {
    let mut steps = std::pin::pin!(steps);
    let mut log: Vec<String> = Vec::new();
    while let Some(step) = steps.next().await {
        let failure = match step {
            Ok(info) => {
                let lines = info.stream.unwrap_or_default();
                for line in lines.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
                    progress(line);
                    log.push(line.to_owned());
                }
                info.error_detail.and_then(|detail| detail.message)
            }
            Err(error) => Some(words(&error)),
        };
        if let Some(cause) = failure {
            let log = log[log.len().saturating_sub(LOG_LINES)..].join("\n");
            return Err(ImageError::NotBuilt { name: name.to_owned(), cause, log });
        }
    }
    Ok(())
}
