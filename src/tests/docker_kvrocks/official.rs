//! Images that are laid out as the official ones: their own users, entry points, volumes and checks. Our
//! servers play the part of the real ones in them; nothing else of the images is ours.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use stormglass::cluster::{Action, Cluster, Role};
use stormglass::docker::self_image::Supervisor;
use stormglass::docker::{DockerCluster, RunId};
use stormglass::resp::Value;

use super::desk::{apply, controller, form, kvrocks, must_be, own_key, resp, settled, seven};
use crate::docker_cluster::harness::{EXECUTABLE, Scratch, with_engine};

/// As `apache/kvrocks` is: a user of its own, a volume, a configuration that must be replaced, a check
/// that would fail.
const KVROCKS: &str = r#"
FROM debian:bookworm-slim
ADD guest.tar /
RUN useradd --system kvrocks && mkdir -p /var/run/kvrocks /var/lib/kvrocks \
 && chown kvrocks:kvrocks /var/run/kvrocks /var/lib/kvrocks
VOLUME /var/lib/kvrocks
COPY server /bin/kvrocks
HEALTHCHECK --interval=1s --retries=1 CMD exit 1
COPY image.conf /var/lib/kvrocks/kvrocks.conf
USER kvrocks
EXPOSE 6666
ENTRYPOINT ["kvrocks", "-c", "/var/lib/kvrocks/kvrocks.conf", "--dir", "/var/lib/kvrocks", "--pidfile", "/var/run/kvrocks/kvrocks.pid", "--bind", "0.0.0.0"]
"#;

/// As `apache/kvrocks-controller` is: a relative entry point, its arguments as the command, and a volume.
const CONTROLLER: &str = r#"
FROM debian:bookworm-slim
ADD guest.tar /
WORKDIR /kvctl
COPY server ./bin/kvctl-server
VOLUME /var/lib/kvctl
COPY image.conf /var/lib/kvctl/config.yaml
EXPOSE 9379
ENTRYPOINT ["./bin/kvctl-server"]
CMD ["-c", "/var/lib/kvctl/config.yaml"]
"#;

/// One executable and what it loads: no shell, no tools, no names of users.
const BARE: &str = r#"
FROM scratch
ADD guest.tar /
ADD folders.tar /
VOLUME /var/lib/kvrocks
USER 4711:4711
ENTRYPOINT [COMMAND, "serve", "kvrocks", "-c", "/var/lib/kvrocks/kvrocks.conf", "--dir", "/var/lib/kvrocks"]
"#;

/// Nobody would find a node at this port.
const IMAGE_CONF: &str = "port 7777\ncluster-enabled no\n";

/// An image that is removed at the end.
pub struct Image {
    pub tag: String,
    folder: std::path::PathBuf,
}

impl Image {
    /// Builds one with our executable in it as a guest; `SERVER` is how it is run.
    pub async fn build(name: &str, run: &RunId, dockerfile: &str, script: &str) -> Image {
        let guest = Supervisor::pack(Path::new(EXECUTABLE)).await.expect("packed");
        let words = guest.command.iter().take_while(|word| *word != "supervise");
        let words: Vec<String> = words.cloned().collect();
        let folder = std::env::temp_dir().join(format!("stormglass-image-{name}-{run}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        let dockerfile = dockerfile.replace("COMMAND", &quoted.join(", "));
        for (file, content) in [
            ("guest.tar", guest.files.as_ref()),
            ("folders.tar", &folders()),
            ("image.conf", IMAGE_CONF.as_bytes()),
            ("server", script.replace("SERVER", &words.join(" ")).as_bytes()),
            ("Dockerfile", dockerfile.as_bytes()),
        ] {
            std::fs::write(folder.join(file), content).expect("written");
        }
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.join("server"), executable).expect("set");
        let image = Image { tag: format!("stormglass-test/{name}:{run}"), folder };
        let built = Command::new("docker")
            .args(["build", "--quiet", "--tag", &image.tag])
            .arg(&image.folder)
            .env("DOCKER_BUILDKIT", "0")
            .output()
            .expect("docker's own client");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        image
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let removed = Command::new("docker").args(["image", "rm", &self.tag]).output();
        let _ = std::fs::remove_dir_all(&self.folder);
        if let Ok(removed) = removed
            && !removed.status.success()
            && !std::thread::panicking()
        {
            panic!("{}", String::from_utf8_lossy(&removed.stderr));
        }
    }
}

/// The folder for data, which an image from nothing must bring.
fn folders() -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for folder in ["var/", "var/lib/", "var/lib/kvrocks/", "tmp/"] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Directory);
        header.set_mode(0o755);
        header.set_uid(4711);
        header.set_gid(4711);
        header.set_size(0);
        tar.append_data(&mut header, folder, std::io::empty()).expect("in memory");
    }
    tar.into_inner().expect("in memory")
}

