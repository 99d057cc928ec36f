//! Which image each role runs, and what is run in it: found out once, before anything is started.

use std::collections::BTreeMap;

use futures::future::{try_join, try_join_all};

use crate::cluster::Role;
use crate::docker::Progress;
use crate::docker::cluster::{ClusterSpec, UpError};
use crate::docker::engine::Engine;
use crate::docker::images::{self, ResolvedImage, Wanted};
use crate::docker::node::{self, Launch};
use crate::docker::outfit::Outfit;
use crate::docker::self_image::{EXECUTABLE, Supervisor};

/// What each role runs.
pub(super) struct Fittings {
    by_role: BTreeMap<Role, Fitting>,
    /// Where services run under our supervisor.
    supervisor: Option<Supervisor>,
}

/// What one role runs.
pub(super) struct Fitting {
    pub image: ResolvedImage,
    /// What the image runs by itself; asked for only where a supervisor must do it.
    command: Vec<String>,
}

impl Fittings {
    pub async fn find(
        engine: &Engine,
        spec: &ClusterSpec,
        progress: Progress<'_>,
    ) -> Result<Fittings, UpError> {
        let fitting = |(role, _): (Role, usize)| async move {
            let name = role.name();
            let image = spec.images.get(name).map(String::as_str);
            let variant = spec.variants.get(name).map(String::as_str);
            let image = images::resolve(engine, Wanted { name, image, variant }, progress).await?;
            let command = match spec.needs.supervised && !image.is_reference() {
                true => node::command_of(engine, &image.id).await?,
                false => Vec::new(),
            };
            Ok::<_, UpError>((role, Fitting { image, command }))
        };
        let supervisor = async {
            let wanted = spec.needs.supervised.then(|| engine.supervisor());
            Ok(match wanted {
                Some(supervisor) => Some(supervisor.await?),
                None => None,
            })
        };
        let fittings = try_join_all(spec.roles().map(fitting));
        let (fittings, supervisor) = try_join(fittings, supervisor).await?;
        Ok(Fittings { by_role: fittings.into_iter().collect(), supervisor })
    }

    pub fn of(&self, role: Role) -> Option<&Fitting> {
        self.by_role.get(&role)
    }

    pub fn is_supervised(&self) -> bool {
        self.supervisor.is_some()
    }

    pub fn images(&self) -> Vec<ResolvedImage> {
        self.by_role.values().map(|fitting| fitting.image.clone()).collect()
    }

    /// How a service is started in its image.
    pub fn launch(&self, fitting: &Fitting, outfit: &Outfit) -> Launch {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match (&self.supervisor, fitting.image.is_reference()) {
            (None, false) => Launch::default(),
            (None, true) => {
                let command: Vec<String> = words(&[EXECUTABLE, "serve"]);
                let command = Some([command, outfit.reference.clone()].concat());
                Launch { command, ..Launch::default() }
            }
            // The executable is there already.
            (Some(_), true) => {
                let command: Vec<String> =
                    words(&[EXECUTABLE, "supervise", "--", EXECUTABLE, "serve"]);
                let command = Some([command, outfit.reference.clone()].concat());
                Launch { command, ..Launch::default() }
            }
            (Some(supervisor), false) => Launch {
                entrypoint: Some(supervisor.command.clone()),
                command: Some(fitting.command.clone()),
                guest: Some(supervisor.files.clone()),
            },
        }
    }
}
