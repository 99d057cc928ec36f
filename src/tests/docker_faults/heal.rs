//! What a killed orchestrator leaves in force, and `heal`.

use std::collections::HashMap;
use std::process::Command;
use std::time::Duration;

use bollard::models::ContainerSummaryStateEnum;
use bollard::query_parameters::{
    ListContainersOptionsBuilder, RemoveContainerOptionsBuilder, StopContainerOptionsBuilder,
};
use stormglass::cluster::{Action, FaultId};
use stormglass::docker::{Engine, NODE, ROLE, RUN, RunId, remove};
use stormglass::store::{LEDGER, Ledger, Store};

use super::harness::{READY, Scratch, VICTIM, victim, with_engine};
use super::{PATIENCE, apply, node};
use crate::binary::{Folder, Said};
use crate::docker_cluster::around;

const ORCHESTRATOR: &str = "docker_faults::heal::an_orchestrator_with_a_ledger";

/// Not a test by itself: the orchestrator that the others kill.
#[test]
fn an_orchestrator_with_a_ledger() {
    let Ok(run) = std::env::var(VICTIM) else { return };
    with_engine(|engine| async move {
        let scratch = Scratch::of(engine, run.parse().expect("a run id"));
        let cluster = scratch.up(3).await;
        let links = around(&cluster, &node(1));
        let faults = [
            Action::Cut { fault: FaultId(1), links, manner: Default::default() },
            Action::Pause { node: node(2) },
            Action::Kill { node: node(3) },
        ];
        let mut ledger = Ledger::create(&scratch.results().join(LEDGER)).expect("a ledger");
        for (number, action) in (1..).zip(faults) {
            ledger.begin(FaultId(number), 0, std::slice::from_ref(&action)).expect("written");
            apply(&cluster, &action).await;
        }
        println!("\n{READY}");
        std::future::pending().await
    });
}

/// A run with a cut, a frozen and a dead server, whose orchestrator is killed.
fn wounded(engine: &Engine) -> Scratch {
    let scratch = Scratch::new(engine.clone());
    let mut victim = victim(ORCHESTRATOR, &scratch.run);
    victim.kill().and_then(|()| victim.wait()).expect("killed");
    scratch
}

fn heal(run: &RunId) -> Said {
    Folder::new().run(&format!("heal --run {run}"))
}

/// Node and state of each service's container.
async fn services(engine: &Engine, run: &RunId) -> Vec<(String, ContainerSummaryStateEnum)> {
    let filters = HashMap::from([("label".to_owned(), vec![format!("{RUN}={run}")])]);
    let options = ListContainersOptionsBuilder::new().all(true).filters(&filters).build();
    let found = engine.api().list_containers(Some(options)).await.expect("listed");
    let mut services: Vec<_> = found
        .into_iter()
        .filter_map(|container| {
            let labels = container.labels?;
            let is_service = labels.get(ROLE)? == "zookeeper";
            is_service.then(|| (labels[NODE].clone(), container.state.expect("a state")))
        })
        .collect();
    services.sort_by(|one, other| one.0.cmp(&other.0));
    services
}

async fn states(engine: &Engine, run: &RunId) -> Vec<ContainerSummaryStateEnum> {
    services(engine, run).await.into_iter().map(|(_, state)| state).collect()
}

#[test]
fn the_faults_of_a_killed_run_are_healed_and_its_cluster_goes_on() {
    with_engine(|engine| async move {
        use ContainerSummaryStateEnum::{EXITED, PAUSED, RUNNING};
        let scratch = wounded(&engine);
        let run = &scratch.run;
        assert_eq!(states(&engine, run).await, [RUNNING, PAUSED, EXITED]);
        await_no_agent(&engine, run).await;
        let has_table = leave_table(run);

        let said = heal(run);
        println!("{}", said.out);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(states(&engine, run).await, [RUNNING, RUNNING, RUNNING]);
        for line in [
            "f1, f2, f3 open in its ledger",
            "healed resume zookeeper2 of f2: was frozen, thawed",
            "healed start zookeeper3 of f3: was down, started",
            "ok     links: 12 are open",
            "ok     zookeeper3: runs with pid ",
        ] {
            assert!(said.out.contains(line), "no `{line}` in {}", said.out);
        }
        assert_eq!(said.out.contains("healed rules of f9"), has_table, "{}", said.out);
        let reading = Store::open(scratch.results()).and_then(|store| store.read_ledger());
        assert_eq!(reading.expect("a ledger").open.len(), 0, "all is marked as done");

        let again = heal(run);
        assert_eq!(again.code, Some(0), "{again:?}");
        assert!(again.out.contains("nothing open in its ledger"), "{}", again.out);
        assert!(!again.out.contains("healed"), "there is nothing left to heal: {}", again.out);
        remove(&engine, run).await.expect("removed");
        let gone = heal(run);
        assert_eq!((gone.code, gone.err.contains("there is no run")), (Some(64), true), "{gone:?}");
    });
}

