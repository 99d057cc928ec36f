//! Times that count from long before the history, as those since 1970 do: nobody can compare numbers of ten
//! digits, so they are told from where the history begins.

use std::borrow::Cow;

use crate::op::{Event, Nanos, SECOND};

/// No run's own clock gets so far: a year.
const FAR: Nanos = 365 * 24 * 3600 * SECOND;

/// Takes the same off all times, so that the first is between one and two seconds: clients' clocks may
/// differ by less than that.
#[derive(Default)]
pub struct Since {
    /// What is taken off, once an event with a time was seen.
    base: Option<Nanos>,
}

impl Since {
    pub fn of<'a>(&mut self, head: Cow<'a, Event>) -> Cow<'a, Event> {
        if self.base.is_none() && head.time > 0 {
            self.base = Some(if head.time < FAR { 0 } else { (head.time / SECOND - 1) * SECOND });
        }
        match self.base {
            None | Some(0) => head,
            Some(base) => {
                Cow::Owned(Event { time: head.time.saturating_sub(base), ..head.into_owned() })
            }
        }
    }

    /// What a reader should know, if anything was taken off.
    pub fn remark(&self) -> Option<String> {
        let base = self.base.filter(|base| *base > 0)? / SECOND;
        Some(format!("its times begin at {base} s, and are told from there"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{Kind, Process};

    fn told(times: &[Nanos]) -> (Vec<Nanos>, Option<String>) {
        let mut since = Since::default();
        let event = |time| Event { time, ..Event::new(Kind::Invoke, Process::Client(0), "read") };
        let told = times.iter().map(|time| since.of(Cow::Owned(event(*time))).time).collect();
        (told, since.remark())
    }

    #[test]
    fn times_since_1970_are_told_from_the_history_s_begin_and_others_as_they_are() {
        let began = 1_589_367_682 * SECOND;
        let (times, remark) = told(&[0, began + 5, began - 7, began + 2 * SECOND]);
        assert_eq!(times, [0, SECOND + 5, SECOND - 7, 3 * SECOND]);
        assert_eq!(
            remark.as_deref(),
            Some("its times begin at 1589367681 s, and are told from there")
        );
        assert_eq!(told(&[0, 5, began]), (vec![0, 5, began], None));
    }
}
