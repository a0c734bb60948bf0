//! What makes a page interactive: scripts and their data. A page without them has no script.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Data of the scripts: a block of JSON with an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// Its id, by which a script finds it.
    pub id: String,
    /// The JSON, such that it cannot end its block.
    pub json: String,
}

/// Scripts with their data and their style. The page's policy allows these scripts by their hashes,
/// and no other ones; no request to any host is possible.
///
/// The page has an empty section `hairspring-interactive` behind its contents, then the blocks of
/// data, then the scripts, in this order.
///
/// ```
/// use hairspring_page::{Extras, Interactive, page};
/// let more = Interactive::default().with_data("hairspring-data", "{\"name\": \"</script>\"}")
///     .with_script("document.title += ' (live)';").with_wasm();
/// let extras = Extras { interactive: Some(more), ..Extras::default() };
/// let html = page("{\"schema\": \"hairspring/result/2\", \"command\": \"time\", \"results\": []}",
///     &extras).unwrap();
/// assert!(html.contains("script-src 'sha256-") && html.contains("'wasm-unsafe-eval'"));
/// assert!(html.contains("\\u003c/script>"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Interactive {
    /// Further style.
    pub(crate) style: String,
    /// Blocks of data.
    pub(crate) data: Vec<Data>,
    /// Scripts.
    pub(crate) scripts: Vec<String>,
    uses_wasm: bool,
}

impl Interactive {
    /// Adds a block of JSON. `id` has letters and hyphens.
    #[must_use]
    pub fn with_data(mut self, id: &str, json: &str) -> Interactive {
        // The character occurs in strings of JSON only.
        self.data.push(Data { id: id.to_owned(), json: json.replace('<', "\\u003c") });
        self
    }

    /// Adds a script.
    #[must_use]
    pub fn with_script(mut self, script: &str) -> Interactive {
        // Inside of strings, where alone they may be, both mean the same with the backslash.
        let script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--");
        self.scripts.push(script);
        self
    }

    /// Adds style.
    #[must_use]
    pub fn with_style(mut self, style: &str) -> Interactive {
        self.style += &style.replace("</", "<\\/");
        self
    }

    /// Allows the scripts to compile wasm, and to do it in a worker that they have the text of.
    #[must_use]
    pub fn with_wasm(mut self) -> Interactive {
        self.uses_wasm = true;
        self
    }

    /// What the policy allows for these scripts.
    fn sources(&self) -> String {
        let hash = |script: &String| {
            format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(script.as_bytes())))
        };
        let hashes: String = self.scripts.iter().map(hash).collect();
        let wasm = if self.uses_wasm { " 'wasm-unsafe-eval' blob:; worker-src blob:" } else { "" };
        format!("; script-src{hashes}{wasm}")
    }
}

/// The content security policy of a page.
pub fn policy(interactive: Option<&Interactive>) -> String {
    let scripts = interactive.filter(|more| !more.scripts.is_empty());
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:{}",
        scripts.map_or_else(String::new, Interactive::sources)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_allowed_by_their_hash_alone() {
        // `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`
        let one = Interactive::default().with_script("alert(1)");
        let hash = "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='";
        assert!(
            policy(Some(&one)).ends_with(&format!("; script-src {hash}")),
            "{}",
            policy(Some(&one))
        );
        assert!(!policy(None).contains("script-src"));
        assert!(!policy(Some(&Interactive::default().with_wasm())).contains("script-src"));
    }

    #[test]
    fn nothing_ends_its_block() {
        let evil = "\"</script><!--\"";
        let one =
            Interactive::default().with_script(evil).with_data("a", evil).with_style("</style>");
        assert_eq!(one.scripts[0], "\"<\\/script><\\!--\"");
        assert_eq!(one.data[0].json, "\"\\u003c/script>\\u003c!--\"");
        assert_eq!(one.style, "<\\/style>");
    }
}
