//! Where a result of another tool comes from, and what its times are.

use serde::{Deserialize, Serialize};

/// The tool that wrote a file of results.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ToolOrigin {
    /// Name of the tool, such as `hyperfine`.
    pub tool: String,
    /// Its version; `null` where the file does not say.
    pub version: Option<String>,
    /// Kind of the file, such as `JSON of --export-json`.
    pub file: String,
    /// The machine that was measured, in the words of the file; `null` where it does not say.
    pub machine: Option<String>,
    /// What ran the code (interpreter, virtual machine, library), in the words of the file; `null`
    /// where it does not say.
    pub runtime: Option<String>,
    /// What the intervals do not contain, a clause each.
    pub lacks: Vec<String>,
}

impl ToolOrigin {
    /// The tool with its version.
    ///
    /// ```
    /// use hairspring_result::document::ToolOrigin;
    /// let origin = ToolOrigin { tool: "JMH".into(), version: Some("1.37".into()),
    ///     ..ToolOrigin::default() };
    /// assert_eq!(origin.title(), "JMH 1.37");
    /// ```
    pub fn title(&self) -> String {
        let version = self.version.as_deref().map(|version| format!(" {version}"));
        format!("{}{}", self.tool, version.unwrap_or_default())
    }
}

/// What the times of a series of another tool are. Only equal ones can be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measures {
    /// What a value is the time of, such as `one run of the command`.
    pub value: String,
    /// What the time of the series is of these values: `mean` or `median`.
    pub statistic: String,
    /// How many independent values the interval counts; `null` for an interval of the tool, and
    /// without one.
    #[serde(default)]
    pub independent: Option<u32>,
}

impl Measures {
    /// Both as words: `mean of values, each of one run of the command`.
    pub fn words(&self) -> String {
        format!("{} of values, each of {}", self.statistic, self.value)
    }

    /// Whether both are times of the same, whatever the number of values.
    pub fn is_of_the_same(&self, other: &Measures) -> bool {
        self.value == other.value && self.statistic == other.statistic
    }
}
