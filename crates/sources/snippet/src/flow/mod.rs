//! Where the values of variables come from: the statements of a piece of C or C++ followed from the first to the last.
//! Assignments in a row replace what a variable held; where a condition decides, both of what it may hold count.

mod expression;

use crate::declaration::Declaration;
use crate::functions::{hiding_macro, pure_macros};
use crate::origins::{Origins, State, unsure};
use crate::tokens::tokens;
use std::collections::BTreeSet;

/// Tokens looked at, in all, before the code counts as too long to be followed.
const MOST_STEPS: usize = 2_000_000;
/// Nesting up to which code is followed.
const MOST_DEPTH: usize = 100;
/// Rounds of a loop after which nothing new comes.
const MOST_ROUNDS: usize = 20;
/// Why code that is too long is not followed.
const TOO_LONG: &str = "the code is too long to be followed";

/// What following a piece of code shows.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    /// What the variables hold at the end.
    pub state: State,
    /// Variables that were assigned.
    pub assigned: BTreeSet<String>,
    /// Why one copy might wait for the one before although no variable shows it.
    pub doubt: Option<String>,
}

/// Follows a piece of code that begins in a state.
pub fn follow(code: &str, lets: &[Declaration], state: State) -> Flow {
    let tokens = tokens(code);
    let jumps = ["goto", "break", "continue", "case", "default", "try", "throw"];
    let mut follower = Follower {
        partner: partners(&tokens),
        jumps: tokens.iter().any(|token| jumps.contains(&token.as_str())),
        tokens: &tokens,
        macros: pure_macros(code),
        lets,
        conditions: Vec::new(),
        steps: MOST_STEPS,
        depth: 0,
        flow: Flow { state, ..Flow::default() },
    };
    if let Some(name) = hiding_macro(code) {
        follower.doubt(&format!("the macro {name} may stand for something that chains the copies"));
    }
    follower.followed()
}

/// For each bracket the place of the one that belongs to it; other tokens, and brackets without, have their own place.
fn partners(tokens: &[String]) -> Vec<usize> {
    let mut partner: Vec<usize> = (0..tokens.len()).collect();
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" | "[" | "{" => open.push(at),
            ")" | "]" | "}" => {
                if let Some(begin) = open.pop() {
                    (partner[begin], partner[at]) = (at, begin);
                }
            }
            _ => {}
        }
    }
    partner
}

struct Follower<'a> {
    tokens: &'a [String],
    partner: Vec<usize>,
    lets: &'a [Declaration],
    /// Macros of the code that only give a value.
    macros: Vec<String>,
    /// Whether the code leaves the order of its statements: then an assignment only adds to what a variable may hold.
    jumps: bool,
    /// Origins of the conditions that decide whether the present statement runs.
    conditions: Vec<Origins>,
    steps: usize,
    depth: usize,
    flow: Flow,
}

