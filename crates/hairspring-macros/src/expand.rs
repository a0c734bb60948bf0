//! Turns the attribute and the function into a benchmark.

use crate::design::{Before, Order, RowShape, shapes};
use crate::function::{Parameters, in_place, plain_name};
use crate::options::{Options, called};
use crate::rows::{Pieces, order, row_name};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Expr, ItemFn, Result, parse2};

/// The function, its rows, and an entry in the program's list of benchmarks.
pub fn bench(options: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = parse2(function).map_err(|error| {
        Error::new(error.span(), "#[hairspring::bench] belongs to a function with a body")
    })?;
    let options: Options = parse2(options)?;
    let parameters = Parameters::from_function(&function, &options)?;
    let expansion = Expansion { options: &options, parameters: &parameters, function: &function };
    let benchmark = expansion.benchmark();
    let function = in_place(function.clone());
    Ok(quote! {
        #[allow(dead_code)]
        #function
        #benchmark
    })
}

struct Expansion<'a> {
    options: &'a Options,
    parameters: &'a Parameters,
    function: &'a ItemFn,
}

impl Expansion<'_> {
    fn benchmark(&self) -> TokenStream {
        let before = self.before();
        let design = self.design(before);
        let init = self.options.init.as_ref().map(|init| called(init, &self.parameters.names()));
        let pieces = Pieces {
            function: &self.function.sig.ident,
            parameters: self.parameters,
            chain: self.options.chain.as_ref(),
            before,
            init: init.or_else(|| self.options.cold.clone()),
        };
        let functions = design.iter().enumerate().map(|(at, row)| pieces.row(at, row));
        let (cases, entry, check) = (self.cases(&design, before), self.entry(), self.check());
        quote! {
            #[allow(unused_mut, unused_variables, unused_assignments, non_snake_case, clippy::all,
                clippy::pedantic)]
            const _: () = {
                use ::hairspring::__private as __hairspring;
                #(#functions)*
                #check
                #cases
                __hairspring::submit!(#entry);
            };
        }
    }

    /// The rows that contain the function, with at most as many copies as the options allow. The
    /// rows of the fenced chain after an init do not contain it: the crate provides them.
    fn design(&self, before: Before) -> Vec<RowShape> {
        let is_own = |row: &RowShape| before == Before::Flush || row.order != Order::FencedChain;
        shapes(before)
            .into_iter()
            .filter(|row| is_own(row) && row.bodies <= self.options.copies())
            .collect()
    }

    fn before(&self) -> Before {
        match (&self.options.init, &self.options.cold) {
            (Some(_), _) => Before::Init,
            (_, Some(_)) => Before::Flush,
            _ => Before::Nothing,
        }
    }

    /// Checks that the argument can be passed to every copy.
    fn check(&self) -> TokenStream {
        let by_value =
            self.parameters.argument.as_ref().filter(|argument| !argument.is_reference());
        by_value.map_or_else(TokenStream::new, |argument| {
            let ty = &argument.ty;
            quote_spanned!(ty.span()=> const _: fn() =
                || { fn check<T: __hairspring::Argument>() {} check::<#ty>() };)
        })
    }

    /// The function that makes the benchmark, once for each argument.
    fn cases(&self, design: &[RowShape], before: Before) -> TokenStream {
        let (own_span, case) = (Span::mixed_site(), self.case(design, before));
        let Some((args, argument)) =
            self.options.args.as_ref().zip(self.parameters.argument.as_ref())
        else {
            return quote!(
                fn __hairspring_cases() -> ::std::vec::Vec<__hairspring::Case> {
                    ::std::vec![#case]
                }
            );
        };
        let (name, label) = (&argument.name, plain_name(&argument.name));
        let ty = if argument.is_reference() {
            quote!(_)
        } else {
            let ty = &argument.ty;
            quote!(#ty)
        };
        let all_arguments =
            quote_spanned!(args.span()=> ::core::iter::IntoIterator::into_iter(#args).collect());
        let by_value =
            (!argument.is_reference()).then(|| quote_spanned!(own_span=> let #name = *#name;));
        quote_spanned! {own_span=>
            fn __hairspring_cases() -> ::std::vec::Vec<__hairspring::Case> {
                let all_arguments: ::std::vec::Vec<#ty> = #all_arguments;
                // The benchmarks live as long as the program.
                let all_arguments: &'static [#ty] = ::std::vec::Vec::leak(all_arguments);
                let mut cases = ::std::vec::Vec::new();
                for (at, #name) in all_arguments.iter().enumerate() {
                    use __hairspring::{ByDebug as _, ByDisplay as _, ByPlace as _};
                    let text = (&&&__hairspring::Named(#name, at)).name();
                    let argument = ::core::option::Option::Some(::std::format!("{}:{}", #label,
                        text));
                    #by_value
                    cases.push(__hairspring::Case { argument, ..#case });
                }
                cases
            }
        }
    }

    /// The benchmark with one argument.
    fn case(&self, design: &[RowShape], before: Before) -> TokenStream {
        let (own_span, names) = (Span::mixed_site(), self.parameters.names());
        let state = self.options.state.as_ref().map(|state| called(state, &names));
        let state = state.map_or_else(|| quote!(()), |state| quote!(#state));
        let rows = design.iter().enumerate().map(|(at, row)| self.row(at, row));
        let setup = self.options.setup.as_ref().map(|setup| self.setup(setup));
        let second = (before == Before::Flush)
            .then(|| quote_spanned!(own_span=> benchmark.second = "flush";));
        let fenced_chain = (before == Before::Init)
            .then(|| quote_spanned!(own_span=> rows.extend(__hairspring::fenced_chain());));
        quote_spanned! {own_span=> {
            let state = __hairspring::State::new(move || #state);
            let mut rows = ::std::vec![#(#rows),*];
            #fenced_chain
            let mut benchmark = __hairspring::Benchmark::new("", rows);
            benchmark.unoptimised = __hairspring::is_unoptimised(|| ());
            #second
            #setup
            __hairspring::Case { argument: ::core::option::Option::None, benchmark }
        }}
    }

    /// A row with its argument and its state.
    fn row(&self, at: usize, row: &RowShape) -> TokenStream {
        let own_span = Span::mixed_site();
        let (function, order, RowShape { bodies, inits, runs, .. }) =
            (row_name(at), order(row.order), row);
        let argument = self.parameters.argument.iter().map(|argument| &argument.name);
        let state = self.parameters.state.iter().map(|_| quote_spanned!(own_span=> state));
        quote_spanned! {own_span=> {
            let state = state.clone();
            let run = move |now: __hairspring::ReadFn| {
                state.with(|state| __hairspring::catch_panic(|| #function(now,
                    #(#argument,)* #(#state,)*)))
            };
            __hairspring::Row::new(#bodies, #inits, #order, run).in_runs(#runs)
        }}
    }

    fn setup(&self, setup: &Expr) -> TokenStream {
        let setup = called(setup, &self.parameters.names());
        let assigned = quote_spanned!(setup.span()=> let setup: () = #setup;);
        quote_spanned!(Span::mixed_site()=>
            benchmark.setup = ::core::option::Option::Some(::std::boxed::Box::new(move
            || { #assigned }));)
    }

    /// The entry in the list of all benchmarks.
    fn entry(&self) -> TokenStream {
        let function = &self.function.sig.ident;
        let (name, span) = (plain_name_of(function), function.span());
        let identity = |path: TokenStream| quote!(|| ::core::any::type_name_of_val(&#path));
        let own_identity = identity(quote!(#function));
        let against = self.options.against.as_ref().map_or_else(
            || quote!(::core::option::Option::None),
            |other_identity| {
                let other = identity(quote!(#other_identity));
                quote!(::core::option::Option::Some(#other))
            },
        );
        let line = quote_spanned!(span=> ::core::line!());
        quote! {
            __hairspring::Entry {
                file: ::core::file!(), line: #line, module: ::core::module_path!(), name: #name,
                identity: #own_identity, against: #against, cases: __hairspring_cases,
            }
        }
    }
}

fn plain_name_of(function: &proc_macro2::Ident) -> String {
    syn::ext::IdentExt::unraw(function).to_string()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
