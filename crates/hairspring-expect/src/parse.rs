//! The grammar. winnow reads the tokens; the operators are climbed here, because every message
//! needs the place of the operator and of what it lacks, and because a unit and `+-` depend on what
//! stands before them.
//!
//! ```text
//! sum      = product { ("+" | "-") product | "+-" product [ "stochastic" | "systematic" ] }
//! product  = signed { ("*" | "/") signed }
//! signed   = { "+" | "-" } power
//! power    = operand [ "^" signed-power ]
//! operand  = NUMBER [ UNIT ] | UNIT | NAME | "(" sum ")" [ UNIT ]
//! ```

use crate::fault::Fault;
use crate::model::{Kind, Steps};
use crate::token::{Placed, Token, tokens};
use crate::unit::{Dimension, UNITS, Unit};
use hairspring_core::alike::nearest;
use std::collections::BTreeMap;

/// Longest expression, in bytes.
pub const MOST_BYTES: usize = 4_096;
/// Parentheses and exponents within each other.
const MOST_DEPTH: usize = 64;

/// Parses an expression into steps; returns the number of its last step. Names are numbers of
/// earlier steps.
pub fn parse(
    text: &str,
    steps: &mut Steps,
    names: &BTreeMap<String, usize>,
) -> Result<usize, Fault> {
    let fault =
        |message: &str, at| Fault { message: message.to_owned(), text: text.to_owned(), at };
    if text.len() > MOST_BYTES {
        let start: String = text.chars().take(64).collect();
        return Err(Fault {
            message: format!("the expression has {} bytes: at most {MOST_BYTES}", text.len()),
            text: start,
            at: 0,
        });
    }
    let tokens = tokens(text)?;
    if tokens.is_empty() {
        return Err(fault(
            "the expression is empty: expected a number such as `3 cycles` or `14 +- 2 us`",
            0,
        ));
    }
    let mut parser = Parser { text, tokens, next: 0, depth: 0, steps, names };
    let root = parser.sum()?;
    match parser.peek() {
        None => Ok(root.step),
        Some(Placed { token: Token::Symbol(')'), at }) => {
            Err(fault("this parenthesis was never opened", *at))
        }
        Some(Placed { token, at }) => Err(fault(&no_operator(token), *at)),
    }
}

/// The message about something that stands where an operator should.
fn no_operator(token: &Token) -> String {
    const EXPECTED_OPERATOR: &str = "expected an operator: one of + - * / ^ +-";
    let Token::Word(word) = token else { return EXPECTED_OPERATOR.to_owned() };
    match Kind::find(word) {
        Some(_) => misplaced(word),
        None => nearest(word, Kind::WORDS).map_or_else(
            || EXPECTED_OPERATOR.to_owned(),
            |kind| format!("{EXPECTED_OPERATOR}; did you mean `{kind}`?"),
        ),
    }
}

/// The message about a kind of uncertainty without an uncertainty before it.
fn misplaced(kind: &str) -> String {
    format!("`{kind}` stands behind a half-width: 14 +- 2 us {kind}")
}

/// A part of the expression that is a step.
#[derive(Clone, Copy)]
struct Part {
    step: usize,
    at: usize,
    /// How it is written, where that matters for what follows.
    form: Form,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// A number without a unit.
    Bare,
    /// A number of percent.
    Percent,
    /// A number with its unit.
    Literal,
    Other,
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Placed>,
    next: usize,
    depth: usize,
    steps: &'t mut Steps,
    names: &'t BTreeMap<String, usize>,
}

type Parsed = Result<Part, Fault>;

