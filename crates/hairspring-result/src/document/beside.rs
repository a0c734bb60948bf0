//! The error budget of a figure that is not the time of a component, such as a core clock: it
//! stands beside the figure.

use super::figure::finite;
use hairspring_core::estimate::{Contribution, Source, Uncertain};
use serde::{Deserialize, Serialize};

/// One entry of the error budget of a figure. `core_hz_budget` is that of `core_hz`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureEntry {
    /// Its source.
    pub source: Source,
    /// Half-width from this source alone, in the unit of the figure; `null` without a bound.
    pub half_width: Option<f64>,
    /// Why it is zero, or where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The error budget of a figure: its contributions, those of one source as one entry (standard
/// deviations in quadrature, bounds linearly, as in the figure's interval), and the sources that
/// add nothing, with the reason.
pub fn figure_budget(
    contributions: &[Contribution],
    level: f64,
    absent: &[(Source, &str)],
) -> Vec<FigureEntry> {
    let mut of_sources: Vec<(Source, Vec<Contribution>)> = Vec::new();
    for one in contributions {
        match of_sources.iter_mut().find(|(source, _)| *source == one.source) {
            Some((_, known)) => known.push(*one),
            None => of_sources.push((one.source, vec![*one])),
        }
    }
    let entry = |(source, budget)| FigureEntry {
        source,
        half_width: finite(Uncertain { value: 0.0, budget }.estimate(level).high),
        note: None,
    };
    let mut entries: Vec<FigureEntry> = of_sources.into_iter().map(entry).collect();
    for (source, reason) in absent {
        let note = Some((*reason).to_owned());
        match entries.iter_mut().find(|known| known.source == *source) {
            Some(known) if known.half_width == Some(0.0) => known.note = note,
            Some(_) => (),
            None => entries.push(FigureEntry { source: *source, half_width: Some(0.0), note }),
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_one_entry_and_absent_ones_their_reason() {
        let bound = |source, size| Contribution::bound(source, size);
        let all = [bound(Source::Noise, 1.0), bound(Source::Noise, 2.0), bound(Source::Rate, 0.0)];
        let found = figure_budget(
            &all,
            0.95,
            &[(Source::Rate, "exact"), (Source::Noise, "none"), (Source::Fence, "no fence")],
        );
        let shown: Vec<_> = found
            .iter()
            .map(|entry| (entry.source, entry.half_width, entry.note.as_deref()))
            .collect();
        let expected = [
            (Source::Noise, Some(3.0), None),
            (Source::Rate, Some(0.0), Some("exact")),
            (Source::Fence, Some(0.0), Some("no fence")),
        ];
        assert_eq!(shown, expected);
        // 3 and 4 in quadrature are 5; each has 1.96 standard deviations to either side.
        let standard = |sd| Contribution::standard(Source::Noise, sd, f64::INFINITY);
        let both =
            figure_budget(&[standard(3.0), standard(4.0), bound(Source::Noise, 1.0)], 0.95, &[])[0]
                .half_width
                .unwrap();
        assert!((both - (5.0 * 1.959_964 + 1.0)).abs() < 1e-4, "{both}");
        let open = figure_budget(&[bound(Source::Noise, f64::INFINITY)], 0.95, &[]);
        assert_eq!(open[0].half_width, None);
    }
}
