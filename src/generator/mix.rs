//! A weighted mixture of generators.

use super::{Context, Generator, Next};
use crate::op::Event;
use crate::rng::Rng;

/// Draws, for each operation, the generator that makes it. Branches that are done drop out.
pub struct Mix {
    branches: Vec<(u32, Box<dyn Generator>)>,
    rng: Rng,
    /// Drawn and not heard yet: asking again must not draw again.
    chosen: Option<usize>,
}

/// Branches with their weights; one of weight 0 is never drawn.
pub fn mix(rng: Rng, mut branches: Vec<(u32, Box<dyn Generator>)>) -> Mix {
    branches.retain(|(weight, _)| *weight > 0);
    Mix { branches, rng, chosen: None }
}

impl Mix {
    fn draw(&mut self) -> usize {
        let total = self.branches.iter().map(|(weight, _)| u64::from(*weight)).sum();
        let mut point = self.rng.below(total);
        for (position, (weight, _)) in self.branches.iter().enumerate() {
            match point.checked_sub(u64::from(*weight)) {
                Some(rest) => point = rest,
                None => return position,
            }
        }
        unreachable!("the point lies below the sum of the weights")
    }
}

impl Generator for Mix {
    fn next(&mut self, ctx: &Context) -> Next {
        while !self.branches.is_empty() {
            let chosen = match self.chosen {
                Some(chosen) => chosen,
                None => self.draw(),
            };
            match self.branches[chosen].1.next(ctx) {
                Next::Done => {
                    self.branches.remove(chosen);
                    self.chosen = None;
                }
                wait @ Next::Wait { .. } => {
                    self.chosen = Some(chosen);
                    return wait;
                }
                next => {
                    self.chosen = None;
                    return next;
                }
            }
        }
        Next::Done
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        for (_, branch) in &mut self.branches {
            branch.observe(ctx, event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulate::testing::{ok_after, read, run, write};
    use super::super::{limit, repeat};
    use super::*;

    fn counts(source: Mix) -> (usize, usize) {
        let events = run(limit(10_000, source), 4, 2, ok_after(1)).events;
        let of =
            |f| events.iter().filter(|e| e.kind == crate::op::Kind::Invoke && &*e.f == f).count();
        (of("read"), of("write"))
    }

    #[test]
    fn weights_are_kept_and_zero_is_never() {
        let branches = |a, b| -> Vec<(u32, Box<dyn Generator>)> {
            vec![(a, Box::new(repeat(read()))), (b, Box::new(repeat(write(1))))]
        };
        let (reads, writes) = counts(mix(Rng::from_seed(3), branches(3, 1)));
        assert_eq!(reads + writes, 10_000);
        assert!((7300..7700).contains(&reads), "{reads} of 10000 with weights 3:1");
        assert_eq!(counts(mix(Rng::from_seed(3), branches(0, 1))), (0, 10_000));
        assert_eq!(counts(mix(Rng::from_seed(3), branches(0, 0))), (0, 0));
    }

    #[test]
    fn a_branch_that_is_done_drops_out() {
        let branches: Vec<(u32, Box<dyn Generator>)> =
            vec![(1, Box::new(limit(5, repeat(read())))), (1, Box::new(repeat(write(1))))];
        assert_eq!(counts(mix(Rng::from_seed(3), branches)), (5, 9_995));
    }

    #[test]
    fn asking_in_vain_draws_nothing() {
        let source = || {
            mix(
                Rng::from_seed(9),
                vec![
                    (1, Box::new(repeat(read())) as Box<dyn Generator>),
                    (1, Box::new(repeat(write(1)))),
                ],
            )
        };
        let order = |source, concurrency| {
            let run = run(limit(200, source), concurrency, 1, ok_after(1));
            let starts = run.events.into_iter().filter(|e| e.kind == crate::op::Kind::Invoke);
            starts.map(|event| event.f).collect::<Vec<_>>()
        };
        assert_eq!(order(source(), 1), order(source(), 7));
    }
}
