//! The tokens of an expression, with their places.

use crate::fault::Fault;
use winnow::ascii::{digit0, digit1};
use winnow::combinator::{alt, opt};
use winnow::error::EmptyError;
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{one_of, take_while};

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// A number without its unit.
    Number(f64),
    /// A unit, a name, or a kind of uncertainty.
    Word(String),
    /// `+-`
    PlusMinus,
    /// Another operator or parenthesis.
    Symbol(char),
}

/// A token and where it starts, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The token.
    pub token: Token,
    /// Its first byte.
    pub at: usize,
}

type Input<'t> = LocatingSlice<&'t str>;
type Parsed<T> = winnow::Result<T, EmptyError>;

fn number(input: &mut Input) -> Parsed<Token> {
    let digits = alt(((digit1, opt(('.', digit0))).void(), ('.', digit1).void()));
    let exponent = (one_of(['e', 'E']), opt(one_of(['+', '-'])), digit1);
    (digits, opt(exponent)).take().parse_to::<f64>().map(Token::Number).parse_next(input)
}

fn word(input: &mut Input) -> Parsed<Token> {
    let starts = |c: char| c.is_alphabetic() || c == '_';
    let letters =
        (one_of(starts), take_while(0.., |c: char| c.is_alphanumeric() || c == '_')).take();
    alt((letters, "%")).map(|word: &str| Token::Word(word.to_owned())).parse_next(input)
}

fn symbol(input: &mut Input) -> Parsed<Token> {
    let pair = alt(("+-", "\u{b1}")).value(Token::PlusMinus);
    alt((pair, one_of(['+', '-', '*', '/', '^', '(', ')']).map(Token::Symbol))).parse_next(input)
}

fn placed(input: &mut Input) -> Parsed<Placed> {
    let at = input.current_token_start();
    alt((number, word, symbol)).map(|token| Placed { token, at }).parse_next(input)
}

fn blanks(input: &mut Input) {
    let skipped_blanks: Parsed<&str> = take_while(0.., char::is_whitespace).parse_next(input);
    // It takes any number of characters, so it cannot fail.
    let _ = skipped_blanks;
}

/// The tokens of a text.
pub fn tokens(text: &str) -> Result<Vec<Placed>, Fault> {
    let fault = |message: String, at| Fault { message, text: text.to_owned(), at };
    let (mut input, mut all_tokens) = (LocatingSlice::new(text), Vec::new());
    loop {
        blanks(&mut input);
        let at = input.current_token_start();
        let Some(next) = text.get(at..).and_then(|rest| rest.chars().next()) else {
            return Ok(all_tokens);
        };
        let placed_token = placed(&mut input).map_err(|_| fault(unexpected(next), at))?;
        if matches!(placed_token.token, Token::Number(number) if !number.is_finite()) {
            return Err(fault("the number is too large: at most 1.8e308".into(), at));
        }
        all_tokens.push(placed_token);
    }
}

fn unexpected(next: char) -> String {
    match next {
        ',' => "a comma has no meaning here: the decimal separator is a point".to_owned(),
        '[' | ']' | '{' | '}' => format!("`{next}` has no meaning here: use parentheses"),
        _ => format!("unexpected character `{}`", next.escape_debug()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_their_places() {
        let all_tokens = tokens(" 1.5e3\u{b5}s +- .5*(a_1)").unwrap();
        let places: Vec<usize> = all_tokens.iter().map(|one| one.at).collect();
        assert_eq!(places, [1, 6, 10, 13, 15, 16, 17, 20]);
        assert_eq!(all_tokens[0].token, Token::Number(1500.0));
        assert_eq!(all_tokens[1].token, Token::Word("\u{b5}s".into()));
        assert_eq!(
            (&all_tokens[2].token, &all_tokens[3].token),
            (&Token::PlusMinus, &Token::Number(0.5))
        );
        assert_eq!(all_tokens[6].token, Token::Word("a_1".into()));
    }

    #[test]
    fn an_exponent_needs_digits() {
        assert_eq!(tokens("2e").unwrap().len(), 2);
        assert_eq!(tokens("2e-3").unwrap()[0].token, Token::Number(0.002));
    }

    #[test]
    fn wrong_characters_are_pointed_at() {
        assert_eq!(tokens("1 ; 2").unwrap_err().at, 2);
        assert!(tokens("1,5 ns").unwrap_err().message.contains("point"));
        assert!(tokens("1e999").unwrap_err().message.contains("too large"));
        assert!(tokens("1 \0").unwrap_err().message.contains("`\\0`"));
    }
}
