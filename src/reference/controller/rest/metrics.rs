//! `/metrics`: little, in Prometheus' text form.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use crate::http::Response;

const FORM: &str = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

/// Answers by status.
#[derive(Default)]
pub struct Requests(RefCell<BTreeMap<u16, u64>>);

impl Requests {
    pub fn count(&self, status: u16) {
        *self.0.borrow_mut().entry(status).or_default() += 1;
    }

    pub fn metrics(&self, is_leader: bool) -> Response {
        let mut text = String::from(
            "# HELP controller_is_leader Whether this controller holds itself for the leader.\n\
             # TYPE controller_is_leader gauge\n",
        );
        let _ = writeln!(text, "controller_is_leader {}", u8::from(is_leader));
        text.push_str(
            "# HELP controller_http_requests_total Requests answered, by status.\n\
             # TYPE controller_http_requests_total counter\n",
        );
        for (status, count) in self.0.borrow().iter() {
            let _ = writeln!(text, "controller_http_requests_total{{code=\"{status}\"}} {count}");
        }
        Response::new(200, FORM, text)
    }
}
