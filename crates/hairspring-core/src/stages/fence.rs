//! What fences hide of the code between them: the first instructions behind a fence run beside it.
//! A chain of known length after fences shows how much. It is a property of the core, and hardly of
//! the code: it was the same for integer chains of 3 to 100 cycles. Code that needs longer to begin
//! after a fence differs by more: on AMD's Zen 5, fences lengthen an integer chain by 2.5 cycles
//! and a floating-point one by 9, where a fence costs 11.

use crate::estimate::{Entry, Estimate, Source};
use crate::math::hypot;
use crate::observations::SeriesId;
use crate::stages::{Did, Stage, State, need};

pub(crate) const STAGE: Stage = Stage {
    name: "fence",
    question: "How much do fences hide of the code between them?",
    needs: &[need::FENCED_CHAIN, need::REFERENCE],
    limits: &[],
    source: Some(Source::Fence),
    says: |_, _| Vec::new(),
};

/// The bias of a time between fences, in the table's unit: what the fences hide of the code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FenceBias {
    /// Limits of the time that the fences hide, one of which is 0; the lower one is negative on a
    /// core on which code takes longer to begin after a fence than the next fence does.
    pub least: f64,
    pub most: f64,
    /// Cost of a fence with nothing before or after it. 0 if it is unknown.
    pub fence: f64,
}

impl FenceBias {
    /// From the time that a chain should take, the measured one, and that of a further pair of
    /// fences, if the rows tell it apart.
    pub fn new(expected: &Estimate, measured: &Estimate, further: Option<&Estimate>) -> FenceBias {
        let chance = hypot(expected.half_width(), measured.half_width());
        let hidden = expected.value - measured.value;
        // A further init of these rows is two fences without anything between them.
        let fence = further.map_or(0.0, |pair| pair.value.max(0.0) / 2.0);
        FenceBias { least: (hidden - chance).min(0.0), most: (hidden + chance).max(0.0), fence }
    }

    /// Time that the fences hide, and how far it may be off: nothing or all of it applies to the
    /// code.
    pub fn middle(&self) -> f64 {
        (self.least + self.most) / 2.0
    }

    pub fn half(&self) -> f64 {
        (self.most - self.least) / 2.0
    }
}

/// Adds the bias to the bodies of series with fences. The part of it that applies to the code is
/// unknown, between nothing and all: half of it is added to the value, and half is a bound, which
/// all bodies with fences have in common.
pub(crate) fn correct_bias(state: &mut State) -> Did {
    state.fence_bias = fence_bias(state);
    let Some(bias) = state.fence_bias else {
        return Did::nothing("the chain after fences could not be measured");
    };
    let is_fenced = |series: &SeriesId| state.table.origin.is_fenced(state.name(*series));
    let fenced: Vec<SeriesId> = state.subjects().into_iter().filter(is_fenced).collect();
    for series in &fenced {
        let Some(solution) = state.solution_mut(*series) else { continue };
        let Some(body) = solution.components.first().map(|body| body.unknown) else { continue };
        solution.shift(body, bias.middle());
        solution.add(body, Entry::bound(Source::Fence, bias.half()).shared());
    }
    let hidden = format!("between {:.2} and {:.2} {}", bias.least, bias.most, state.table_unit());
    if fenced.is_empty() {
        Did::nothing(format!("{hidden}; no series that is asked for has fences"))
    } else {
        Did::something(hidden)
    }
}

fn fence_bias(state: &State) -> Option<FenceBias> {
    let ((name, cycles), (reference, of_reference)) =
        (state.table.origin.fenced_chain.as_ref()?, state.reference()?);
    let (chain, ruler) =
        (state.solution(state.table.find_series(name)?)?, state.solution(reference)?);
    // A combination is of no use: the rows cannot tell the chain from the other parts of it.
    let alone = |at: usize| {
        chain
            .components
            .get(at)
            .filter(|one| one.parts.len() == 1)
            .map(|one| chain.uncertain(one.unknown, state.options.level))
    };
    let estimate = |at: usize| alone(at).map(|time| time.estimate(state.options.level));
    let expected = ruler
        .uncertain(0, state.options.level)
        .scaled(cycles / of_reference)
        .estimate(state.options.level);
    Some(FenceBias::new(&expected, &estimate(0)?, estimate(1).as_ref()))
}
