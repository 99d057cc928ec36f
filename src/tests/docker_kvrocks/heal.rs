//! What a killed orchestrator leaves of a kvrocks cluster: healed, and removed.

use stormglass::cluster::{Action, CLIENTS, Clock, FaultId, Link, Manner, Refusal};
use stormglass::docker::{Which, remove, sweep};
use stormglass::store::{LEDGER, Ledger};

use super::desk::{apply, controller, form, kvrocks, settled, seven};
use crate::binary::Folder;
use crate::docker_cluster::harness::{READY, Scratch, VICTIM, left_of, victim, with_engine};

const ORCHESTRATOR: &str = "docker_kvrocks::heal::an_orchestrator_of_kvrocks";

/// Not a test by itself: the orchestrator that the other one kills.
#[test]
fn an_orchestrator_of_kvrocks() {
    let Ok(run) = std::env::var(VICTIM) else { return };
    with_engine(|engine| async move {
        let scratch = Scratch::of(engine, run.parse().expect("a run id"));
        let cluster = scratch.up_by(&seven(&scratch)).await;
        form(&cluster).await;
        settled(&cluster).await;
        let links = [Link { from: CLIENTS.into(), to: kvrocks(3) }].into();
        let manner = Manner { refusal: Refusal::Reset, port: None };
        let faults = [
            Action::Cut { fault: FaultId(1), links, manner },
            Action::Pause { node: controller(2) },
            Action::Kill { node: kvrocks(1) },
            Action::Skew { node: controller(1), clock: Clock::Wall, by_ns: 5_000_000_000 },
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

#[test]
fn the_faults_of_a_killed_run_are_healed_on_services_of_every_role() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine.clone());
        let mut victim = victim(ORCHESTRATOR, &scratch.run);
        victim.kill().and_then(|()| victim.wait()).expect("killed");
        let said = Folder::new().run(&format!("heal --run {}", scratch.run));
        println!("{}", said.out);
        assert_eq!(said.code, Some(0), "{said:?}");
        for line in [
            "healed resume controller2 of f2: was frozen, thawed",
            "healed start kvrocks1 of f3: was down, started",
            "ok     links: 56 are open",
            "ok     zookeeper1: runs with pid ",
            "ok     controller1: runs with pid ",
            "ok     kvrocks1: runs with pid ",
            "ok     kvrocks3: runs with pid ",
        ] {
            assert!(said.out.contains(line), "no `{line}` in {}", said.out);
        }
        // The agent puts the clock right when it loses its orchestrator, else the healer does.
        assert!(said.out.contains("clocks of controller1: "), "{}", said.out);
        let again = Folder::new().run(&format!("heal --run {}", scratch.run));
        assert!(again.code == Some(0) && !again.out.contains("healed"), "{}", again.out);

        let swept = sweep(&engine, &Which::One(scratch.run.clone())).await.expect("swept");
        assert_eq!((swept.removed.len(), swept.spared.len()), (1, 0));
        assert_eq!(left_of(&engine, &scratch.run).await, Vec::<String>::new());
        remove(&engine, &scratch.run).await.expect("nothing is left to remove");
    });
}