impl Follower<'_> {
    fn followed(mut self) -> Flow {
        self.look_for_words();
        let end = self.tokens.len();
        match self.jumps {
            true => self.rounds(true, |this| this.block(0, end)),
            false => self.block(0, end),
        }
        if self.flow.doubt.as_deref() == Some(TOO_LONG) {
            // Half of the way says nothing about the end.
            let assigned: Vec<String> = self.lets.iter().map(|declaration| declaration.name.clone()).collect();
            assigned.iter().for_each(|name| self.disturb(name));
        }
        self.flow
    }

    fn look_for_words(&mut self) {
        for token in self.tokens {
            match token.as_str() {
                "asm" | "__asm__" | "__asm" => self.doubt("inline assembly may chain the copies"),
                "static" | "thread_local" | "_Thread_local" => self.doubt("a static variable keeps its value from copy to copy"),
                "new" | "delete" => self.doubt("the allocator keeps state"),
                "cout" | "cerr" | "clog" | "cin" => self.doubt("a stream keeps state"),
                _ => {}
            }
        }
    }

    fn doubt(&mut self, why: &str) {
        if self.flow.doubt.is_none() || why == TOO_LONG {
            self.flow.doubt = Some(why.to_owned());
        }
    }

    /// Whether so many tokens more may be looked at.
    fn goes_on(&mut self, tokens: usize) -> bool {
        self.steps = self.steps.saturating_sub(tokens + 1);
        let ends = self.steps == 0 || self.depth > MOST_DEPTH;
        if ends {
            self.doubt(TOO_LONG);
        }
        !ends
    }

    fn is(&self, at: usize, token: &str) -> bool {
        self.tokens.get(at).is_some_and(|found| found == token)
    }

    /// First place outside all brackets from which on a token is what is asked for.
    fn find(&self, from: usize, to: usize, wanted: impl Fn(&str) -> bool) -> Option<usize> {
        let mut at = from;
        while at < to {
            if wanted(&self.tokens[at]) {
                return Some(at);
            }
            at = self.partner[at].max(at) + 1;
        }
        None
    }

    /// Parts between separators outside all brackets.
    fn parts(&self, from: usize, to: usize, separator: &str) -> Vec<(usize, usize)> {
        let mut parts = Vec::new();
        let mut start = from;
        while let Some(at) = self.find(start, to, |token| token == separator) {
            parts.push((start, at));
            start = at + 1;
        }
        parts.push((start, to));
        parts
    }

    fn block(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            at = self.statement(at, to).max(at + 1);
        }
    }

    /// Follows one statement; gives the place behind it.
    fn statement(&mut self, at: usize, to: usize) -> usize {
        if at >= to || !self.goes_on(1) {
            return to;
        }
        self.depth += 1;
        let behind = match self.tokens[at].as_str() {
            "{" => {
                let close = self.close(at, to);
                self.block(at + 1, close);
                close + 1
            }
            "if" | "while" | "for" | "switch" => self.headed(at, to),
            "do" => self.repeated(at, to),
            "case" | "default" => self.find(at, to, |token| token == ":").map_or(to, |colon| colon + 1),
            "else" | "try" => at + 1,
            _ => {
                let end = self.find(at, to, |token| token == ";").unwrap_or(to);
                self.value(at, end);
                end + 1
            }
        };
        self.depth -= 1;
        behind
    }

    /// Place of the bracket that closes the one here.
    fn close(&self, open: usize, to: usize) -> usize {
        if self.partner[open] > open { self.partner[open].min(to) } else { to }
    }

    /// A statement with a head in parentheses.
    fn headed(&mut self, at: usize, to: usize) -> usize {
        let Some(open) = self.find(at + 1, to, |token| token == "(") else { return to };
        let close = self.close(open, to);
        match self.tokens[at].as_str() {
            "for" => self.counted(open + 1, close, to),
            "while" => {
                let mut behind = to;
                self.rounds(false, |this| {
                    let condition = this.values(open + 1, close, ";");
                    behind = this.under(condition, |this| this.statement(close + 1, to));
                });
                behind
            }
            _ => {
                let condition = self.values(open + 1, close, ";");
                self.chosen(condition, close + 1, to)
            }
        }
    }

    /// `if (...) this else that`.
    fn chosen(&mut self, condition: Origins, at: usize, to: usize) -> usize {
        let before = self.flow.state.clone();
        let behind = self.under(condition.clone(), |this| this.statement(at, to));
        let first = std::mem::replace(&mut self.flow.state, before);
        let behind =
            if behind < to && self.is(behind, "else") { self.under(condition, |this| this.statement(behind + 1, to)) } else { behind };
        self.flow.state = first.or(&self.flow.state);
        behind
    }

    fn counted(&mut self, from: usize, close: usize, to: usize) -> usize {
        let parts = self.parts(from, close, ";");
        let &[first, condition, step] = parts.as_slice() else {
            // `for (auto x : v)`
            let condition = self.value(from, close);
            return self.chosen(condition, close + 1, to);
        };
        self.value(first.0, first.1);
        let mut behind = to;
        self.rounds(self.surely_begins(first, condition), |this| {
            let condition = this.value(condition.0, condition.1);
            behind = this.under(condition, |this| {
                let behind = this.statement(close + 1, to);
                this.value(step.0, step.1);
                behind
            });
        });
        behind
    }

    /// Whether a loop from a number to a greater one stands here.
    fn surely_begins(&self, first: (usize, usize), condition: (usize, usize)) -> bool {
        let number = |token: &String| token.parse::<i64>().ok();
        match (&self.tokens[first.0..first.1], &self.tokens[condition.0..condition.1]) {
            ([.., name, equals, low], [counter, less, high]) if equals == "=" && name == counter => {
                let below = number(low).zip(number(high)).is_some_and(|(low, high)| low < high);
                below && matches!(less.as_str(), "<" | "<=" | "!=")
            }
            _ => false,
        }
    }

    fn repeated(&mut self, at: usize, to: usize) -> usize {
        let mut behind = to;
        self.rounds(true, |this| {
            let body = this.statement(at + 1, to);
            let end = this.find(body.min(to), to, |token| token == ";").unwrap_or(to);
            if body < end {
                this.value(body + 1, end);
            }
            behind = end + 1;
        });
        behind
    }

    /// Rounds of a loop until they bring nothing new.
    fn rounds(&mut self, at_least_one: bool, mut round: impl FnMut(&mut Self)) {
        let before = self.flow.state.clone();
        round(self);
        if !at_least_one {
            self.flow.state = before.or(&self.flow.state);
        }
        for _ in 0..MOST_ROUNDS {
            let before = self.flow.state.clone();
            if !self.goes_on(before.len()) {
                return;
            }
            round(self);
            self.flow.state = before.or(&self.flow.state);
            if self.flow.state == before {
                return;
            }
        }
        self.doubt(TOO_LONG);
    }

    /// Follows what only runs under a condition.
    fn under<T>(&mut self, condition: Origins, run: impl FnOnce(&mut Self) -> T) -> T {
        self.conditions.push(unsure(&condition));
        self.goes_on(self.flow.state.len());
        let done = run(self);
        self.conditions.pop();
        done
    }
}
