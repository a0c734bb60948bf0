//! A model as steps: each step computes a value from earlier ones, so that evaluating it again
//! needs no recursion. Every value carries its dimension and how it changes with each uncertain
//! input (propagation to first order).

use crate::unit::Dimension;

/// Kind of an uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Varies independently: adds in quadrature. The half-width is that of a 95 % interval.
    Stochastic,
    /// The same in every case, of unknown sign: adds linearly. The half-width is a bound.
    Systematic,
}

impl Kind {
    /// The names of both kinds.
    pub const WORDS: [&str; 2] = ["stochastic", "systematic"];

    /// The kind of this name.
    pub fn find(word: &str) -> Option<Kind> {
        match word {
            "stochastic" => Some(Kind::Stochastic),
            "systematic" => Some(Kind::Systematic),
            _ => None,
        }
    }
}

/// An uncertain input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Source {
    /// Its kind.
    pub kind: Kind,
    /// Its half-width.
    pub half: f64,
}

/// A step; operands are numbers of earlier steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// A number.
    Constant(f64),
    /// The value of another step, plus the deviation of a source.
    Uncertain(usize, usize),
    /// A sum.
    Add(usize, usize),
    /// A difference.
    Subtract(usize, usize),
    /// A product.
    Multiply(usize, usize),
    /// A quotient.
    Divide(usize, usize),
    /// A power with a constant exponent.
    Power(usize, f64),
}

/// What is known about the value of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The value, in nanoseconds, cycles, ticks and bytes.
    pub value: f64,
    /// What it measures.
    pub dimension: Dimension,
    /// Change with each source: the derivative times the half-width of the source.
    pub slopes: Vec<f64>,
}

/// The steps of a model with their values, and its sources.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Steps {
    steps: Vec<Step>,
    known_values: Vec<Known>,
    sources: Vec<Source>,
}

/// Uncertain inputs that a model may have.
const MOST_SOURCES: usize = 64;
/// Steps that a model may have.
const MOST_STEPS: usize = 8_000;

impl Steps {
    /// What is known about a step.
    pub fn known(&self, at: usize) -> &Known {
        &self.known_values[at]
    }

    /// All steps.
    pub fn all(&self) -> &[Step] {
        &self.steps
    }

    /// The uncertain inputs.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Half-widths of a step from stochastic sources, in quadrature, and from systematic ones,
    /// linearly.
    pub fn half_widths(&self, at: usize) -> (f64, f64) {
        let of = |kind| {
            let slopes = self.known_values[at].slopes.iter().zip(&self.sources);
            slopes.filter(move |(_, source)| source.kind == kind).map(|(slope, _)| *slope)
        };
        let stochastic = of(Kind::Stochastic).map(|slope| slope * slope).sum::<f64>().sqrt();
        (stochastic, of(Kind::Systematic).map(f64::abs).sum())
    }

    /// Whether the interval of a step contains zero.
    fn may_be_zero(&self, at: usize) -> bool {
        let (stochastic, systematic) = self.half_widths(at);
        self.known_values[at].value.abs() <= stochastic + systematic
    }

    /// Adds a number.
    pub fn constant(&mut self, value: f64, dimension: Dimension) -> Result<usize, String> {
        self.push(Step::Constant(value), Known { value, dimension, slopes: Vec::new() })
    }

    /// Adds an uncertainty to a step.
    pub fn uncertain(&mut self, at: usize, half: f64, kind: Kind) -> Result<usize, String> {
        let source = self.sources.len();
        if source == MOST_SOURCES {
            return Err(format!("too many uncertain values: at most {MOST_SOURCES}"));
        }
        self.sources.push(Source { kind, half });
        let mut known_value = self.known_values[at].clone();
        known_value.slopes.resize(source, 0.0);
        known_value.slopes.push(half);
        self.push(Step::Uncertain(at, source), known_value)
    }

