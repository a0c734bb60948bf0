//! The attribute's options.

use crate::design::{FEWEST_ROWS, LINE};
use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, ExprPath, LitInt, Result, Token};

/// Most copies in a row.
const COPIES: u32 = LINE[LINE.len() - 1];
/// Fewest copies in the longest row: with fewer, a line cannot be distinguished from a bend.
const FEWEST_COPIES: u32 = LINE[FEWEST_ROWS - 1];

/// The options given to the attribute.
#[derive(Default)]
pub struct Options {
    pub args: Option<Expr>,
    pub chain: Option<Expr>,
    pub state: Option<Expr>,
    pub setup: Option<Expr>,
    pub init: Option<Expr>,
    pub cold: Option<Expr>,
    pub against: Option<ExprPath>,
    copies: Option<u32>,
}

impl Options {
    /// Most copies in a row.
    pub fn copies(&self) -> u32 {
        self.copies.unwrap_or(COPIES)
    }

    fn set(&mut self, key: &Ident, input: ParseStream) -> Result<()> {
        let place = match key.to_string().as_str() {
            "args" => &mut self.args,
            "chain" => &mut self.chain,
            "state" => &mut self.state,
            "setup" => &mut self.setup,
            "init" => &mut self.init,
            "cold" => &mut self.cold,
            "against" => return once(&mut self.against, key, || path(input)),
            "copies" => return once(&mut self.copies, key, || copies(input)),
            _ => {
                let known_options = "args, chain, state, setup, init, cold, against, copies";
                return Err(Error::new(
                    key.span(),
                    format!("unknown option `{key}`: there are {known_options}"),
                ));
            }
        };
        once(place, key, || input.parse())
    }
}

impl Parse for Options {
    fn parse(input: ParseStream) -> Result<Options> {
        let mut options = Options::default();
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            if !input.peek(Token![=]) {
                return Err(Error::new(
                    key.span(),
                    format!("`{key}` needs a value: `{key} = ...`"),
                ));
            }
            input.parse::<Token![=]>()?;
            options.set(&key, input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if let (Some(_), Some(cold)) = (&options.init, &options.cold) {
            return Err(Error::new_spanned(
                cold,
                "`cold` is an init of its own: there cannot be another, `init`",
            ));
        }
        Ok(options)
    }
}

fn once<T>(place: &mut Option<T>, key: &Ident, parse: impl FnOnce() -> Result<T>) -> Result<()> {
    if place.is_some() {
        return Err(Error::new(key.span(), format!("`{key}` is given twice")));
    }
    *place = Some(parse()?);
    Ok(())
}

fn path(input: ParseStream) -> Result<ExprPath> {
    let value: Expr = input.parse()?;
    match value {
        Expr::Path(path) => Ok(path),
        other => Err(Error::new_spanned(
            other,
            "`against` is the name of a function with #[hairspring::bench]",
        )),
    }
}

fn copies(input: ParseStream) -> Result<u32> {
    let number: LitInt = input.parse()?;
    match number.base10_parse() {
        Ok(copies @ FEWEST_COPIES..=COPIES) => Ok(copies),
        _ => Err(Error::new_spanned(
            number,
            format!("`copies` must be from {FEWEST_COPIES} to {COPIES}"),
        )),
    }
}

/// The expression of `setup`, `init` or `state`; a path in lower case is a function without
/// parameters, and is called.
pub fn called(value: &Expr, names: &[Ident]) -> Expr {
    let Expr::Path(path) = value else { return value.clone() };
    let Some(last) = path.path.segments.last() else { return value.clone() };
    let is_function = last.ident.unraw().to_string().starts_with(|c: char| c.is_lowercase());
    let is_name = path.path.get_ident().is_some_and(|ident| names.contains(ident));
    if is_function && !is_name { syn::parse_quote!(#value()) } else { value.clone() }
}
