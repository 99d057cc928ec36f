//! The role that a node's name tells.

/// A node is named after its role and numbered: `zookeeper` of `zookeeper2`. The clients' place is a
/// role of its own.
pub fn role_of(node: &str) -> &str {
    let role = node.trim_end_matches(|symbol: char| symbol.is_ascii_digit());
    if role.is_empty() { node } else { role }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_left_out() {
        for (node, role) in
            [("zookeeper12", "zookeeper"), ("clients", "clients"), ("42", "42"), ("", "")]
        {
            assert_eq!(role_of(node), role);
        }
    }
}
