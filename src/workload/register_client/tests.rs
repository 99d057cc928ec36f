//! The client against a session whose replies are scripted, request by request.

mod scripted;

use std::cell::Cell;
use std::future::ready;

use expect_test::{Expect, expect};
use futures::FutureExt;
use futures::executor::block_on;

use super::*;
use CoordinationError as E;
use scripted::Reply::{Data, Done, Error, Silence};
use scripted::{Reply, Scripted, scripted};

/// A client whose sessions all share the script. Calls that get no answer are abandoned.
fn perform_all(mode: ReadMode, calls: &[Call], session: &Scripted) -> Vec<Option<Outcome>> {
    let connect = || {
        session.requests.borrow_mut().push("connect".into());
        session.state.set(SessionEvent::Connected);
        ready(Ok::<_, E>(session.clone()))
    };
    let mut client = RegisterClient::new(connect, mode, "3");
    let mut outcomes = Vec::new();
    for call in calls {
        let outcome = client.invoke(call).now_or_never().map(|completion| completion.outcome);
        session.requests.borrow_mut().push(format!("=> {outcome:?}"));
        outcomes.push(outcome);
    }
    assert!(session.script.borrow().is_empty(), "replies are left");
    outcomes
}

/// Performs the calls with one client and notes sessions opened, requests and outcomes.
fn perform(mode: ReadMode, calls: &[Call], script: Vec<Reply>, expected: Expect) {
    let session = scripted(script);
    perform_all(mode, calls, &session);
    let noted = session.requests.borrow().join("\n").replace(ROOT, "").replace("=> Some", "=> ");
    expected.assert_eq(&(noted + "\n"));
}

const READ: Call = Call::Read { key: 7 };
const WRITE: Call = Call::Write { key: 7, value: 12 };
const CAS: Call = Call::Cas { key: 7, from: 12, to: 13 };

