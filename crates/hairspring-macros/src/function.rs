//! The form of function that the attribute requires.

use crate::options::Options;
use proc_macro2::{Ident, Span};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, FnArg, ItemFn, Pat, Result, Signature, Type, parse_quote};

/// A parameter: the name by which expressions can use it, and its type.
#[derive(Clone)]
pub struct Parameter {
    pub name: Ident,
    pub ty: Type,
}

impl Parameter {
    pub fn is_reference(&self) -> bool {
        matches!(self.ty, Type::Reference(_))
    }

    fn is_mutable(&self) -> bool {
        matches!(&self.ty, Type::Reference(reference) if reference.mutability.is_some())
    }

    /// The type that a copy passes on: a reference, so that the benchmark gets the value back.
    pub fn passed(&self) -> proc_macro2::TokenStream {
        let name = &self.name;
        if self.is_mutable() {
            quote_spanned!(name.span()=> &mut *#name)
        } else {
            name.to_token_stream()
        }
    }
}

/// The function's parameters by their purpose.
pub struct Parameters {
    pub argument: Option<Parameter>,
    pub state: Option<Parameter>,
    /// The chained value, or the value that the init made.
    pub last: Option<Parameter>,
}

impl Parameters {
    /// The parameters of a function, which must fit the options.
    pub fn from_function(function: &ItemFn, options: &Options) -> Result<Parameters> {
        let signature = &function.sig;
        refuse_odd(signature)?;
        let mut parameters =
            signature.inputs.iter().map(parameter).collect::<Result<Vec<_>>>()?.into_iter();
        let argument =
            take(&mut parameters, options.args.is_some(), signature, "args", "the argument")?;
        let state = take(
            &mut parameters,
            options.state.is_some(),
            signature,
            "state",
            "a reference to the state",
        )?;
        let mut last = take(
            &mut parameters,
            options.chain.is_some(),
            signature,
            "chain",
            "the result of the copy before",
        )?;
        if last.is_none() && options.init.is_some() {
            last = parameters.next();
        }
        if let Some(odd) = parameters.next() {
            return Err(Error::new(odd.name.span(), no_value(&odd.name)));
        }
        let made_by_init = last.iter().filter(|_| options.chain.is_none());
        if let Some(value) =
            state.iter().chain(made_by_init).find(|parameter| !parameter.is_reference())
        {
            let text = format!(
                "`{}` must be a reference, `&` or `&mut`: the value stays with the benchmark",
                value.name
            );
            return Err(Error::new(value.ty.span(), text));
        }
        Ok(Parameters { argument, state, last })
    }

    /// The names that expressions can use.
    pub fn names(&self) -> Vec<Ident> {
        [&self.argument, &self.state, &self.last]
            .into_iter()
            .flatten()
            .map(|parameter| parameter.name.clone())
            .collect()
    }
}

fn refuse_odd(signature: &Signature) -> Result<()> {
    let refused: [(Option<Span>, &str); 4] = [
        (
            signature.asyncness.as_ref().map(Spanned::span),
            "a benchmark cannot be async: block on the future in a plain function, as \
             `runtime.block_on(f())` with a runtime made by `state`, and compare with an empty \
             future by `against`",
        ),
        (
            signature.generics.lt_token.map(|token| token.span),
            "a benchmark cannot be generic: write one for each type that calls it",
        ),
        (signature.variadic.as_ref().map(Spanned::span), "a benchmark cannot be variadic"),
        (
            unsafe_span(signature),
            "a benchmark cannot be unsafe: call the unsafe function from a safe one",
        ),
    ];
    refused.into_iter().find_map(|(span, text)| Some(Error::new(span?, text))).map_or(Ok(()), Err)
}

fn unsafe_span(signature: &Signature) -> Option<Span> {
    let text = signature.to_token_stream().into_iter().find(|token| token.to_string() == "unsafe");
    text.map(|token| token.span())
}

fn parameter(input: &FnArg) -> Result<Parameter> {
    match input {
        FnArg::Receiver(receiver) => {
            Err(Error::new_spanned(receiver, "a benchmark is a plain function, not a method"))
        }
        FnArg::Typed(typed) => {
            let name = match &*typed.pat {
                Pat::Ident(pattern) => pattern.ident.clone(),
                other => Ident::new("argument", other.span()),
            };
            Ok(Parameter { name, ty: (*typed.ty).clone() })
        }
    }
}

fn take(
    parameters: &mut impl Iterator<Item = Parameter>,
    is_wanted: bool,
    signature: &Signature,
    option: &str,
    purpose: &str,
) -> Result<Option<Parameter>> {
    if !is_wanted {
        return Ok(None);
    }
    let missing = || {
        Error::new(
            signature.paren_token.span.join(),
            format!("`{option}` needs a parameter that takes {purpose}"),
        )
    };
    parameters.next().map(Some).ok_or_else(missing)
}

fn no_value(name: &Ident) -> String {
    format!(
        "nothing gives `{name}` a value: `args`, `state`, `chain` or `init` of the attribute do \
         (in this order)"
    )
}

/// The function with the attribute `#[inline]`, unless it has such an attribute of its own.
pub fn in_place(mut function: ItemFn) -> ItemFn {
    if !function.attrs.iter().any(|attribute| attribute.path().is_ident("inline")) {
        function.attrs.push(parse_quote!(#[inline]));
    }
    function
}

/// The name of an argument in names of results.
pub fn plain_name(name: &Ident) -> String {
    let text = name.unraw().to_string();
    let plain = text.trim_start_matches('_');
    if plain.is_empty() { "argument".into() } else { plain.into() }
}
