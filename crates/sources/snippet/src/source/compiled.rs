//! Rows of C and C++.

use super::{Borders, NoteId, RowSpec, SETUP_SYMBOL, mark, symbol};
use crate::declaration::Declaration;
use crate::repeat::BORDER;
use crate::request::{Language, Request};
use crate::text::{is_expression, split_directives, takes_address};
use hairspring_core::design::table::Order;
use std::fmt::Write;
use std::path::Path;

pub fn rows(
    text: &mut String,
    request: &Request,
    rows: &[(usize, &RowSpec)],
    borders: &dyn Fn(usize) -> Borders,
) {
    globals(text, request);
    setup(text, request);
    for (at, row) in rows {
        one_row(text, request, *at, row, borders(*at));
    }
}

/// Variables are at file scope, where the setup can access them; rows get copies of the scalars.
fn globals(text: &mut String, request: &Request) {
    for declaration in &request.lets {
        let whole = request.language == Language::Cpp || declaration.sized_by_initialiser();
        let _ = writeln!(
            text,
            "static {};",
            if whole { &declaration.text } else { &declaration.declarator }
        );
    }
    walks(request).for_each(|name| {
        *text += &format!("static __typeof__({name}) *const hs_walk_{name} = &{name};\n")
    });
}

/// The walks whose variable is a row's own copy, from which it goes on.
fn walks(request: &Request) -> impl Iterator<Item = &str> {
    let is_walked = |declaration: &&Declaration| {
        request.walks.contains(&declaration.name) && is_argument(request, declaration)
    };
    request.lets.iter().filter(is_walked).map(|declaration| declaration.name.as_str())
}

fn setup(text: &mut String, request: &Request) {
    let _ = writeln!(
        text,
        "HS_EXPORT void {SETUP_SYMBOL}(void) HS_NO_THROW;\nvoid {SETUP_SYMBOL}(void) HS_NO_THROW {{"
    );
    if request.language == Language::C {
        for declaration in
            request.lets.iter().filter(|d| d.initialised && !d.sized_by_initialiser())
        {
            let name = &declaration.name;
            let _ = writeln!(
                text,
                "{{ void *hs_to = (void *)&{name}; {}; memcpy(hs_to, (const void *)&{name}, \
                 sizeof {name}); }}",
                declaration.text
            );
        }
    }
    let _ = writeln!(text, "{{\n{}\n; }}\n}}", request.setup.as_deref().unwrap_or(""));
}

/// Whether a row works on its own copy of a variable: not for arrays, nor for data that must stay
/// in memory.
fn is_argument(request: &Request, declaration: &Declaration) -> bool {
    let cold = request
        .cold
        .iter()
        .any(|data| data.split(':').next().is_some_and(|name| name.trim() == declaration.name));
    !declaration.array && !cold
}

fn one_row(text: &mut String, request: &Request, at: usize, row: &RowSpec, borders: Borders) {
    let arguments: Vec<&Declaration> =
        request.lets.iter().filter(|declaration| is_argument(request, declaration)).collect();
    let parameters: String = arguments
        .iter()
        .map(|declaration| parameter(request.language, &declaration.name))
        .collect();
    let values: String =
        arguments.iter().map(|declaration| format!(", {}", declaration.name)).collect();
    let name = symbol(at);
    let _ = write!(
        text,
        "static {} uint64_t {name}_(hs_read hs_now{parameters}) {{\n{}",
        attributes(borders),
        mark(at)
    );
    for data in &request.cold {
        let _ = writeln!(text, "HS_TOUCH({});", extent(data));
    }
    let places = places(request, row);
    if row.is_behind() {
        behind(text, request, &places, row);
    }
    text.push_str("uint64_t hs_start = hs_now();\n");
    let note = |copy: u32| {
        (borders == Borders::Notes).then_some(NoteId {
            row: at,
            copy: copy as usize,
            in_body: false,
            what: None,
        })
    };
    if row.runs > 1 {
        // The compiler cannot know how often the loop runs, and neither unrolls nor peels it.
        let _ = writeln!(
            text,
            "for (uint32_t hs_runs = {}; hs_runs; hs_runs--) {{\n\
             __asm__ volatile(\"\" : \"+r\"(hs_runs));",
            row.runs
        );
    }
    copies(text, request, &places, row, borders, &note);
    text.push_str(if row.runs > 1 { "}\n" } else { "" });
    opaque(text, request, &places, note(row.bodies));
    text.push_str("uint64_t hs_ticks = hs_now() - hs_start;\n");
    walks(request).for_each(|name| *text += &format!("*hs_walk_{name} = {name};\n"));
    text.push_str("return hs_ticks; }\n");
    let _ = writeln!(
        text,
        "HS_EXPORT uint64_t {name}(hs_read hs_now) HS_NO_THROW;\n\
         uint64_t {name}(hs_read hs_now) HS_NO_THROW {{ return {name}_(hs_now{values}); }}"
    );
}

