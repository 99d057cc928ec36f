//! How a service is asked whether it answers at all, by role. Asked from within the node's own network,
//! so that no fault on its links speaks for it; whether it can do its work is for the view to tell.

use std::time::Duration;

use crate::agent::protocol::Heard;
use crate::cluster::Role;
use crate::docker::agent::Agent;
use crate::op::NodeName;

/// An answer that takes longer is asked for anew.
const PATIENCE: Duration = Duration::from_millis(500);

/// So much of a strange answer is shown.
const SHOWN: usize = 60;

/// What one role is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    /// What it is called in proofs.
    pub name: &'static str,
    pub send: &'static str,
    /// The answer, for people.
    pub expected: &'static str,
    /// Each begins an answer that will do.
    beginnings: &'static [&'static str],
}

/// What was heard in reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// What was expected.
    Answered(String),
    /// Something else, or nothing; in words.
    Other(String),
}

impl Question {
    pub fn of(role: Role) -> Question {
        match role {
            Role::Zookeeper => {
                Question { name: "ruok", send: "ruok", expected: "imok", beginnings: &["imok"] }
            }
            Role::Controller => Question {
                name: "GET /api/v1/namespaces",
                send: "GET /api/v1/namespaces HTTP/1.0\r\n\r\n",
                expected: "an HTTP answer",
                beginnings: &["HTTP/1."],
            },
            Role::Kvrocks => Question {
                name: "PING",
                send: "PING\r\n",
                expected: "+PONG or an error of RESP",
                // An error, as of one that asks for a password, is an answer too.
                beginnings: &["+PONG", "-"],
            },
        }
    }

    /// More need not be heard: some services keep the connection open.
    fn enough(&self) -> usize {
        self.beginnings.iter().map(|beginning| beginning.len()).max().unwrap_or(0)
    }

    fn judge(&self, heard: Heard) -> Reply {
        let text = match heard {
            Heard::Silent { why } => return Reply::Other(why),
            Heard::Said { text } => text,
        };
        let line: String = text.lines().next().unwrap_or_default().chars().take(SHOWN).collect();
        match self.beginnings.iter().any(|beginning| text.starts_with(beginning)) {
            true => Reply::Answered(line),
            false => Reply::Other(format!("{line:?}")),
        }
    }
}

/// Asks once; an error means that the agent failed.
pub(super) async fn ask(agent: &Agent, node: &NodeName, role: Role) -> anyhow::Result<Reply> {
    let question = Question::of(role);
    let (port, enough) = (role.client_port().0, question.enough());
    let heard = agent.ask_service(*node, port, question.send, enough, PATIENCE).await?;
    Ok(question.judge(heard))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(role: Role, text: &str) -> Reply {
        Question::of(role).judge(Heard::Said { text: text.to_owned() })
    }

    #[test]
    fn each_role_is_understood_in_its_own_words() {
        for (role, text, line) in [
            (Role::Zookeeper, "imok", "imok"),
            (Role::Kvrocks, "+PONG\r\n", "+PONG"),
            (
                Role::Kvrocks,
                "-NOAUTH Authentication required.\r\n",
                "-NOAUTH Authentication required.",
            ),
            (Role::Controller, "HTTP/1.0 200 OK\r\nDate: x\r\n", "HTTP/1.0 200 OK"),
            (
                Role::Controller,
                "HTTP/1.1 500 Internal Server Error\r\n",
                "HTTP/1.1 500 Internal Server Error",
            ),
        ] {
            assert_eq!(judged(role, text), Reply::Answered(line.to_owned()), "{role}");
        }
    }

    #[test]
    fn what_another_service_says_is_no_answer() {
        for (role, text) in [
            (Role::Zookeeper, "ruok is not executed because it is not in the whitelist."),
            (Role::Kvrocks, "HTTP/1.1 400 Bad Request\r\n"),
            (Role::Controller, "+PONG\r\n"),
            (Role::Controller, ""),
        ] {
            assert!(matches!(judged(role, text), Reply::Other(_)), "{role}: {text}");
        }
        let silent = Heard::Silent { why: "refused".to_owned() };
        let reply = Question::of(Role::Kvrocks).judge(silent);
        assert_eq!(reply, Reply::Other("refused".to_owned()));
    }
}
