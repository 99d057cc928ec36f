//! A view is as old as the question; what faults have done to processes since is known without it.

use crate::cluster::{Action, NodeState, View};

/// The view with the processes that these actions hold down or paused, so that no other fault picks
/// them. Who leads stays as it was seen: also `before`, when another fault of the same event looked and then
/// took one of them down.
pub fn with_held<'a>(
    view: &View,
    before: Option<&View>,
    in_force: impl IntoIterator<Item = &'a Action>,
) -> View {
    let mut view = view.clone();
    for action in in_force {
        let (node, state) = match action {
            Action::Kill { node } | Action::Stop { node } | Action::Crash { node } => {
                (node, NodeState::Down)
            }
            Action::Pause { node } => (node, NodeState::Paused),
            _ => continue,
        };
        if let Some(seen) = view.nodes.get_mut(node) {
            seen.state = state;
            seen.leads |= before.and_then(|view| view.nodes.get(node)).is_some_and(|one| one.leads);
        }
    }
    view
}