/// The attributes of the function with the copies.
fn attributes(borders: Borders) -> &'static str {
    if borders == Borders::Comments { "HS_ROW_ANYWHERE" } else { "HS_ROW" }
}

/// Text with a comment in its first barrier, which stays in the compiler's assembly text. Where a
/// fence is before that, the comment has a barrier of its own.
fn commented(text: &str) -> String {
    let comment = format!("__asm__ volatile(\"/* {BORDER} */\" : : : \"memory\");\n");
    text.strip_prefix("HS_BARRIER();\n")
        .map_or_else(|| comment.clone() + text, |rest| comment.clone() + rest)
}

fn parameter(language: Language, name: &str) -> String {
    match language {
        Language::Cpp => format!(", hs_argument<__typeof__({name})>::type {name}"),
        _ => format!(", __typeof__({name}) {name}"),
    }
}

/// What runs before the first reading: an init and a body, and perhaps another init.
fn behind(text: &mut String, request: &Request, places: &[&str], row: &RowSpec) {
    text.push_str(&init(request, places, row, None));
    opaque(text, request, places, None);
    text.push_str(&body(request, row));
    if row.order == Order::BehindInit {
        text.push_str(&init(request, places, row, None));
    }
}

/// (flush init body) for every body, then the further inits and flushes.
fn copies(
    text: &mut String,
    request: &Request,
    places: &[&str],
    row: &RowSpec,
    borders: Borders,
    note: &dyn Fn(u32) -> Option<NoteId>,
) {
    let mark = |at, text: String| {
        if borders == Borders::Comments && at == 0 { commented(&text) } else { text }
    };
    let flush: String =
        request.cold.iter().map(|data| format!("HS_FLUSH({});\n", extent(data))).collect();
    let (before, after) = row.inits_before_and_after();
    let body = body(request, row);
    for copy in 0..row.bodies {
        for at in 0..before {
            *text += &mark(at, init(request, places, row, note(copy).filter(|_| at == 0)));
        }
        text.push_str(&flush);
        if request.init.is_some() || !flush.is_empty() {
            // The init or the flush may have changed the inputs of the body.
            opaque(text, request, places, note(copy).map(|note| NoteId { in_body: true, ..note }));
        }
        text.push_str(&body);
    }
    (0..after).for_each(|_| *text += &init(request, places, row, None));
    (row.bodies..row.flushes).for_each(|_| text.push_str(&flush));
}

/// One init with its fences and notes; without an init, the fences and notes before a body.
fn init(request: &Request, places: &[&str], row: &RowSpec, note: Option<NoteId>) -> String {
    let fence = if row.fenced(request) { "HS_FENCE();\n" } else { "" };
    let mut text = fence.to_owned();
    opaque(&mut text, request, places, note);
    if let Some(init) = request.init.as_deref().filter(|_| row.order != Order::FencedChain) {
        let _ = writeln!(text, "{{\n{init}\n; }}\nHS_BARRIER();");
    }
    text + fence
}

