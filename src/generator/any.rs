//! Several generators side by side.

use super::{Context, Generator, Next};
use crate::op::Event;

/// Whichever has something to do now, taking turns. Done when all are.
pub struct Any {
    branches: Vec<Option<Box<dyn Generator>>>,
    /// Who is asked first next time, so that a greedy branch starves nobody.
    turn: usize,
}

pub fn any(branches: Vec<Box<dyn Generator>>) -> Any {
    Any { branches: branches.into_iter().map(Some).collect(), turn: 0 }
}

/// Two side by side: `both(nemesis(schedule), clients(workload))`.
pub fn both(one: impl Generator + 'static, other: impl Generator + 'static) -> Any {
    any(vec![Box::new(one), Box::new(other)])
}

impl Generator for Any {
    fn next(&mut self, ctx: &Context) -> Next {
        let mut soonest = Next::Done;
        for offset in 0..self.branches.len() {
            let position = (self.turn + offset) % self.branches.len();
            let Some(branch) = &mut self.branches[position] else { continue };
            match branch.next(ctx) {
                Next::Done => self.branches[position] = None,
                wait @ Next::Wait { .. } => soonest = soonest.sooner(wait),
                next => {
                    self.turn = position + 1;
                    return next;
                }
            }
        }
        soonest
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        for branch in self.branches.iter_mut().flatten() {
            branch.observe(ctx, event);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::expect;

    use super::super::simulate::testing::{lines, ok_after, read, write};
    use super::super::{Step, clients, delay, limit, nemesis, once, repeat, sequence, time_limit};
    use super::*;

    #[test]
    fn a_greedy_branch_starves_nobody() {
        expect![[r#"
            0ms 0 invoke read nil
            1ms 0 ok read nil
            1ms 0 invoke write 1
            2ms 0 ok write 1
            2ms 0 invoke read nil
            3ms 0 ok read nil
            3ms 0 invoke write 1
            4ms 0 ok write 1
        "#]]
        .assert_eq(&lines(limit(4, both(repeat(read()), repeat(write(1)))), 1, 1, ok_after(1)));
    }

    #[test]
    fn client_and_nemesis_run_side_by_side() {
        let faults = delay(
            Duration::from_millis(10),
            sequence(vec![
                Box::new(once(Step::Begin { fault: 0 })),
                Box::new(once(Step::End { fault: 0 })),
            ]),
        );
        let reads = delay(Duration::from_millis(6), repeat(read()));
        let all = both(nemesis(faults), clients(time_limit(Duration::from_millis(15), reads)));
        expect![[r#"
            0ms nemesis info begin 0
            0ms 0 invoke read nil
            4ms nemesis info begin 0
            4ms 0 ok read nil
            6ms 0 invoke read nil
            10ms 0 ok read nil
            10ms nemesis info end 0
            12ms 0 invoke read nil
            14ms nemesis info end 0
            16ms 0 ok read nil
        "#]]
        .assert_eq(&lines(all, 1, 1, ok_after(4)));
    }
}