impl Parser<'_> {
    fn peek(&self) -> Option<&Placed> {
        self.tokens.get(self.next)
    }

    /// The symbol that comes next, if it is one of these.
    fn symbol(&self, wanted_symbols: &[char]) -> Option<(char, usize)> {
        match self.peek()? {
            Placed { token: Token::Symbol(symbol), at } if wanted_symbols.contains(symbol) => {
                Some((*symbol, *at))
            }
            _ => None,
        }
    }

    fn fault<T>(&self, message: impl Into<String>, at: usize) -> Result<T, Fault> {
        Err(Fault { message: message.into(), text: self.text.to_owned(), at })
    }

    /// The step, or the fault with its place.
    fn placed(&self, step: Result<usize, String>, at: usize, start: usize) -> Parsed {
        match step {
            Ok(step) => Ok(Part { step, at: start, form: Form::Other }),
            Err(message) => self.fault(message, at),
        }
    }

    fn sum(&mut self) -> Parsed {
        let mut whole_sum = self.term()?;
        loop {
            if let Some((symbol, at)) = self.symbol(&['+', '-']) {
                self.next += 1;
                let term = self.term()?;
                let sum = self.steps.sum(
                    whole_sum.step,
                    term.step,
                    if symbol == '+' { 1.0 } else { -1.0 },
                );
                whole_sum = self.placed(sum, at, whole_sum.at)?;
            } else if let Some(Placed { token: Token::PlusMinus, at }) = self.peek() {
                let at = *at;
                self.next += 1;
                whole_sum = self.uncertain(whole_sum, at)?;
            } else {
                return Ok(whole_sum);
            }
        }
    }

    /// A product. A number without a unit before `+-` has the unit of the half-width: `14 +- 2 us`.
    fn term(&mut self) -> Parsed {
        let term = self.product()?;
        let unit = match self.tokens.get(self.next..).unwrap_or_default() {
            [plus_minus, number, word, ..] if term.form == Form::Bare => {
                match (&plus_minus.token, &number.token, &word.token) {
                    (Token::PlusMinus, Token::Number(_), Token::Word(unit)) => Unit::find(unit),
                    _ => None,
                }
            }
            _ => None,
        };
        match unit {
            Some(unit) if unit.dimension != Dimension::NUMBER => {
                self.with_unit(term, unit, term.at)
            }
            _ => Ok(term),
        }
    }

    /// The part times a unit.
    fn with_unit(&mut self, part: Part, unit: Unit, at: usize) -> Parsed {
        let size = self.steps.constant(unit.size, unit.dimension);
        let size = self.placed(size, at, at)?;
        let product = self.steps.product(part.step, size.step);
        let form = if unit.name == "%" { Form::Percent } else { Form::Literal };
        Ok(Part {
            form: if part.form == Form::Bare { form } else { Form::Other },
            ..self.placed(product, at, part.at)?
        })
    }

    /// What follows `+-`: the half-width and its kind. A `%` is a share of the value, unless the
    /// value is itself in `%`.
    fn uncertain(&mut self, value: Part, at: usize) -> Parsed {
        let half = self.product()?;
        let (known_value, width) = (self.steps.known(value.step), self.steps.known(half.step));
        if width.slopes.iter().any(|slope| *slope != 0.0) {
            return self.fault("a half-width cannot be uncertain itself", half.at);
        }
        let is_share = half.form == Form::Percent && value.form != Form::Percent;
        let size = if is_share { width.value * known_value.value.abs() } else { width.value };
        if !is_share && width.dimension != known_value.dimension {
            let (wrong, right) = (width.dimension.words(), known_value.dimension.words());
            return self.fault(format!("the half-width is {wrong}, and the value is {right}"), at);
        }
        if width.value < 0.0 {
            return self.fault("a half-width cannot be negative", half.at);
        }
        let kind = self.kind();
        let uncertain = self.steps.uncertain(value.step, size, kind);
        self.placed(uncertain, at, value.at)
    }

    fn kind(&mut self) -> Kind {
        let kind = match self.peek().map(|placed| &placed.token) {
            Some(Token::Word(word)) => Kind::find(word),
            _ => None,
        };
        self.next += usize::from(kind.is_some());
        kind.unwrap_or(Kind::Stochastic)
    }

    fn product(&mut self) -> Parsed {
        let mut whole_product = self.signed()?;
        while let Some((symbol, at)) = self.symbol(&['*', '/']) {
            self.next += 1;
            let factor = self.signed()?;
            let product = if symbol == '*' {
                self.steps.product(whole_product.step, factor.step)
            } else {
                self.steps.quotient(whole_product.step, factor.step)
            };
            whole_product = self.placed(product, at, whole_product.at)?;
        }
        Ok(whole_product)
    }

    fn signed(&mut self) -> Parsed {
        let start = self.peek().map_or(self.text.len(), |placed| placed.at);
        let mut negative = false;
        while let Some((symbol, _)) = self.symbol(&['+', '-']) {
            self.next += 1;
            negative ^= symbol == '-';
        }
        let part = self.power()?;
        if !negative {
            return Ok(Part { at: start, ..part });
        }
        let minus = self
            .steps
            .constant(-1.0, Dimension::NUMBER)
            .and_then(|minus| self.steps.product(minus, part.step));
        Ok(Part { form: part.form, ..self.placed(minus, start, start)? })
    }

    fn power(&mut self) -> Parsed {
        let base = self.operand()?;
        let Some((_, at)) = self.symbol(&['^']) else { return Ok(base) };
        if matches!(base.form, Form::Literal | Form::Percent) {
            return self.fault("`^` after a unit has two meanings: write (5 ns)^2 or 5 * ns^2", at);
        }
        self.next += 1;
        self.deeper(at)?;
        let exponent = self.signed()?;
        self.depth -= 1;
        let power = self.steps.power(base.step, exponent.step);
        self.placed(power, at, base.at)
    }

    fn deeper(&mut self, at: usize) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return self.fault(
                format!("parentheses and exponents are nested too deeply: at most {MOST_DEPTH}"),
                at,
            );
        }
        Ok(())
    }

    fn operand(&mut self) -> Parsed {
        let Some(Placed { token, at }) = self.peek().cloned() else {
            return self.fault(
                "a number, a unit or a name is missing at the end",
                self.text.trim_end().len(),
            );
        };
        self.next += 1;
        match token {
            Token::Number(number) => {
                let step = self.steps.constant(number, Dimension::NUMBER);
                let part = Part { form: Form::Bare, ..self.placed(step, at, at)? };
                self.unit_behind(part)
            }
            Token::Word(word) => self.word(&word, at),
            Token::Symbol('(') => self.parenthesis(at),
            Token::Symbol(')') => {
                self.fault("a number, a unit or a name is missing before this parenthesis", at)
            }
            Token::Symbol(symbol) => {
                self.fault(format!("a number, a unit or a name is missing before `{symbol}`"), at)
            }
            Token::PlusMinus => {
                self.fault("a value is missing before `+-` (write `+ -` for a sign)", at)
            }
        }
    }

    fn parenthesis(&mut self, at: usize) -> Parsed {
        self.deeper(at)?;
        let inner = self.sum()?;
        self.depth -= 1;
        if self.symbol(&[')']).is_none() {
            return match self.peek() {
                Some(Placed { token: Token::Word(word), at }) if Kind::find(word).is_some() => {
                    self.fault(misplaced(word), *at)
                }
                Some(Placed { at, .. }) => {
                    self.fault("expected an operator: one of + - * / ^ +-, or `)`", *at)
                }
                None => self.fault("this parenthesis is never closed", at),
            };
        }
        self.next += 1;
        self.unit_behind(Part { at, form: Form::Other, ..inner })
    }

    /// The part with the unit that may stand behind it.
    fn unit_behind(&mut self, part: Part) -> Parsed {
        let Some(Placed { token: Token::Word(word), at }) = self.peek().cloned() else {
            return Ok(part);
        };
        if Kind::find(&word).is_some() {
            return Ok(part);
        }
        self.next += 1;
        match Unit::find(&word) {
            Some(unit) => self.with_unit(part, unit, at),
            None if self.names.contains_key(&word) => {
                self.fault(format!("expected an operator before `{word}`"), at)
            }
            None => self.fault(self.unknown("unit", &word, false), at),
        }
    }

    /// A unit alone is one of it.
    fn word(&mut self, word: &str, at: usize) -> Parsed {
        if let Some(step) = self.names.get(word) {
            return Ok(Part { step: *step, at, form: Form::Other });
        }
        match Unit::find(word) {
            Some(unit) => {
                let step = self.steps.constant(unit.size, unit.dimension);
                self.placed(step, at, at)
            }
            None if Kind::find(word).is_some() => self.fault(misplaced(word), at),
            None => self.fault(self.unknown("name", word, true), at),
        }
    }

    /// The message about a word that is no unit, or also no name.
    fn unknown(&self, noun: &str, word: &str, may_be_name: bool) -> String {
        let units = UNITS.iter().map(|unit| unit.name);
        let names = self.names.keys().map(String::as_str).filter(|_| may_be_name);
        let shown_word: String = word.chars().take(40).collect();
        match nearest(word, units.chain(names)) {
            Some(alike) => format!("unknown {noun} `{shown_word}`: did you mean `{alike}`?"),
            None => {
                format!(
                    "unknown {noun} `{shown_word}`: units are s ms us ns ps, cycles, ticks, bytes, \
                     Hz kHz MHz GHz, counts, %"
                )
            }
        }
    }
}