fn body(request: &Request, row: &RowSpec) -> String {
    match row.order {
        Order::FencedChain => "HS_CHAIN();\n".to_owned(),
        _ => evaluation(&request.codes[row.subject]),
    }
}

fn evaluation(code: &str) -> String {
    if is_expression(code) {
        let (directives, expression) = split_directives(code);
        return format!("{directives}HS_KEEP({}\n);\n", expression.trim().trim_end_matches(';'));
    }
    format!("{{\n{code}\n; }}\n")
}

/// Where each variable is left while it is opaque. One whose address the code takes is left in
/// memory: to have it in a register, each copy would load and store it.
fn places(request: &Request, row: &RowSpec) -> Vec<&'static str> {
    let code = || std::iter::once(&request.codes[row.subject]).chain(&request.init);
    let is_taken =
        |declaration: &Declaration| code().any(|code| takes_address(code, &declaration.name));
    let place = |declaration: &Declaration| {
        if request.in_memory || is_taken(declaration) { "_IN_MEMORY" } else { "" }
    };
    request.lets.iter().map(place).collect()
}

/// Makes every variable opaque, so that copies are neither folded nor merged. Notes record where
/// the variables are.
fn opaque(text: &mut String, request: &Request, places: &[&str], note: Option<NoteId>) {
    text.push_str("HS_BARRIER();\n");
    for (at, (Declaration { name, .. }, place)) in request.lets.iter().zip(places).enumerate() {
        let _ = match note.and_then(|note| note.for_variable(at)) {
            Some(note) => writeln!(text, "HS_OPAQUE{place}_AT({}, {name});", note.number()),
            None => writeln!(text, "HS_OPAQUE{place}({name});"),
        };
    }
    if let Some(note) = note {
        let _ = writeln!(text, "HS_BORDER({});", note.number());
    }
}

/// Start and length of data to be flushed: `pointer:bytes`, or a name for the object itself.
fn extent(data: &str) -> String {
    match data.rsplit_once(':') {
        Some((pointer, bytes)) if !pointer.ends_with(':') => {
            format!("({}), ({})", pointer.trim(), bytes.trim())
        }
        _ => format!("&({0}), sizeof({0})", data.trim()),
    }
}

/// Every piece once, under its own name.
pub fn checked(text: &mut String, request: &Request, folder: &Path) {
    let folder = folder.display();
    for (subject, code) in request.codes.iter().enumerate() {
        let _ = writeln!(text, "void hs_check_{subject}(void);\nvoid hs_check_{subject}(void) {{");
        for (line, declaration) in request.lets.iter().enumerate() {
            let _ = writeln!(text, "#line {} \"{folder}/--let\"\n{};", line + 1, declaration.text);
        }
        let parts = [("--setup", request.setup.as_deref()), ("--init", request.init.as_deref())];
        for (name, part) in
            parts.into_iter().filter_map(|(name, part)| part.map(|part| (name, part)))
        {
            let _ = writeln!(text, "{{\n#line 1 \"{folder}/{name}\"\n{part}\n; }}");
        }
        let name = super::code_name(subject);
        let (open, close) = if is_expression(code) { ("(void)(", ");") } else { ("{", ";}") };
        let piece = code.trim_end().trim_end_matches(';');
        // The closing bracket counts as the piece's last line, where an unfinished piece ends.
        let last = piece.lines().count().max(1);
        let _ = writeln!(text, "#line 1 \"{folder}/checked.c\"\n{open}");
        let _ = writeln!(
            text,
            "#line 1 \"{folder}/{name}\"\n{piece}\n#line {last} \"{folder}/{name}\"\n{close}"
        );
        for data in &request.cold {
            let _ = writeln!(text, "#line 1 \"{folder}/--cold\"\n(void)({});", extent(data));
        }
        text.push_str("}\n");
    }
}
