//! Images and settings that cannot work: each a clear error, soon, and nothing left behind.

use std::time::Duration;

use stormglass::cluster::Role;
use stormglass::docker::{ClusterSpec, DockerCluster, UpError};

use super::Scratch;
use super::official::Image;
use crate::docker_cluster::harness::{left_of, with_engine};

async fn refused(
    scratch: &Scratch,
    engine: &stormglass::docker::Engine,
    spec: ClusterSpec,
) -> UpError {
    let failed = DockerCluster::up(engine, &spec, &|line| println!("{line}")).await;
    let error = failed.err().expect("it cannot come up");
    println!("{error}");
    assert_eq!(left_of(engine, &scratch.run).await, Vec::<String>::new());
    error
}

fn of_role(scratch: &Scratch, role: Role, image: &str) -> ClusterSpec {
    let mut spec = scratch.spec_of(&[(Role::Zookeeper, 1), (role, 1)]);
    spec.images.insert(role.name().to_owned(), image.to_owned());
    spec.ready_within = Duration::from_secs(6);
    spec
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_started() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine.clone());
        let mut variant = of_role(&scratch, Role::Kvrocks, "debian:bookworm-slim");
        variant.variants.insert("kvrocks".to_owned(), "asking-only".to_owned());
        let mut unknown = of_role(&scratch, Role::Kvrocks, "reference");
        unknown.variants.insert("kvrocks".to_owned(), "asking".to_owned());
        let mut port = of_role(&scratch, Role::Kvrocks, "reference");
        port.config.insert(Role::Kvrocks, [("port".to_owned(), "7".to_owned())].into());
        let mut alone = of_role(&scratch, Role::Controller, "reference");
        alone.services.remove(&Role::Zookeeper);
        for (spec, words) in [
            (variant, "kvrocks cannot run image `debian:bookworm-slim` as variant `asking-only`"),
            (unknown, "kvrocks has no variant `asking`; it has as-shipped, asking-only"),
            (port, "config of kvrocks: port is set by the cluster itself"),
            (alone, "controllers keep their topology in ZooKeeper, and there is none"),
            (of_role(&scratch, Role::Zookeeper, "reference"), "no reference server for zookeeper"),
        ] {
            let error = refused(&scratch, &engine, spec).await;
            assert!(error.is_usage() && error.to_string().contains(words), "{error}");
        }
        let missing = of_role(&scratch, Role::Kvrocks, "stormglass-test/none:0");
        let error = refused(&scratch, &engine, missing).await;
        assert!(error.to_string().contains("is not on the engine and cannot be pulled"), "{error}");
    });
}

const SHELL: &str = "FROM debian:bookworm-slim\nENTRYPOINT";

/// A server of HTTP that answers everything with 500.
const FAILING: &str = r#"["perl", "-MIO::Socket::INET", "-e", "$s = IO::Socket::INET->new(Listen => 9, LocalPort => 9379); while ($c = $s->accept) { sysread $c, $b, 999; print $c \"HTTP/1.1 500 x\\r\\nContent-Length: 6\\r\\n\\r\\nbroken\"; close $c }"]"#;

/// A server that takes connections at another address than the one that it was configured with.
fn stray(at: &str) -> String {
    let code = format!(
        "$s = IO::Socket::INET->new(Listen => 9, Proto => 'tcp', {at}); print qq(up\\n); $| = 1; sleep 99"
    );
    format!("{SHELL} [\"perl\", \"-MIO::Socket::INET\", \"-e\", \"{code}\"]\n")
}

#[test]
fn a_service_that_says_nothing_or_listens_elsewhere_is_told_from_one_that_is_slow() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine.clone());
        let run = &scratch.run;
        let mute = of_role(&scratch, Role::Kvrocks, "debian:bookworm-slim");
        let text = refused(&scratch, &engine, mute).await.to_string();
        assert!(text.contains("kvrocks1 ended before it served, with exit code 0"), "{text}");
        assert!(text.contains("as that of apache/kvrocks:"), "{text}");
        assert!(text.ends_with("It wrote nothing."), "{text}");

        let port = Image::build("port", run, &stray("LocalPort => 7777"), "").await;
        let local = stray("LocalAddr => '127.0.0.1', LocalPort => 6666");
        let local = Image::build("local", run, &local, "").await;
        for (image, at) in [(&port, "0.0.0.0:7777"), (&local, "127.0.0.1:6666")] {
            let mut spec = of_role(&scratch, Role::Kvrocks, &image.tag);
            // It need not be waited for so long.
            spec.ready_within = Duration::from_secs(600);
            let text = refused(&scratch, &engine, spec).await.to_string();
            let told = format!("kvrocks1 runs {}, which listens at {at} and not at ", image.tag);
            assert!(text.contains(&told) && text.contains(":6666, where"), "{text}");
            assert!(text.contains("as apache/kvrocks:"), "{text}");
        }
    });
}

#[test]
fn services_that_end_hang_or_fail_are_named_with_what_they_said() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine.clone());
        let run = &scratch.run;
        let ends = Image::build(
            "ends",
            run,
            &format!("{SHELL} [\"/bin/sh\", \"-c\", \"echo 'no such key: magic'; exit 3\"]\n"),
            "",
        )
        .await;
        let hangs =
            Image::build("hangs", run, &format!("{SHELL} [\"sleep\", \"600\"]\n"), "").await;
        let fails = Image::build("fails", run, &format!("{SHELL} {FAILING}\n"), "").await;
        let absent =
            Image::build("absent", run, &format!("{SHELL} [\"/bin/kvrocks\"]\n"), "").await;

        let error = refused(&scratch, &engine, of_role(&scratch, Role::Kvrocks, &ends.tag)).await;
        let text = error.to_string();
        assert!(text.contains("kvrocks1 ended before it served, with exit code 3"), "{text}");
        assert!(text.contains("no such key: magic") && text.contains(&ends.tag), "{text}");

        let error =
            refused(&scratch, &engine, of_role(&scratch, Role::Controller, &hangs.tag)).await;
        let text = error.to_string();
        assert!(text.contains("controller1: ") && text.contains(":9379"), "{text}");
        assert!(text.contains("refused") && text.contains("/nodes"), "{text}");

        let error =
            refused(&scratch, &engine, of_role(&scratch, Role::Controller, &fails.tag)).await;
        let text = error.to_string();
        assert!(text.contains("answers GET /api/v1/namespaces with 500: broken"), "{text}");

        let error = refused(&scratch, &engine, of_role(&scratch, Role::Kvrocks, &absent.tag)).await;
        let text = error.to_string();
        assert!(text.contains("kvrocks1") && text.contains("/bin/kvrocks"), "{text}");
    });
}