    /// Adds a sum, or with `sign` -1 a difference.
    pub fn sum(&mut self, a: usize, b: usize, sign: f64) -> Result<usize, String> {
        let (first, second) = (&self.known_values[a], &self.known_values[b]);
        if first.dimension != second.dimension {
            let preposition = if sign > 0.0 { "added to" } else { "subtracted from" };
            return Err(format!(
                "{} cannot be {preposition} {}",
                second.dimension.words(),
                first.dimension.words()
            ));
        }
        let known_value = Known {
            value: first.value + sign * second.value,
            dimension: first.dimension,
            slopes: slopes(first, 1.0, second, sign),
        };
        self.push(if sign > 0.0 { Step::Add(a, b) } else { Step::Subtract(a, b) }, known_value)
    }

    /// Adds a product.
    pub fn product(&mut self, a: usize, b: usize) -> Result<usize, String> {
        let (first, second) = (&self.known_values[a], &self.known_values[b]);
        let dimension = first.dimension.times(second.dimension, 1).ok_or(TOO_HIGH)?;
        let known_value = Known {
            value: first.value * second.value,
            dimension,
            slopes: slopes(first, second.value, second, first.value),
        };
        self.push(Step::Multiply(a, b), known_value)
    }

    /// Adds a quotient. Cycles and ticks by a frequency are a time.
    pub fn quotient(&mut self, a: usize, b: usize) -> Result<usize, String> {
        let (numerator, denominator) = (&self.known_values[a], &self.known_values[b]);
        if denominator.value == 0.0 {
            return Err("division by zero".into());
        }
        if self.may_be_zero(b) {
            return Err(
                "the interval of the divisor contains zero, so the quotient has no bounds".into()
            );
        }
        let is_counted = matches!(numerator.dimension, Dimension::CYCLES | Dimension::TICKS);
        let dimension = match denominator.dimension {
            Dimension::FREQUENCY if is_counted => Dimension::TIME,
            divisor => numerator.dimension.times(divisor, -1).ok_or(TOO_HIGH)?,
        };
        let value = numerator.value / denominator.value;
        let known_value = Known {
            value,
            dimension,
            slopes: slopes(
                numerator,
                1.0 / denominator.value,
                denominator,
                -value / denominator.value,
            ),
        };
        self.push(Step::Divide(a, b), known_value)
    }

    /// Adds a power.
    pub fn power(&mut self, base: usize, exponent: usize) -> Result<usize, String> {
        let (base_value, by) = (&self.known_values[base], &self.known_values[exponent]);
        if by.dimension != Dimension::NUMBER {
            return Err(format!("an exponent is a plain number, not {}", by.dimension.words()));
        }
        if by.slopes.iter().any(|slope| *slope != 0.0) {
            return Err("an exponent cannot be uncertain".into());
        }
        let by = by.value;
        if by < 0.0 && (base_value.value == 0.0 || self.may_be_zero(base)) {
            return Err(
                "the interval of the base contains zero, so a negative power has no bounds".into(),
            );
        }
        let dimension = base_value
            .dimension
            .power(by)
            .ok_or("the exponent does not give whole exponents of units, or too large ones")?;
        let value = base_value.value.powf(by);
        let slope = by * base_value.value.powf(by - 1.0);
        let slopes = base_value
            .slopes
            .iter()
            .map(|own| if *own == 0.0 { 0.0 } else { own * slope })
            .collect();
        self.push(Step::Power(base, by), Known { value, dimension, slopes })
    }

    fn push(&mut self, step: Step, known_value: Known) -> Result<usize, String> {
        if self.steps.len() == MOST_STEPS {
            return Err(format!(
                "the expression is too long: at most {MOST_STEPS} numbers and operators"
            ));
        }
        if !known_value.value.is_finite()
            || known_value.slopes.iter().any(|slope| !slope.is_finite())
        {
            return Err("this has no finite value".into());
        }
        self.steps.push(step);
        self.known_values.push(known_value);
        Ok(self.steps.len() - 1)
    }
}

const TOO_HIGH: &str = "the exponent of a unit is too large";

/// The slopes of `a` and `b` with these factors, added.
fn slopes(a: &Known, by: f64, b: &Known, and_by: f64) -> Vec<f64> {
    let slope = |known: &Known, at: usize, factor: f64| {
        known.slopes.get(at).map_or(0.0, |slope| slope * factor)
    };
    (0..a.slopes.len().max(b.slopes.len()))
        .map(|at| slope(a, at, by) + slope(b, at, and_by))
        .collect()
}