async fn kvrocks_image(run: &RunId) -> Image {
    // $2 is the configuration, $4 the folder; the rest is what only the real one takes.
    let script = "#!/bin/sh\nexec SERVER serve kvrocks --config \"$2\" --dir \"$4\"\n";
    Image::build("kvrocks", run, KVROCKS, script).await
}

async fn controller_image(run: &RunId) -> Image {
    let script = "#!/bin/sh\nexec SERVER serve controller --config \"$2\"\n";
    Image::build("controller", run, CONTROLLER, script).await
}

async fn works(cluster: &DockerCluster, crash: bool) {
    form(cluster).await;
    settled(cluster).await;
    must_be(resp(cluster, kvrocks(1), &["SET", &own_key(1), "1"]).await, &Value::ok());
    let speed = resp(cluster, kvrocks(1), &["CONFIG", "GET", "migrate-speed"]).await;
    must_be(speed, &Value::Array(vec![Value::bulk("migrate-speed"), Value::bulk("77")]));
    for node in [kvrocks(1), controller(1)] {
        let action = if crash { Action::Crash { node } } else { Action::Kill { node } };
        apply(cluster, &action).await;
        if let Some(undo) = action.undo() {
            apply(cluster, &undo).await;
        }
        let pause = Action::Pause { node };
        apply(cluster, &pause).await;
        apply(cluster, &pause.undo().expect("an inverse")).await;
    }
    settled(cluster).await;
    must_be(resp(cluster, kvrocks(1), &["GET", &own_key(1)]).await, &Value::bulk("1"));
    assert!(cluster.images().iter().all(|image| !image.is_reference()));
}

#[test]
fn images_laid_out_as_the_official_ones_run_with_our_configuration() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let (nodes, controllers) =
            tokio::join!(kvrocks_image(&scratch.run), controller_image(&scratch.run));
        for supervised in [false, true] {
            let mut spec = seven(&scratch);
            spec.images = [("kvrocks", &nodes.tag), ("controller", &controllers.tag)]
                .map(|(name, tag)| (name.to_owned(), tag.clone()))
                .into();
            spec.config
                .insert(Role::Kvrocks, [("migrate-speed".to_owned(), "77".to_owned())].into());
            spec.needs.supervised = supervised;
            let cluster = scratch.up_by(&spec).await;
            works(&cluster, supervised).await;
            scratch.down(cluster).await;
        }
    });
}

#[test]
fn an_image_of_nothing_but_an_executable_runs() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let image = Image::build("bare", &scratch.run, BARE, "").await;
        for supervised in [false, true] {
            let mut spec = scratch.spec_of(&[(Role::Kvrocks, 2)]);
            spec.images.insert("kvrocks".to_owned(), image.tag.clone());
            spec.needs.supervised = supervised;
            let cluster = scratch.up_by(&spec).await;
            must_be(resp(&cluster, kvrocks(2), &["PING"]).await, &Value::Simple("PONG".to_owned()));
            let node = kvrocks(1);
            apply(&cluster, &Action::Crash { node }).await;
            assert!(cluster.view().await.is_healthy());
            scratch.down(cluster).await;
        }
    });
}
