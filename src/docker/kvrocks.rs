//! How a kvrocks node is configured in a container, real or reference.
//!
//! The paths are those of the official image: its entry point reads this file, keeps its data in this
//! folder, and runs as a user of its own.

use crate::cluster::fill_lines;
use crate::docker::archive::Archive;
use crate::docker::images::Context;
use crate::docker::outfit::{Outfit, Setting};

const FOLDER: &str = "/var/lib/kvrocks";
const CONFIGURATION: &str = "/var/lib/kvrocks/kvrocks.conf";

/// The template in the image's folder.
const TEMPLATE: &str = "kvrocks.conf";

pub(super) fn outfit(setting: &Setting<'_>) -> Result<Outfit, String> {
    let context = Context::load("kvrocks").map_err(|error| error.to_string())?;
    let configuration = fill_lines(&context.text(TEMPLATE)?, ' ', setting.config)?;
    let mut archive = Archive::new();
    archive.add(CONFIGURATION.trim_start_matches('/'), 0o644, configuration.as_bytes());
    let reference = ["kvrocks", "--config", CONFIGURATION, "--dir", FOLDER, "--variant"];
    let reference = reference.into_iter().chain([setting.variant]).map(str::to_owned).collect();
    Ok(Outfit { files: archive.into_bytes(), environment: Vec::new(), reference })
}

#[cfg(test)]
mod tests {
    use crate::docker::outfit::tests::{files, outfit};

    #[test]
    fn a_node_is_configured_where_the_official_image_reads_it() {
        let made = outfit("kvrocks1", &[("migrate-type", "raw-key-value")]).expect("made");
        let conf = &files(&made)["var/lib/kvrocks/kvrocks.conf"];
        for line in ["port 6666", "cluster-enabled yes", "migrate-type raw-key-value"] {
            assert!(conf.lines().any(|other| other == line), "{line}");
        }
        assert!(!conf.contains("redis-command"), "{conf}");
        assert_eq!(
            made.reference.join(" "),
            "kvrocks --config /var/lib/kvrocks/kvrocks.conf --dir /var/lib/kvrocks --variant as-shipped"
        );
    }
}
