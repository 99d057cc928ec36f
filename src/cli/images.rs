//! `stormglass images`: which images runs use, where they would come from; `images build` makes them.

use clap::{Args, Subcommand};
use serde_json::json;

use super::{exit, fail};
use crate::catalog::nearest;
use crate::docker::{Engine, images};
use crate::progress::Progress;
use crate::say::say_line;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// JSON instead of lines
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// List the images and what of them is on this engine (the default)
    List,
    /// Build images from Debian's packages, for engines that reach no registry
    Build {
        /// Which; all that can be built where absent
        names: Vec<String>,
    },
}

/// Services with the image each runs from, for `list` and `describe`.
pub fn services() -> Vec<(String, String)> {
    let service = |name: String| {
        let image = images::Context::load(&name);
        let otherwise = match &image {
            Ok(image) if !image.is_built_here() => "or our own reference server",
            _ => "or built from Debian's packages",
        };
        let official = image.map(|image| image.official().to_owned()).unwrap_or_default();
        (name, format!("image {official}, {otherwise}"))
    };
    images::names().into_iter().map(service).collect()
}

pub fn images(arguments: &Arguments) -> i32 {
    let runtime = match super::runtime() {
        Ok(runtime) => runtime,
        Err(error) => return fail(exit::INFRASTRUCTURE, error),
    };
    if let Some(Command::Build { names }) = &arguments.command
        && let Some(error) = unknown(names)
    {
        return fail(exit::USAGE, error);
    }
    runtime.block_on(async {
        let engine = match Engine::connect().await {
            Ok(engine) => engine,
            Err(error) => return fail(exit::INFRASTRUCTURE, error),
        };
        match &arguments.command {
            None | Some(Command::List) => list(&engine, arguments.json).await,
            Some(Command::Build { names }) => build(&engine, names, arguments.json).await,
        }
    })
}

/// What is wrong with the first of these names that is in no catalogue.
fn unknown(names: &[String]) -> Option<String> {
    let known = images::names();
    let name = names.iter().find(|name| !known.contains(name))?;
    let near = nearest(name, known.iter().map(String::as_str));
    let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    let known = known.join(", ");
    Some(format!(
        "there is no image `{name}`{near}; there is {known}, and images/{name}/Dockerfile in the current \
         folder would add it"
    ))
}

async fn list(engine: &Engine, as_json: bool) -> i32 {
    let images = match images::list(engine).await {
        Ok(images) => images,
        Err(error) => return fail(exit::INFRASTRUCTURE, error),
    };
    if as_json {
        let rows = images.iter().map(|image| {
            json!({
                "name": image.name,
                "official": image.official, "official_present": image.has_official,
                "built": image.built, "built_present": image.has_built,
            })
        });
        say_line!("{:#}", rows.collect::<serde_json::Value>());
        return exit::VALID;
    }
    let there = |is_there: bool| if is_there { "present" } else { "absent " };
    for image in images {
        say_line!("{}", image.name);
        say_line!("  {}  {}", there(image.has_official), image.official);
        match image.built {
            Some(built) => say_line!("  {}  {built} (built here)", there(image.has_built)),
            None => {
                say_line!("  present  reference (our own server, where the image cannot be had)")
            }
        }
    }
    exit::VALID
}

async fn build(engine: &Engine, names: &[String], as_json: bool) -> i32 {
    let names = if names.is_empty() { images::names_built_here() } else { names.to_vec() };
    let progress = Progress::new(as_json);
    for name in &names {
        match images::build(engine, name, &|line: &str| progress.say(line)).await {
            Ok(image) if as_json => {
                say_line!("{}", json!({"name": name, "reference": image.reference}))
            }
            Ok(image) => say_line!("{name}: {}", image.reference),
            Err(error) => {
                progress.finish();
                let code = if error.is_usage() { exit::USAGE } else { exit::INFRASTRUCTURE };
                return fail(code, error);
            }
        }
    }
    progress.finish();
    exit::VALID
}