#[test]
fn local_reads_just_get() {
    let script = vec![Data("12", 4), Error(E::NoNode), Data("zwölf", 4)];
    perform(
        ReadMode::Local,
        &[READ, READ, READ],
        script,
        expect![[r#"
        connect
        get /r7
        => (Ok(Int(12)))
        get /r7
        => (Ok(Nil))
        get /r7
        => (Ok(Json(String("zwölf"))))
    "#]],
    );
}

#[test]
fn sync_reads_sync_before() {
    let script = vec![Done, Data("12", 4), Error(E::ConnectionLoss)];
    perform(
        ReadMode::Sync,
        &[READ, READ],
        script,
        expect![[r#"
        connect
        sync /r7
        get /r7
        => (Ok(Int(12)))
        sync /r7
        => (Fail("sync: connection loss"))
    "#]],
    );
}

#[test]
fn barrier_reads_write_the_scratch_znode_before() {
    let script = vec![Done, Data("12", 4)];
    perform(
        ReadMode::Barrier,
        &[READ],
        script,
        expect![[r#"
        connect
        set /scratch-3 "" None
        get /r7
        => (Ok(Int(12)))
    "#]],
    );
    let first_ever = vec![
        Error(E::NoNode),
        Error(E::NoNode),
        Error(E::NodeExists),
        Error(E::NoNode),
        Done,
        Error(E::NoNode),
    ];
    perform(
        ReadMode::Barrier,
        &[READ],
        first_ever,
        expect![[r#"
        connect
        set /scratch-3 "" None
        create /scratch-3 ""
        create  ""
        set /scratch-3 "" None
        create /scratch-3 ""
        get /r7
        => (Ok(Nil))
    "#]],
    );
}

#[test]
fn a_failed_read_has_surely_no_effect() {
    perform(
        ReadMode::Local,
        &[READ],
        vec![Error(E::ConnectionLoss)],
        expect![[r#"
        connect
        get /r7
        => (Fail("get: connection loss"))
    "#]],
    );
    perform(
        ReadMode::Barrier,
        &[READ],
        vec![Error(E::ConnectionLoss)],
        expect![[r#"
        connect
        set /scratch-3 "" None
        => (Fail("barrier: set: connection loss"))
    "#]],
    );
    let expired = vec![Done, Error(E::SessionExpired { sent: true })];
    perform(
        ReadMode::Barrier,
        &[READ],
        expired,
        expect![[r#"
        connect
        set /scratch-3 "" None
        get /r7
        => (Fail("get: session expired"))
    "#]],
    );
}

#[test]
fn writes_set_and_create_where_there_is_none() {
    perform(
        ReadMode::Local,
        &[WRITE],
        vec![Done],
        expect![[r#"
        connect
        set /r7 "12" None
        => (Ok(Int(12)))
    "#]],
    );
    perform(
        ReadMode::Local,
        &[WRITE],
        vec![Error(E::NoNode), Done],
        expect![[r#"
        connect
        set /r7 "12" None
        create /r7 "12"
        => (Ok(Int(12)))
    "#]],
    );
    let raced = vec![Error(E::NoNode), Error(E::NodeExists), Done];
    perform(
        ReadMode::Local,
        &[WRITE],
        raced,
        expect![[r#"
        connect
        set /r7 "12" None
        create /r7 "12"
        set /r7 "12" None
        => (Ok(Int(12)))
    "#]],
    );
    let rootless = vec![Error(E::NoNode), Error(E::NoNode), Done, Error(E::NoNode), Done];
    perform(
        ReadMode::Local,
        &[WRITE],
        rootless,
        expect![[r#"
        connect
        set /r7 "12" None
        create /r7 "12"
        create  ""
        set /r7 "12" None
        create /r7 "12"
        => (Ok(Int(12)))
    "#]],
    );
}

#[test]
fn a_write_is_unknown_only_if_its_own_request_may_have_been_performed() {
    for error in [E::ConnectionLoss, E::Other("odd".into()), E::SessionExpired { sent: true }] {
        perform_write(vec![Error(error.clone())], "Info");
        perform_write(vec![Error(E::NoNode), Error(error)], "Info");
    }
    for error in [E::SessionExpired { sent: false }, E::Refused("no auth".into())] {
        perform_write(vec![Error(error.clone())], "Fail");
        perform_write(vec![Error(E::NoNode), Error(error)], "Fail");
    }
    // The root's fate is unknown, the write's is not.
    perform_write(vec![Error(E::NoNode), Error(E::NoNode), Error(E::ConnectionLoss)], "Fail");
    let refusals = (0..MOST_REFUSALS).flat_map(|_| [Error(E::NoNode), Error(E::NodeExists)]);
    perform_write(refusals.collect(), "Fail");
}

fn perform_write(script: Vec<Reply>, expected: &str) {
    let session = scripted(script);
    let outcomes = perform_all(ReadMode::Local, &[WRITE], &session);
    let outcome = format!("{:?}", outcomes[0]);
    assert!(outcome.contains(expected), "{outcome} after {:?}", session.requests.borrow());
}

#[test]
fn compare_and_set_goes_by_version() {
    perform(
        ReadMode::Local,
        &[CAS],
        vec![Data("12", 4), Done],
        expect![[r#"
        connect
        get /r7
        set /r7 "13" Some(4)
        => (Ok(Pair(12, 13)))
    "#]],
    );
}

#[test]
fn compare_and_set_fails_where_it_surely_did_nothing() {
    perform(
        ReadMode::Local,
        &[CAS],
        vec![Error(E::NoNode)],
        expect![[r#"
        connect
        get /r7
        => (Fail("expected 12, found nothing"))
    "#]],
    );
    perform(
        ReadMode::Local,
        &[CAS],
        vec![Data("11", 4)],
        expect![[r#"
        connect
        get /r7
        => (Fail("expected 12, found 11"))
    "#]],
    );
    let raced = vec![Data("12", 4), Error(E::BadVersion)];
    perform(
        ReadMode::Local,
        &[CAS],
        raced,
        expect![[r#"
        connect
        get /r7
        set /r7 "13" Some(4)
        => (Fail("set: bad version"))
    "#]],
    );
    perform(
        ReadMode::Local,
        &[CAS],
        vec![Error(E::ConnectionLoss)],
        expect![[r#"
        connect
        get /r7
        => (Fail("get: connection loss"))
    "#]],
    );
}

#[test]
fn compare_and_set_is_unknown_where_its_set_may_have_happened() {
    let lost = vec![Data("12", 4), Error(E::ConnectionLoss)];
    perform(
        ReadMode::Local,
        &[CAS],
        lost,
        expect![[r#"
        connect
        get /r7
        set /r7 "13" Some(4)
        => (Info("set: connection loss"))
    "#]],
    );
}

#[test]
fn an_ended_session_is_replaced_for_the_next_operation_only() {
    let script = vec![Error(E::SessionExpired { sent: true }), Data("12", 1), Done];
    perform(
        ReadMode::Local,
        &[WRITE, READ, WRITE],
        script,
        expect![[r#"
        connect
        set /r7 "12" None
        => (Info("set: session expired"))
        connect
        get /r7
        => (Ok(Int(12)))
        set /r7 "12" None
        => (Ok(Int(12)))
    "#]],
    );
    let script = vec![Error(E::ConnectionLoss), Data("12", 1)];
    perform(
        ReadMode::Local,
        &[WRITE, READ],
        script,
        expect![[r#"
        connect
        set /r7 "12" None
        => (Info("set: connection loss"))
        get /r7
        => (Ok(Int(12)))
    "#]],
    );
}

#[test]
fn a_session_that_expired_between_operations_is_not_used() {
    let session = scripted(vec![Done, Done]);
    let opened = Cell::new(0);
    let connect = || {
        opened.set(opened.get() + 1);
        session.state.set(SessionEvent::Connected);
        ready(Ok::<_, E>(session.clone()))
    };
    let mut client = RegisterClient::new(connect, ReadMode::Local, "3");
    block_on(client.invoke(&WRITE));
    session.state.set(SessionEvent::Expired);
    assert_eq!(block_on(client.invoke(&WRITE)).outcome, Outcome::Ok(Value::Int(12)));
    assert_eq!(opened.get(), 2);
}

#[test]
fn without_a_session_nothing_is_sent() {
    let connect = || ready(Err::<Scripted, _>(E::NotConnected("connection refused".into())));
    let mut client = RegisterClient::new(connect, ReadMode::Barrier, "3");
    for call in [READ, WRITE, CAS] {
        let expected = "no session: not connected: connection refused";
        assert_eq!(block_on(client.invoke(&call)).outcome, Outcome::Fail(expected.into()));
    }
}

#[test]
fn an_abandoned_operation_takes_its_session_with_it() {
    perform(
        ReadMode::Local,
        &[WRITE, READ],
        vec![Silence, Data("12", 1)],
        expect![[r#"
        connect
        set /r7 "12" None
        => None
        connect
        get /r7
        => (Ok(Int(12)))
    "#]],
    );
}
