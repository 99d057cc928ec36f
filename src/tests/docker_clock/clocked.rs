//! A container that says what its clocks show: another user's, without rights, on a read-only disk.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, ensure};
use bollard::container::LogOutput;
use bollard::models::{ContainerCreateBody, HostConfig};
use bollard::query_parameters::{
    CreateContainerOptions, LogsOptionsBuilder, RestartContainerOptions, StartContainerOptions,
};
use futures::StreamExt;
use stormglass::docker::agent::RUN_LABEL;

use crate::docker_agent::scratch::Scratch;

const SOURCE: &str = include_str!("../clock_programs/clock.rs");

/// One container, and the program that it runs.
pub struct Clocked<'a> {
    scratch: &'a Scratch,
    pub container: String,
}

/// What its program says.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub wall_ns: i64,
    pub wrong: i64,
}

/// Builds the program, statically linked, once; the folder where it is.
pub fn build() -> anyhow::Result<PathBuf> {
    static BUILT: Mutex<Option<PathBuf>> = Mutex::new(None);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = &*built {
        return Ok(folder.clone());
    }
    let folder = std::env::temp_dir().join(format!("stormglass-clocked-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("clock.rs"), SOURCE)?;
    let mut compiler = Command::new("rustc");
    compiler.args(["-O", "-C", "target-feature=+crt-static", "-o", "clock", "clock.rs"]);
    let output = compiler.current_dir(&folder).output().context("run rustc")?;
    ensure!(output.status.success(), "rustc: {}", String::from_utf8_lossy(&output.stderr));
    Ok(built.insert(folder).clone())
}

impl Clocked<'_> {
    pub async fn start<'a>(scratch: &'a Scratch, folder: &Path) -> anyhow::Result<Clocked<'a>> {
        let host = HostConfig {
            binds: Some(vec![format!("{}:/programs:ro", folder.display())]),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(vec!["no-new-privileges".to_owned()]),
            readonly_rootfs: Some(true),
            ..Default::default()
        };
        let body = ContainerCreateBody {
            image: Some(scratch.image.clone()),
            cmd: Some(vec!["/programs/clock".to_owned()]),
            user: Some("1000:1000".to_owned()),
            labels: Some([(RUN_LABEL.to_owned(), scratch.run.clone())].into()),
            host_config: Some(host),
            ..Default::default()
        };
        let docker = &scratch.docker;
        let container = docker.create_container(None::<CreateContainerOptions>, body).await?.id;
        docker.start_container(&container, None::<StartContainerOptions>).await?;
        Ok(Clocked { scratch, container })
    }

    pub async fn pid(&self) -> anyhow::Result<u32> {
        self.scratch.pid(&self.container).await
    }

    pub async fn restart(&self) -> anyhow::Result<()> {
        let options = RestartContainerOptions { t: Some(0), ..Default::default() };
        Ok(self.scratch.docker.restart_container(&self.container, Some(options)).await?)
    }

    /// The last line that it has said.
    pub async fn line(&self) -> anyhow::Result<Line> {
        let options = LogsOptionsBuilder::default().stdout(true).tail("1").build();
        let mut lines = Box::pin(self.scratch.docker.logs(&self.container, Some(options)));
        let mut last = None;
        while let Some(line) = lines.next().await {
            last = Some(line?);
        }
        let Some(LogOutput::StdOut { message }) = last else {
            anyhow::bail!("it has said nothing yet")
        };
        let text = String::from_utf8(message.to_vec())?;
        let words = text.split_ascii_whitespace().map(str::parse);
        let words = words.collect::<Result<Vec<i64>, _>>()?;
        let [wall_ns, _, wrong] = words[..] else { anyhow::bail!("it said {text}") };
        Ok(Line { wall_ns, wrong })
    }
}
