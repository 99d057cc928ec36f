//! Where the images of a cluster come from: named by the user, official, or made offline.
//!
//! It never replaces a tag that it did not make.

mod apt;
mod base;
mod build;
mod catalogue;
mod pull;

pub use catalogue::{Context, names};

use crate::docker::Progress;
use crate::docker::engine::{Engine, is_missing, words};

/// How an image came to be on the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It was there.
    Local,
    /// It was pulled from a registry just now.
    Pulled,
    /// It was made from our Dockerfile just now.
    Built,
}

impl How {
    pub fn name(self) -> &'static str {
        match self {
            How::Local => "local",
            How::Pulled => "pulled",
            How::Built => "built",
        }
    }
}

/// An image that is on the engine and ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedImage {
    /// The name in the catalogue.
    pub name: String,
    /// What was asked for: a tag, a digest or an id.
    pub reference: String,
    /// The engine's own id of it.
    pub id: String,
    /// Repository and digest, where a registry gave one.
    pub digest: Option<String>,
    pub how: How,
}

impl ResolvedImage {
    /// What a replay should ask for: the digest where there is one, else the id.
    pub fn pinned(&self) -> &str {
        self.digest.as_deref().unwrap_or(&self.id)
    }
}

/// One line of `stormglass images`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedImage {
    pub name: String,
    pub official: String,
    /// The tag that an offline build gets, by the hash of its files.
    pub built: String,
    pub has_official: bool,
    pub has_built: bool,
}

/// Why an image cannot be had.
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
    #[error("cannot make the base image {tag}: {cause}")]
    NoBase { tag: String, cause: String },
    #[error("building image `{name}` failed: {cause}\n{log}")]
    NotBuilt { name: String, cause: String, log: String },
    #[error("the Docker engine failed while looking for image {reference}: {cause}")]
    Engine { reference: String, cause: String },
}

/// Makes sure that an image is on the engine, by pulling or building it where it is not.
pub async fn resolve(
    engine: &Engine,
    name: &str,
    chosen: Option<&str>,
    progress: Progress<'_>,
) -> Result<ResolvedImage, ImageError> {
    let context = Context::load(name)?;
    if let Some(reference) = chosen {
        return resolve_chosen(engine, name, reference, progress).await;
    }
    for reference in [context.official(), &context.tag()] {
        if let Some(image) = find(engine, name, reference, How::Local).await? {
            return Ok(image);
        }
    }
    progress(&format!("pulling {}", context.official()));
    match pull::pull(engine, context.official(), progress).await {
        Ok(()) => found(engine, name, context.official(), How::Pulled).await,
        Err(cause) => {
            progress(&format!("{} cannot be pulled ({cause}); building", context.official()));
            build::build(engine, &context, progress).await
        }
    }
}

/// Makes the image of this name from its Dockerfile, unless the same files have been built before.
pub async fn build(
    engine: &Engine,
    name: &str,
    progress: Progress<'_>,
) -> Result<ResolvedImage, ImageError> {
    let context = Context::load(name)?;
    match find(engine, name, &context.tag(), How::Local).await? {
        Some(image) => Ok(image),
        None => build::build(engine, &context, progress).await,
    }
}

/// What this host lacks for making images without a registry; `None` where it lacks nothing.
pub fn debootstrap_lacks() -> Option<String> {
    base::lacks()
}

/// Every image of the catalogue and what of it the engine has.
pub async fn list(engine: &Engine) -> Result<Vec<ListedImage>, ImageError> {
    let mut listed = Vec::new();
    for name in names() {
        let context = Context::load(&name)?;
        let (official, built) = (context.official().to_owned(), context.tag());
        let has_official = find(engine, &name, &official, How::Local).await?.is_some();
        let has_built = find(engine, &name, &built, How::Local).await?.is_some();
        listed.push(ListedImage { name, official, built, has_official, has_built });
    }
    Ok(listed)
}

async fn resolve_chosen(
    engine: &Engine,
    name: &str,
    reference: &str,
    progress: Progress<'_>,
) -> Result<ResolvedImage, ImageError> {
    if let Some(image) = find(engine, name, reference, How::Local).await? {
        return Ok(image);
    }
    progress(&format!("pulling {reference}"));
    pull::pull(engine, reference, progress).await.map_err(|cause| ImageError::NotPulled {
        name: name.to_owned(),
        reference: reference.to_owned(),
        cause,
    })?;
    found(engine, name, reference, How::Pulled).await
}

/// The image if the engine has it.
async fn find(
    engine: &Engine,
    name: &str,
    reference: &str,
    how: How,
) -> Result<Option<ResolvedImage>, ImageError> {
    let inspected = match engine.api().inspect_image(reference).await {
        Ok(inspected) => inspected,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => {
            let reference = reference.to_owned();
            return Err(ImageError::Engine { reference, cause: words(&error) });
        }
    };
    Ok(Some(ResolvedImage {
        name: name.to_owned(),
        reference: reference.to_owned(),
        id: inspected.id.unwrap_or_default(),
        digest: inspected.repo_digests.unwrap_or_default().into_iter().next(),
        how,
    }))
}

async fn found(
    engine: &Engine,
    name: &str,
    reference: &str,
    how: How,
) -> Result<ResolvedImage, ImageError> {
    find(engine, name, reference, how).await?.ok_or_else(|| ImageError::Engine {
        reference: reference.to_owned(),
        cause: "it was made, yet the engine does not have it".to_owned(),
    })
}
