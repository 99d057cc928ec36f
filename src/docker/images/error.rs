//! Why an image cannot be had, and what to do about it.

use super::{REFERENCE, STAND_INS};

#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error(
        "there is no image named `{name}` in the catalogue. Expected one of: {known}. Add \
         images/{name}/Dockerfile in the current folder, or correct the name"
    )]
    Unknown { name: String, known: String },
    #[error("cannot read {path}: {cause}. Expected a readable file of an image's folder")]
    Unreadable { path: String, cause: String },
    #[error(
        "images/{name}/Dockerfile has no first line `# official: REFERENCE`. Expected it to name the \
         real image, such as `# official: zookeeper:3.9`"
    )]
    NoOfficial { name: String },
    #[error(
        "image `{reference}` for `{name}` is not on the engine and cannot be pulled: {cause}. Expected a \
         local tag, an id, or a reference that a registry answers for. Correct `--image {name}=…`, or \
         leave it out to take the official image or one made offline"
    )]
    NotPulled { name: String, reference: String, cause: String },
    #[error(
        "--image {name}={REFERENCE}: there is no reference server for {name}, only for {}. Name an image, or \
         leave it out", STAND_INS.join(" and ")
    )]
    NoReference { name: String },
    #[error(
        "{name} cannot run image `{reference}` as variant `{variant}`: variants are those of our reference \
         server. Leave out `--image {name}=…`, or `--variant`"
    )]
    Variant { name: String, reference: String, variant: String },
    #[error(
        "there is nothing to build for `{name}`: images/{name}/Dockerfile only names the real image, \
         {official}. Pull that, or have the reference server run with `--image {name}={REFERENCE}`"
    )]
    NothingToBuild { name: String, official: String },
    #[error("cannot make the base image {tag}: {cause}")]
    NoBase { tag: String, cause: String },
    #[error("building image `{name}` failed: {cause}\n{log}")]
    NotBuilt { name: String, cause: String, log: String },
    #[error("the Docker engine failed while looking for image {reference}: {cause}")]
    Engine { reference: String, cause: String },
}

impl ImageError {
    /// What was asked for cannot be; another try would end the same.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            ImageError::Unknown { .. }
                | ImageError::NoReference { .. }
                | ImageError::Variant { .. }
                | ImageError::NothingToBuild { .. }
        )
    }
}
