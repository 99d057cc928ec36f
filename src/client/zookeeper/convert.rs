//! The client library's types and ours, one for one.

use zookeeper_client::{
    CreateMode as WireMode, EventType, MultiWriteResult, SessionState, Stat as WireStat,
    WatchedEvent,
};

use crate::cluster::{
    CoordinationError, CreateMode, MultiResult, SessionEvent, Stat, WatchEvent, WatchKind,
};

pub(super) fn wire_mode(mode: CreateMode) -> WireMode {
    match mode {
        CreateMode::Persistent => WireMode::Persistent,
        CreateMode::Ephemeral => WireMode::Ephemeral,
        CreateMode::PersistentSequential => WireMode::PersistentSequential,
        CreateMode::EphemeralSequential => WireMode::EphemeralSequential,
    }
}

pub(super) fn stat(wire: &WireStat) -> Stat {
    Stat {
        czxid: wire.czxid,
        mzxid: wire.mzxid,
        pzxid: wire.pzxid,
        version: wire.version,
        cversion: wire.cversion,
        ephemeral_owner: wire.ephemeral_owner,
        data_length: wire.data_length,
        num_children: wire.num_children,
    }
}

pub(super) fn session_event(state: SessionState) -> SessionEvent {
    match state {
        SessionState::SyncConnected | SessionState::ConnectedReadOnly => SessionEvent::Connected,
        SessionState::Disconnected => SessionEvent::Disconnected,
        SessionState::Expired => SessionEvent::Expired,
        SessionState::AuthFailed | SessionState::Closed => SessionEvent::Closed,
    }
}

pub(super) fn watch_event(event: &WatchedEvent, path: String) -> WatchEvent {
    let kind = match event.event_type {
        EventType::NodeCreated => WatchKind::Created,
        EventType::NodeDeleted => WatchKind::Deleted,
        EventType::NodeDataChanged => WatchKind::DataChanged,
        EventType::NodeChildrenChanged => WatchKind::ChildrenChanged,
        EventType::Session => WatchKind::SessionLost,
    };
    WatchEvent { kind, path }
}

pub(super) fn multi_result(
    result: MultiWriteResult,
) -> Result<MultiResult, (Option<usize>, CoordinationError)> {
    match result {
        MultiWriteResult::Check => Ok(MultiResult::Check),
        MultiWriteResult::Delete => Ok(MultiResult::Delete),
        MultiWriteResult::Create { path, .. } => Ok(MultiResult::Create { path }),
        MultiWriteResult::SetData { stat: wire } => Ok(MultiResult::Set { stat: stat(&wire) }),
        other => Err((None, CoordinationError::Other(format!("unknown result {other:?}")))),
    }
}
