//! The host's apt configuration, so far as a Debian base image made here needs it. Text in, text out.

use std::path::PathBuf;

/// One source of packages.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Source {
    pub uris: Vec<String>,
    pub suites: Vec<String>,
    pub components: Vec<String>,
    /// A keyring file of the host, by absolute path.
    pub signed_by: Option<PathBuf>,
    pub trusted: bool,
}

impl Source {
    /// The same source as a stanza of a `.sources` file.
    pub fn to_stanza(&self) -> String {
        let mut text = format!(
            "Types: deb\nURIs: {}\nSuites: {}\nComponents: {}\n",
            self.uris.join(" "),
            self.suites.join(" "),
            self.components.join(" ")
        );
        if let Some(keyring) = &self.signed_by {
            text.push_str(&format!("Signed-By: {}\n", keyring.display()));
        }
        if self.trusted {
            text.push_str("Trusted: yes\n");
        }
        text
    }
}

/// Reads a `.sources` file (stanzas of `Field: value`, continued by leading blanks).
pub(super) fn parse_stanzas(text: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')).chain([""]) {
        if line.trim().is_empty() {
            sources.extend(stanza(&std::mem::take(&mut fields)));
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push_str(&format!(" {}", line.trim()));
            }
        } else if let Some((field, value)) = line.split_once(':') {
            fields.push((field.trim().to_lowercase(), value.trim().to_owned()));
        }
    }
    sources
}

fn stanza(fields: &[(String, String)]) -> Option<Source> {
    let get = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, text)| text);
    let words = |name: &str| -> Vec<String> {
        get(name).into_iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
    };
    let disabled = get("enabled").is_some_and(|text| text.eq_ignore_ascii_case("no"));
    if disabled || !words("types").iter().any(|kind| kind == "deb") {
        return None;
    }
    Some(Source {
        uris: words("uris"),
        suites: words("suites"),
        components: words("components"),
        signed_by: get("signed-by").filter(|text| text.starts_with('/')).map(PathBuf::from),
        trusted: get("trusted").is_some_and(|text| text.eq_ignore_ascii_case("yes")),
    })
}

/// Reads a `.list` file (`deb [options] URI suite component…`).
pub(super) fn parse_lines(text: &str) -> Vec<Source> {
    text.lines().filter_map(|line| parse_one_line(line.split('#').next()?.trim())).collect()
}

fn parse_one_line(line: &str) -> Option<Source> {
    let rest = line.strip_prefix("deb")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace().map(str::to_owned);
    let mut source = Source {
        uris: vec![words.next()?],
        suites: vec![words.next()?],
        components: words.collect(),
        ..Source::default()
    };
    for option in options.split_whitespace() {
        match option.split_once('=') {
            Some(("signed-by", path)) => source.signed_by = Some(PathBuf::from(path)),
            Some(("trusted", value)) => source.trusted = value == "yes",
            _ => {}
        }
    }
    Some(source)
}

/// The sources that hold Debian itself, as seen from a host of suite `host`, turned to suite `wanted`.
///
/// Third-party sources are left out: they have other components, or other suites.
pub(super) fn debian_only(sources: &[Source], host: &str, wanted: &str) -> Vec<Source> {
    let turn = |suite: &String| -> Option<String> {
        let suffix = suite.strip_prefix(host)?;
        ["", "-updates", "-security"].contains(&suffix).then(|| format!("{wanted}{suffix}"))
    };
    let kept = sources.iter().filter(|source| source.components.iter().any(|name| name == "main"));
    kept.map(|source| Source {
        suites: source.suites.iter().filter_map(turn).collect(),
        components: vec!["main".to_owned()],
        ..source.clone()
    })
    .filter(|source| !source.suites.is_empty() && !source.uris.is_empty())
    .collect()
}

/// Settings of `apt-config dump` that a container needs to reach the same mirror.
pub(super) fn transport_settings(dump: &str) -> String {
    const WANTED: [&str; 5] = [
        "Acquire::http::Proxy",
        "Acquire::https::Proxy",
        "Acquire::Check-Valid-Until",
        "Acquire::Check-Date",
        "Acquire::Retries",
    ];
    let wanted = |line: &&str| {
        WANTED.iter().any(|name| {
            let rest = line.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name));
            rest.is_some() && line[name.len()..].starts_with([' ', ':'])
        })
    };
    dump.lines().filter(wanted).map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    const SOURCES: &str = "\
Types: deb deb-src
# a snapshot
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
 bookworm-backports
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://third.example/linux/debian
Suites: bookworm
Components: stable

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
";

    fn stanzas(sources: &[Source]) -> String {
        sources.iter().map(Source::to_stanza).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn only_debian_itself_is_kept() {
        let kept = debian_only(&parse_stanzas(SOURCES), "bookworm", "bookworm");
        expect![[r#"
            Types: deb
            URIs: http://mirror.example/debian
            Suites: bookworm bookworm-updates
            Components: main
            Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
        "#]]
        .assert_eq(&stanzas(&kept));
    }

    #[test]
    fn one_line_sources_are_turned_to_the_wanted_suite() {
        let list = "deb [arch=amd64 trusted=yes] http://mirror.example/debian trixie main # here\n\
                    deb-src http://mirror.example/debian trixie main\n\
                    deb http://mirror.example/security trixie-security main non-free\n\
                    deb http://ppa.example/x trixie-pgdg main\n\
                    deb\n# deb http://x y z\n";
        let kept = debian_only(&parse_lines(list), "trixie", "bookworm");
        expect![[r#"
            Types: deb
            URIs: http://mirror.example/debian
            Suites: bookworm
            Components: main
            Trusted: yes

            Types: deb
            URIs: http://mirror.example/security
            Suites: bookworm-security
            Components: main
        "#]]
        .assert_eq(&stanzas(&kept));
    }

    #[test]
    fn only_transport_settings_are_taken() {
        let dump = "Acquire \"\";\nAcquire::http::Proxy \"http://proxy.example:3128\";\n\
                    Acquire::http::ProxyX \"no\";\nAcquire::Check-Date \"false\";\nDir \"/\";\n\
                    Acquire::http::Proxy::mirror.example \"DIRECT\";\n";
        expect![[r#"
            Acquire::http::Proxy "http://proxy.example:3128";
            Acquire::Check-Date "false";
            Acquire::http::Proxy::mirror.example "DIRECT";
        "#]]
        .assert_eq(&transport_settings(dump));
    }
}
