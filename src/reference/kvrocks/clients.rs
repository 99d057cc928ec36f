//! Who is connected.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use bytes::Bytes;

use crate::reference::host::Running;

/// One connection, as `CLIENT LIST` tells of it.
#[derive(Debug)]
pub struct Client {
    pub address: SocketAddrV4,
    pub name: Option<Bytes>,
    pub last_command: String,
    /// It has begun an import.
    pub has_imported: bool,
    /// Dropped, it ends the connection. A connection that is just being made has none yet.
    pub task: Option<Running>,
}

/// All connections by number.
#[derive(Debug, Default)]
pub struct Clients {
    last: Cell<u64>,
    open: RefCell<BTreeMap<u64, Client>>,
}

impl Clients {
    pub fn count(&self) -> usize {
        self.open.borrow().len()
    }

    /// The number of a new connection.
    pub fn add(&self, address: SocketAddrV4) -> u64 {
        let id = self.last.get() + 1;
        self.last.set(id);
        let client = Client {
            address,
            name: None,
            last_command: String::new(),
            has_imported: false,
            task: None,
        };
        self.open.borrow_mut().insert(id, client);
        id
    }

    /// The connection's task, once it runs; one that has ended meanwhile is let go.
    pub fn set_task(&self, id: u64, task: Running) {
        self.with(id, |client| client.task = Some(task));
    }

    pub fn with(&self, id: u64, act: impl FnOnce(&mut Client)) {
        if let Some(client) = self.open.borrow_mut().get_mut(&id) {
            act(client);
        }
    }

    pub fn remove(&self, id: u64) -> Option<Client> {
        self.open.borrow_mut().remove(&id)
    }

    pub fn find(&self, address: SocketAddrV4) -> Option<u64> {
        let open = self.open.borrow();
        open.iter().find(|(_, client)| client.address == address).map(|(id, _)| *id)
    }

    /// A line for each.
    pub fn told(&self, only: Option<u64>) -> String {
        let open = self.open.borrow();
        let told = open.iter().filter(|(id, _)| only.is_none_or(|only| only == **id));
        told.map(|(id, client)| {
            let name = String::from_utf8_lossy(client.name.as_deref().unwrap_or_default());
            let (address, cmd) = (client.address, &client.last_command);
            format!("id={id} addr={address} fd={id} name={name} age=0 idle=0 flags=N namespace=__namespace qbuf=0 obuf=0 cmd={cmd}\n")
        })
        .collect()
    }
}
