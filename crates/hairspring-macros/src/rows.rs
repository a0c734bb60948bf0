//! The code of rows.

use crate::design::{Before, Order, RowShape, Step};
use crate::function::{Parameter, Parameters};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Expr;

/// The parts of a copy.
pub struct Pieces<'a> {
    pub function: &'a Ident,
    pub parameters: &'a Parameters,
    pub chain: Option<&'a Expr>,
    pub before: Before,
    /// The init, or the reference whose bytes are flushed.
    pub init: Option<Expr>,
}

/// Names that the user's code can neither use nor shadow.
fn hidden_ident(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// The name of a row's function.
pub fn row_name(at: usize) -> Ident {
    format_ident!("__hairspring_row_{at}", span = Span::mixed_site())
}

impl Pieces<'_> {
    /// The function of a row: reads the clock, runs its copies, and reads the clock again.
    pub fn row(&self, at: usize, row: &RowShape) -> TokenStream {
        let (name, now, begin, ticks) =
            (row_name(at), hidden_ident("now"), hidden_ident("begin"), hidden_ident("ticks"));
        let inputs = [&self.parameters.argument, &self.parameters.state].into_iter().flatten();
        let inputs = inputs.map(|Parameter { name, ty }| quote!(mut #name: #ty));
        let prologue = self.prologue(row);
        let (results, aside) = (hidden_ident("results"), hidden_ident("aside"));
        let steps = self.steps(row);
        let clear = self.lays_inits_aside().then(|| quote!(#aside.clear();));
        quote! {
            #[inline(never)]
            fn #name(#now: __hairspring::ReadFn, #(#inputs),*) -> u64 {
                #prologue
                __hairspring::align();
                let #begin = #now();
                #steps
                let #ticks = #now().wrapping_sub(#begin);
                #results.clear();
                #clear
                #ticks
            }
        }
    }

    /// The code between the two readings.
    fn steps(&self, row: &RowShape) -> TokenStream {
        let steps = row.steps(self.before).into_iter().map(|step| self.step(step));
        let (runs_left, runs) = (hidden_ident("left"), row.runs);
        if runs == 1 {
            return quote!(#(#steps)*);
        }
        quote! {
            let mut #runs_left: u32 = __hairspring::opaque(#runs);
            while #runs_left > 0 {
                #(#steps)*
                // The compiler must not lay the runs out one after the other.
                #runs_left = __hairspring::opaque(#runs_left - 1);
            }
        }
    }

    /// The code before the first reading.
    fn prologue(&self, row: &RowShape) -> TokenStream {
        let (results, stack, aside) =
            (hidden_ident("results"), hidden_ident("stack"), hidden_ident("aside"));
        let (bodies, inits) = (row.bodies as usize, row.inits as usize);
        let link = self
            .chain
            .zip(self.parameters.last.as_ref())
            .map(|(start, Parameter { name,
                ty })| quote!(let mut #name: #ty = __hairspring::opaque(#start);));
        let room = if self.chain.is_some() || row.order == Order::FencedChain {
            quote!(__hairspring::Values::<()>::room(0))
        } else {
            quote!(__hairspring::Values::room(#bodies))
        };
        let room_for_inits = self.lays_inits_aside().then(|| {
            quote! {
                let mut #stack = ::core::mem::MaybeUninit::uninit();
                let mut #aside = __hairspring::Values::room(#inits);
            }
        });
        let touch = self
            .init
            .as_ref()
            .filter(|_| self.before == Before::Flush)
            .map(|cold| quote!(__hairspring::touch(#cold);));
        quote!(let mut #results = #room; #link #room_for_inits #touch)
    }

    /// Whether the init makes a value that the body gets.
    fn lays_inits_aside(&self) -> bool {
        self.before == Before::Init && self.chain.is_none() && self.parameters.last.is_some()
    }

    fn step(&self, step: Step) -> TokenStream {
        match step {
            Step::Fence => quote!(__hairspring::fence();),
            Step::Init => self.init(),
            Step::Body => self.body(),
            Step::Chain => quote!(__hairspring::chain();),
        }
    }

    fn init(&self) -> TokenStream {
        let Some(init) = &self.init else { return TokenStream::new() };
        let fresh = self.opaque_inputs();
        let (stack, aside, made) =
            (hidden_ident("stack"), hidden_ident("aside"), hidden_ident("made"));
        let span = syn::spanned::Spanned::span(init);
        match (self.before, self.chain, &self.parameters.last) {
            (Before::Flush, ..) => quote!(#fresh __hairspring::flush(#init);),
            (_, Some(_), Some(link)) => {
                let name = &link.name;
                quote!(#fresh #name = __hairspring::opaque(#init);)
            }
            (_, None, Some(_)) => {
                quote!(#fresh let #made = __hairspring::hold(&mut #stack, &mut #aside, #init);)
            }
            _ => quote_spanned!(span=> #fresh let init: () = #init; __hairspring::memory();),
        }
    }

    fn body(&self) -> TokenStream {
        let (function, results, result, made) =
            (self.function, hidden_ident("results"), hidden_ident("result"), hidden_ident("made"));
        let fresh = self.opaque_inputs();
        let inputs = [&self.parameters.argument, &self.parameters.state]
            .into_iter()
            .flatten()
            .map(Parameter::passed);
        match (self.chain, &self.parameters.last) {
            (Some(_), Some(link)) => {
                let name = &link.name;
                quote!(#fresh #name = __hairspring::opaque(#function(#(#inputs,)* #name));)
            }
            (None, Some(_)) => quote! {
                #fresh
                let #result = #function(#(#inputs,)* #made);
                #results.put(#result);
                __hairspring::keep(&*#made);
            },
            _ => quote!(#fresh let #result = #function(#(#inputs),*); #results.put(#result);),
        }
    }

    /// Makes the argument and the state opaque to the compiler.
    fn opaque_inputs(&self) -> TokenStream {
        let inputs = [&self.parameters.argument, &self.parameters.state].into_iter().flatten();
        inputs.map(|Parameter { name, .. }| quote!(#name = __hairspring::opaque(#name);)).collect()
    }
}

/// The order's name in the engine.
pub fn order(order: Order) -> TokenStream {
    match order {
        Order::AtEnd => quote!(__hairspring::Order::AtEnd),
        Order::InPlace => quote!(__hairspring::Order::InPlace),
        Order::Fenced => quote!(__hairspring::Order::Fenced),
        Order::FencedChain => quote!(__hairspring::Order::FencedChain),
        Order::BehindBody => quote!(__hairspring::Order::BehindBody),
        Order::BehindInit => quote!(__hairspring::Order::BehindInit),
    }
}