/// An agent that loses its orchestrator heals all of the run, and would do so with what comes here.
async fn await_no_agent(engine: &Engine, run: &RunId) {
    let label = format!("{ROLE}=agent");
    let filters = HashMap::from([("label".to_owned(), vec![format!("{RUN}={run}"), label])]);
    let gone = async {
        loop {
            let options = ListContainersOptionsBuilder::new().all(true).filters(&filters).build();
            let found = engine.api().list_containers(Some(options)).await.expect("listed");
            if found.is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the agent ends");
}

/// Leaves a table that looks like one of an agent that could not remove it; false without the tool.
fn leave_table(run: &RunId) -> bool {
    let rules = format!(
        "add table bridge sg_{run}_f9; add chain bridge sg_{run}_f9 forward \
         {{ type filter hook forward priority -300; }}"
    );
    Command::new("nft").arg(rules).status().is_ok_and(|status| status.success())
}

#[test]
fn without_a_ledger_all_is_found_by_looking() {
    with_engine(|engine| async move {
        let scratch = wounded(&engine);
        std::fs::remove_dir_all(scratch.results()).expect("our own folder");
        // As if somebody had ended it beside us.
        let options = StopContainerOptionsBuilder::new().t(0).build();
        let hold = format!("sg-{}-{}-hold", scratch.run, node(1));
        engine.api().stop_container(&hold, Some(options)).await.expect("stopped");
        let service = format!("sg-{}-{}", scratch.run, node(1));
        let options = StopContainerOptionsBuilder::new().t(0).build();
        engine.api().stop_container(&service, Some(options)).await.expect("stopped");
        let said = heal(&scratch.run);
        println!("{}", said.out);
        assert_eq!(said.code, Some(0), "{said:?}");
        for line in [
            "no ledger (",
            "healed hold of zookeeper1: had ended, started",
            "healed zookeeper1: was down, started",
            "healed zookeeper2: was frozen, thawed",
            "healed zookeeper3: was down, started",
        ] {
            assert!(said.out.contains(line), "no `{line}` in {}", said.out);
        }
        remove(&engine, &scratch.run).await.expect("removed");
    });
}

#[test]
fn what_cannot_be_healed_is_told_and_stays_open() {
    with_engine(|engine| async move {
        let scratch = wounded(&engine);
        let options = RemoveContainerOptionsBuilder::new().force(true).v(true).build();
        let lost = format!("sg-{}-{}", scratch.run, node(3));
        engine.api().remove_container(&lost, Some(options)).await.expect("removed");
        let said = heal(&scratch.run);
        assert_eq!(said.code, Some(3), "{said:?}");
        let line = "ILL    start zookeeper3 of f3: the node has no containers";
        assert!(said.out.contains(line), "{}", said.out);
        let reading = Store::open(scratch.results()).and_then(|store| store.read_ledger());
        assert_eq!(reading.expect("a ledger").open.len(), 3);
        remove(&engine, &scratch.run).await.expect("removed");
    });
}

#[test]
fn a_run_that_goes_on_is_left_alone() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(1).await;
        apply(&cluster, &Action::Pause { node: node(1) }).await;
        let said = heal(&scratch.run);
        assert_eq!(said.code, Some(64), "{said:?}");
        assert!(said.out.contains("its orchestrator is alive"), "{}", said.out);
        apply(&cluster, &Action::Resume { node: node(1) }).await;
        scratch.down(cluster).await;
    });
}
