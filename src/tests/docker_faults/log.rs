//! Lines that are looked out for.

use stormglass::client::zookeeper::ask;
use stormglass::cluster::{
    Action, Cluster, Concerning, Lookout, LookoutId, Needs, Observed, Sight,
};

use super::harness::{Scratch, with_engine};
use super::{PATIENCE, apply, node};

const ASKED: LookoutId = LookoutId(1);
const STARTED: LookoutId = LookoutId(2);
const ELSEWHERE: LookoutId = LookoutId(3);
const INSTEAD: LookoutId = LookoutId(4);

fn lookout(id: LookoutId, of: usize, pattern: &str) -> Lookout {
    let nodes = [node(of)].into();
    Lookout { id, sight: Sight::Log { nodes, pattern: pattern.to_owned() } }
}

fn needs(lookouts: Vec<Lookout>) -> Needs {
    Needs { lookouts, ..Needs::default() }
}

#[test]
fn a_line_is_seen_as_it_comes_and_none_of_before() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(3).await;
        let started = "Reading configuration from: /conf/zoo.cfg";
        // Written by every server when it came up, and again below by the first alone.
        let lookouts = vec![
            lookout(ASKED, 1, "Processing (ruok|isro) command"),
            lookout(STARTED, 1, started),
            lookout(ELSEWHERE, 2, started),
        ];
        cluster.prepare(&needs(lookouts)).await.expect("prepared");
        let address = cluster.topology().node("zookeeper1").expect("there").address;
        let said = ask((address, 2181).into(), "ruok", PATIENCE).await.expect("an answer");
        assert_eq!(said, "imok");
        let seen = next(&cluster).await;
        assert_eq!((seen.concerning, seen.node), (Concerning::Lookout(ASKED), node(1)), "{seen:?}");
        assert!(seen.what.contains("Processing ruok command"), "{seen:?}");

        let kill = Action::Kill { node: node(1) };
        apply(&cluster, &kill).await;
        apply(&cluster, &kill.undo().expect("an inverse")).await;
        let seen = loop {
            let seen = next(&cluster).await;
            // To start a server is to ask it until it answers.
            if seen.concerning != Concerning::Lookout(ASKED) {
                break seen;
            }
        };
        assert_eq!(seen.concerning, Concerning::Lookout(STARTED), "{seen:?}");
        println!("a line is told {} us after it was written", seen.age_us);

        // What is looked out for is replaced, not added to.
        cluster.prepare(&needs(vec![lookout(INSTEAD, 1, "ruok")])).await.expect("prepared");
        ask((address, 2181).into(), "ruok", PATIENCE).await.expect("an answer");
        while next(&cluster).await.concerning != Concerning::Lookout(INSTEAD) {}
        ask((address, 2181).into(), "ruok", PATIENCE).await.expect("an answer");
        assert_eq!(next(&cluster).await.concerning, Concerning::Lookout(INSTEAD));
        scratch.down(cluster).await;
    });
}

async fn next(cluster: &impl Cluster) -> Observed {
    tokio::time::timeout(PATIENCE, cluster.observed()).await.expect("something seen")
}
