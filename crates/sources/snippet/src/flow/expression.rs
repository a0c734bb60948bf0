//! The expressions of a followed piece of code.

use super::Follower;
use crate::functions::{is_no_call, is_pure};
use crate::origins::{Origins, both, either, unsure};
use crate::tokens::{is_assignment, is_word};

impl Follower<'_> {
    /// Value of an expression, of which there may be none.
    pub(super) fn value(&mut self, from: usize, to: usize) -> Origins {
        if from >= to || !self.goes_on(to - from) {
            return Origins::new();
        }
        self.depth += 1;
        let value = self.value_of_some(from, to);
        self.depth -= 1;
        value
    }

    fn value_of_some(&mut self, from: usize, to: usize) -> Origins {
        if self.find(from, to, |token| token == ",").is_some() {
            // In `f<a, b>(x)` the comma separates no expressions: every part counts.
            let last = !self.tokens[from..to].iter().any(|token| token == "<");
            let parts = self.parts(from, to, ",");
            let values: Vec<Origins> = parts.iter().map(|part| self.value(part.0, part.1)).collect();
            return values.into_iter().reduce(|all, value| if last { value } else { both(all, &value) }).unwrap_or_default();
        }
        let stepless = |token: &str| is_assignment(token) && !matches!(token, "++" | "--");
        match self.find(from, to, |token| token == "?" || stepless(token)) {
            Some(at) if self.is(at, "?") => self.choice(from, at, to),
            Some(at) => self.assignment(from, at, to),
            None => match self.find(from, to, |token| matches!(token, "&&" | "||")) {
                Some(at) => {
                    let first = self.value(from, at);
                    let before = self.flow.state.clone();
                    let second = self.under(first.clone(), |this| this.value(at + 1, to));
                    self.flow.state = before.or(&self.flow.state);
                    unsure(&both(first, &second))
                }
                None => self.operands(from, to),
            },
        }
    }

    fn choice(&mut self, from: usize, question: usize, to: usize) -> Origins {
        let mut depth = 0;
        let mut colon = to;
        for at in question + 1..to {
            match self.tokens[at].as_str() {
                "?" => depth += 1,
                ":" if depth == 0 => {
                    colon = at;
                    break;
                }
                ":" => depth -= 1,
                _ => {}
            }
        }
        let condition = self.value(from, question);
        let before = self.flow.state.clone();
        let first = self.under(condition.clone(), |this| this.value(question + 1, colon));
        let after = std::mem::replace(&mut self.flow.state, before);
        let second = self.under(condition.clone(), |this| this.value(colon + 1, to));
        self.flow.state = after.or(&self.flow.state);
        both(either(&first, &second), &unsure(&condition))
    }

    fn assignment(&mut self, from: usize, at: usize, to: usize) -> Origins {
        let mut value = self.value(at + 1, to);
        let target = self.target(from, at);
        if target.is_none() || !self.is(at, "=") {
            value = both(value, &self.operands(from, at));
        }
        match target {
            Some(name) => self.assign(&name, value.clone()),
            None => self.doubt("the code writes to memory that the next copy may read"),
        }
        value
    }

    /// The variable that stands left of an assignment, alone or behind its type; `None` for a place in memory.
    fn target(&self, from: usize, to: usize) -> Option<String> {
        let left = &self.tokens[from..to];
        let declares = left.len() >= 2 && is_word(&left[0]) && (is_word(&left[1]) || is_no_call(&left[0]) || self.is(from + 1, "::"));
        let plain = |token: &String| is_word(token) || matches!(token.as_str(), "*" | "::" | "<" | ">");
        let name = match left {
            [name] if is_word(name) => name,
            _ if declares => {
                let head = left.iter().position(|token| token == "[").unwrap_or(left.len());
                left[..head].last().filter(|name| is_word(name) && left[..head].iter().all(plain))?
            }
            _ => return None,
        };
        (declares || self.is_own(name)).then(|| name.clone())
    }

    /// Whether a name is that of a variable which only the code itself can change: a `--let` scalar or a local one.
    fn is_own(&self, name: &str) -> bool {
        match self.lets.iter().find(|declaration| declaration.name == name) {
            Some(declaration) => !declaration.array && !declaration.declarator.contains('&'),
            None => declared_here(self.tokens, name),
        }
    }

    fn assign(&mut self, name: &str, value: Origins) {
        let mut value = self.conditions.iter().fold(value, both);
        if self.jumps {
            value = either(&value, &self.flow.state.of(name));
        }
        self.flow.state.set(name, value);
        self.flow.assigned.insert(name.to_owned());
    }

    /// What a variable holds is not known any more.
    pub(super) fn disturb(&mut self, name: &str) {
        let value = unsure(&self.flow.state.of(name));
        self.flow.state.set(name, value);
        self.flow.assigned.insert(name.to_owned());
    }

    fn disturb_all(&mut self, from: usize, to: usize) {
        let words: Vec<String> = self.tokens[from..to].iter().filter(|token| is_word(token)).cloned().collect();
        words.iter().for_each(|name| self.disturb(name));
    }

    /// Everything that an expression without assignments, choices and commas reads.
    fn operands(&mut self, from: usize, to: usize) -> Origins {
        let mut all = Origins::new();
        let mut at = from;
        while at < to {
            let (value, behind) = self.operand(from, at, to);
            all = both(all, &value);
            at = behind.max(at + 1);
        }
        all
    }

    /// Value of the operand here, and the place behind it.
    fn operand(&mut self, from: usize, at: usize, to: usize) -> (Origins, usize) {
        let nothing = Origins::new();
        match self.tokens[at].as_str() {
            "sizeof" | "alignof" | "_Alignof" | "decltype" | "typeof" | "__typeof__" | "noexcept" => {
                (nothing, self.partner.get(at + 1).map_or(to, |end| end.max(&(at + 1)) + 1))
            }
            "(" | "[" => {
                let close = self.close(at, to);
                let value = self.value(at + 1, close);
                if self.is(at, "(") && self.calls_a_value(from, at) {
                    self.doubt("a function that is called by its address may keep state");
                    return (unsure(&value), close + 1);
                }
                (value, close + 1)
            }
            "{" => (self.braces(at, to), self.close(at, to) + 1),
            "++" | "--" => (self.step(from, at, to), at + 1),
            "&" if self.is_unary(from, at) => {
                let name = self.tokens.get(at + 1).cloned().unwrap_or_default();
                self.doubt(&format!("the code hands out the address of {name}"));
                self.disturb(&name);
                (nothing, at + 1)
            }
            token if is_word(token) => self.word(at, to),
            _ => (nothing, at + 1),
        }
    }

    /// A list of values; or statements inside an expression (a lambda, say), which are not followed.
    fn braces(&mut self, at: usize, to: usize) -> Origins {
        let close = self.close(at, to);
        if self.tokens[at + 1..close].iter().any(|token| token == ";") {
            self.doubt("statements inside an expression may chain the copies");
            self.disturb_all(at + 1, close);
            return Origins::new();
        }
        self.values(at + 1, close, ",")
    }

    /// Values of all parts together.
    pub(super) fn values(&mut self, from: usize, to: usize, separator: &str) -> Origins {
        let parts = self.parts(from, to, separator);
        parts.into_iter().fold(Origins::new(), |all, part| both(all, &self.value(part.0, part.1)))
    }

    fn step(&mut self, from: usize, at: usize, to: usize) -> Origins {
        let before = (at > from).then(|| at - 1);
        let behind = (at + 1 < to).then_some(at + 1);
        let is_operand = |place: &usize| is_word(&self.tokens[*place]) || matches!(self.tokens[*place].as_str(), "]" | ")");
        let place = before.filter(is_operand).or(behind);
        let alone = |place: usize| {
            let neighbour = if place < at { place.checked_sub(1).filter(|before| *before >= from) } else { Some(place + 1) };
            !neighbour.is_some_and(|at| matches!(self.tokens.get(at).map_or("", String::as_str), "." | "->" | "::" | "["))
        };
        match place.filter(|place| alone(*place)).map(|place| self.tokens[place].clone()).filter(|name| is_word(name) && self.is_own(name))
        {
            Some(name) => {
                let value = self.flow.state.of(&name);
                self.assign(&name, value.clone());
                value
            }
            None => {
                self.doubt("the code writes to memory that the next copy may read");
                Origins::new()
            }
        }
    }

    fn is_unary(&self, from: usize, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).filter(|before| *before >= from) else { return true };
        let token = self.tokens[before].as_str();
        let ends_value = token.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'' | ')' | ']'));
        !ends_value || token == "return" || token == ")" && self.is_cast(before)
    }

    /// Whether the group that ends here is a type.
    fn is_cast(&self, close: usize) -> bool {
        let open = self.partner[close];
        let inside = self.tokens.get(open + 1..close).unwrap_or_default();
        inside.first().is_some_and(|first| is_no_call(first) || first == "std")
            && (open == 0 || !is_word(&self.tokens[open - 1]) || self.is(open - 1, "return"))
    }

    /// Whether the parenthesis here calls what the expression before it gives: `(*f)(x)`, `table[3](x)`.
    fn calls_a_value(&self, from: usize, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).filter(|before| *before >= from) else { return false };
        match self.tokens[before].as_str() {
            ")" => !self.is_cast(before),
            "]" | "}" => true,
            _ => false,
        }
    }

    /// A name: a variable, a member, or a function with its arguments.
    fn word(&mut self, at: usize, to: usize) -> (Origins, usize) {
        if let Some(open) = self.arguments(at, to) {
            let close = self.close(open, to);
            return (self.call(at, open, close), close + 1);
        }
        let is_member = at > 0 && matches!(self.tokens[at - 1].as_str(), "." | "->" | "::");
        let value = if is_member || self.is(at + 1, "::") { Origins::new() } else { self.flow.state.of(&self.tokens[at]) };
        (value, at + 1)
    }

    /// Place of the parenthesis that begins the arguments of the function named here, `f(x)` or `f<int>(x)`.
    fn arguments(&self, at: usize, to: usize) -> Option<usize> {
        let mut open = at + 1;
        if self.is(open, "<") {
            let in_template = |token: &String| is_word(token) || matches!(token.as_str(), "<" | ">" | ">>" | "::" | "," | "*" | "&");
            let number = |token: &String| token.parse::<i64>().is_ok();
            let rest = &self.tokens[open..to];
            open += rest.iter().position(|token| !in_template(token) && !number(token))?;
            if !matches!(self.tokens[open - 1].as_str(), ">" | ">>") {
                return None;
            }
        }
        (open < to && self.is(open, "(")).then_some(open)
    }

    fn call(&mut self, name: usize, open: usize, close: usize) -> Origins {
        let value = self.values(open + 1, close, ",");
        if is_pure(self.tokens, name) || self.macros.contains(&self.tokens[name]) {
            return value;
        }
        let parts = self.parts(open + 1, close, ",");
        // By reference, or by a macro.
        parts.into_iter().filter(|part| part.1 == part.0 + 1).for_each(|part| self.disturb_all(part.0, part.1));
        if name >= 2 && matches!(self.tokens[name - 1].as_str(), "." | "->") {
            self.disturb_all(name - 2, name - 1);
        }
        if matches!(self.tokens[name].as_str(), "asm" | "__asm__" | "__asm") {
            self.disturb_all(open, close);
        }
        let function = &self.tokens[name];
        self.doubt(&format!("{function} may keep state or change what it is handed"));
        unsure(&value)
    }
}

/// Whether a name is declared in the code itself: it stands behind a type.
fn declared_here(tokens: &[String], name: &str) -> bool {
    let behind_a_type = |at: usize| {
        at > 0 && (is_word(&tokens[at - 1]) && tokens[at - 1] != "return" || tokens[at - 1] == "*" && at > 1 && is_word(&tokens[at - 2]))
    };
    (0..tokens.len()).find(|at| tokens[*at] == name).is_some_and(behind_a_type)
}
