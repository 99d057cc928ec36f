//! Requests: sent when they are made, answered in order.

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use stormglass::cluster::{Cluster, Coordination, CoordinationError, MultiOp};

use super::{Halt, Played, Player};
use crate::differential::script::{Request, Slot};
use crate::differential::trace::{Answer, Reaction, Record, Reply};

impl<C: Cluster> Player<'_, C> {
    pub(super) async fn certain(&mut self, slot: Slot, request: &Request) -> Played<Record> {
        if !request.is_write() {
            self.barrier(slot).await?;
        }
        let reply = self.submit(slot, request)?.await;
        let reply = self.calm(reply)?;
        if request.is_write() && never_sent(&reply) {
            self.barrier(slot).await?;
        }
        let fired = self.fired(slot)?;
        let tree = if request.is_write() { Some(self.look(slot).await?) } else { None };
        let by_follower = self.by_follower(slot)?;
        Ok(Record { reaction: Reaction::Replied { reply, by_follower }, fired, tree })
    }

    pub(super) async fn local(&mut self, slot: Slot, request: &Request) -> Played<Record> {
        let reply = self.submit(slot, request)?.await;
        let (reply, by_follower) = (self.calm(reply)?, self.by_follower(slot)?);
        Ok(Record { reaction: Reaction::Replied { reply, by_follower }, fired: vec![], tree: None })
    }

    pub(super) async fn chased(
        &mut self,
        (slot, request): (Slot, &Request),
        (reader, read): (Slot, &Request),
    ) -> Played<Record> {
        let reply = self.submit(slot, request)?.await;
        let read = self.submit(reader, read)?.await;
        let (reply, read) = (self.calm(reply)?, self.calm(read)?);
        if never_sent(&reply) {
            self.barrier(slot).await?;
        }
        let fired = self.fired(slot)?;
        let tree = Some(self.look(slot).await?);
        Ok(Record { reaction: Reaction::Chased { reply, read }, fired, tree })
    }

    pub(super) async fn burst(&mut self, slot: Slot, requests: &[Request]) -> Played<Record> {
        self.barrier(slot).await?;
        let asked: Played<Vec<_>> =
            requests.iter().map(|request| self.submit(slot, request)).collect();
        let mut replies = Vec::new();
        for reply in asked? {
            let reply = reply.await;
            replies.push(self.calm(reply)?);
        }
        let fired = self.barrier_for_all().await?;
        let tree = Some(self.look_everywhere().await?);
        Ok(Record { reaction: Reaction::Replies(replies), fired, tree })
    }

    fn by_follower(&self, slot: Slot) -> Played<bool> {
        let node = self.seat(slot)?.node;
        Ok(node != self.leader)
    }

    /// A reply in common words. Where nothing was done to a server, no connection may be lost.
    pub(super) fn calm(&self, reply: Reply) -> Played<Reply> {
        use CoordinationError::{ConnectionLoss, SessionExpired};
        match self.labels.reply(reply) {
            Err((_, error @ (ConnectionLoss | SessionExpired { .. }))) => {
                Err(Halt::Disturbed(error.to_string()))
            }
            reply => Ok(reply),
        }
    }

    pub(super) fn submit(
        &self,
        slot: Slot,
        request: &Request,
    ) -> Played<LocalBoxFuture<'static, Reply>> {
        let session = &self.seat(slot)?.session;
        let at = |place| self.labels.absolute(&self.path(place));
        Ok(match request {
            Request::Change(change) => submit_change(session, self.resolve(change)),
            Request::Multi(parts) => {
                let parts = parts.iter().map(|part| self.resolve(part)).collect();
                session.multi(parts).map(|done| done.map(Answer::Multi)).boxed_local()
            }
            Request::Get(place) => {
                reply(session.get(&at(place)), |(data, stat)| Answer::Data(data, stat))
            }
            Request::Exists(place) => reply(session.exists(&at(place)), Answer::Stat),
            Request::Children(place) => reply(session.children(&at(place)), Answer::Names),
            Request::Sync(place) => reply(session.sync(&at(place)), |()| Answer::Done),
        })
    }
}

/// Such a write (its path has no form, or it has no part) brings nothing up to date.
fn never_sent(reply: &Reply) -> bool {
    match reply {
        Err((_, CoordinationError::BadArguments(_))) => true,
        Ok(Answer::Multi(results)) => results.is_empty(),
        _ => false,
    }
}

fn submit_change(session: &impl Coordination, change: MultiOp) -> LocalBoxFuture<'static, Reply> {
    match change {
        MultiOp::Create { path, data, mode } => {
            reply(session.create(&path, &data, mode), Answer::Path)
        }
        MultiOp::Set { path, data, version } => {
            reply(session.set(&path, &data, version), Answer::Changed)
        }
        MultiOp::Delete { path, version } => {
            reply(session.delete(&path, version), |()| Answer::Done)
        }
        check @ MultiOp::Check { .. } => {
            session.multi(vec![check]).map(|done| done.map(Answer::Multi)).boxed_local()
        }
    }
}

fn reply<T: 'static>(
    asked: impl Future<Output = Result<T, CoordinationError>> + 'static,
    shape: impl FnOnce(T) -> Answer + 'static,
) -> LocalBoxFuture<'static, Reply> {
    asked.map(|done| done.map(shape).map_err(|error| (None, error))).boxed_local()
}
