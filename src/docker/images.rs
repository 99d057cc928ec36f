//! Where the images of a cluster come from: named by the user, official, or made offline; or our own, with
//! a reference server in place of the real one.
//!
//! It never replaces a tag that it did not make.

mod apt;
mod base;
mod build;
mod catalogue;
mod error;
mod pull;

pub use catalogue::{Context, names};
pub use error::ImageError;

use crate::docker::Progress;
use crate::docker::engine::{Engine, is_missing, words};

/// What is asked for, in place of an image, to have the reference server run.
pub const REFERENCE: &str = "reference";

/// The services of which there is a reference server.
const STAND_INS: [&str; 2] = ["controller", "kvrocks"];

/// How an image came to be on the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It was there.
    Local,
    /// It was pulled from a registry just now.
    Pulled,
    /// It was made from our Dockerfile just now.
    Built,
    /// It is our own executable, whose reference server stands in for the real one.
    Reference,
}

impl How {
    pub fn name(self) -> &'static str {
        match self {
            How::Local => "local",
            How::Pulled => "pulled",
            How::Built => "built",
            How::Reference => REFERENCE,
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
        if self.is_reference() {
            return REFERENCE;
        }
        self.digest.as_deref().unwrap_or(&self.id)
    }
}

impl ResolvedImage {
    /// Our own reference server runs in place of the real one.
    pub fn is_reference(&self) -> bool {
        self.how == How::Reference
    }
}

/// One line of `stormglass images`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedImage {
    pub name: String,
    pub official: String,
    /// The tag that an offline build gets, by the hash of its files; `None` where our reference server
    /// stands in for it.
    pub built: Option<String>,
    pub has_official: bool,
    pub has_built: bool,
}

/// What is wanted of one image.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The name in the catalogue.
    pub name: &'a str,
    /// A reference, or `reference`; `None` to have the usual one.
    pub image: Option<&'a str>,
    /// How the reference server is to behave, which therefore must run.
    pub variant: Option<&'a str>,
}

/// Makes sure that an image is on the engine, by pulling or building it where it is not.
pub async fn resolve(
    engine: &Engine,
    wanted: Wanted<'_>,
    progress: Progress<'_>,
) -> Result<ResolvedImage, ImageError> {
    let Wanted { name, image, variant } = wanted;
    let context = Context::load(name)?;
    match (image, variant) {
        (Some(REFERENCE), _) | (None, Some(_)) => return reference(engine, name).await,
        (Some(image), Some(variant)) => {
            let (reference, variant) = (image.to_owned(), variant.to_owned());
            return Err(ImageError::Variant { name: name.to_owned(), reference, variant });
        }
        (Some(image), None) => return resolve_chosen(engine, name, image, progress).await,
        (None, None) => {}
    }
    let built = context.is_built_here().then(|| context.tag());
    for reference in [Some(context.official()), built.as_deref()].into_iter().flatten() {
        if let Some(image) = find(engine, name, reference, How::Local).await? {
            return Ok(image);
        }
    }
    let official = context.official();
    match pull::pull(engine, official, progress).await {
        Ok(()) => found(engine, name, official, How::Pulled).await,
        Err(cause) if context.is_built_here() => {
            progress(&format!("{official} cannot be pulled ({cause}); building"));
            build::build(engine, &context, progress).await
        }
        Err(cause) => {
            let image = reference(engine, name).await?;
            progress(&format!(
                "{official} is not here and cannot be pulled; the reference server runs in its place \
                 ({cause})"
            ));
            Ok(image)
        }
    }
}

/// Our own image, in which the reference server of this service runs.
async fn reference(engine: &Engine, name: &str) -> Result<ResolvedImage, ImageError> {
    if !STAND_INS.contains(&name) {
        return Err(ImageError::NoReference { name: name.to_owned() });
    }
    let id = engine.own_image().await.map_err(|error| ImageError::Engine {
        reference: "of our own".to_owned(),
        cause: format!("{error:#}"),
    })?;
    let (name, reference) = (name.to_owned(), REFERENCE.to_owned());
    Ok(ResolvedImage { name, reference, id, digest: None, how: How::Reference })
}

/// Makes the image of this name from its Dockerfile, unless the same files have been built before.
pub async fn build(
    engine: &Engine,
    name: &str,
    progress: Progress<'_>,
) -> Result<ResolvedImage, ImageError> {
    let context = Context::load(name)?;
    if !context.is_built_here() {
        let (name, official) = (name.to_owned(), context.official().to_owned());
        return Err(ImageError::NothingToBuild { name, official });
    }
    match find(engine, name, &context.tag(), How::Local).await? {
        Some(image) => Ok(image),
        None => build::build(engine, &context, progress).await,
    }
}

/// The names of the images that can be made from their folders, sorted.
pub fn names_built_here() -> Vec<String> {
    let is_built = |name: &String| Context::load(name).is_ok_and(|image| image.is_built_here());
    names().into_iter().filter(is_built).collect()
}

/// The official image of a service.
pub fn official(name: &str) -> Option<String> {
    Context::load(name).ok().map(|context| context.official().to_owned())
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
        let official = context.official().to_owned();
        let built = context.is_built_here().then(|| context.tag());
        let has_official = find(engine, &name, &official, How::Local).await?.is_some();
        let has_built = match &built {
            Some(built) => find(engine, &name, built, How::Local).await?.is_some(),
            None => false,
        };
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
