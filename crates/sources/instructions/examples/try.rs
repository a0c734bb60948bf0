use hairspring_instructions::{cpu::Features, forms, measure::Settings, result::{Request, table}, text};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let per: f64 = args[0].parse().unwrap();
    let (sets, names): (Vec<String>, Vec<String>) = args[1..].iter().cloned().partition(|a| a.starts_with('@'));
    let wanted = forms::Wanted { names, sets: sets.iter().map(|s| s[1..].to_owned()).collect(), extensions: vec![] };
    let cpu = Features::here();
    let chosen: Vec<_> = forms::choose(&wanted).unwrap().into_iter().filter(|f| cpu.lacking(f).is_empty()).collect();
    let n = chosen.len();
    let settings = Settings { cpu: None, budget: std::time::Duration::from_secs_f64(per * n as f64), level: 0.95 };
    let t = table(&Request { forms: chosen.clone(), values: std::env::var("VALUES").is_ok(), settings }, &|_| {}).unwrap();
    let mut against = vec![];
    for cpu in ["native"] {
        match hairspring_instructions::against::llvm::model(&chosen, Some(cpu)) {
            Ok(m) => against.push(hairspring_instructions::against::Comparison::new(&t, &m.name, &m.figures)),
            Err(e) => eprintln!("{e}"),
        }
    }
    print!("{}", text::instructions(&t, &Default::default(), &against, true, &Default::default()));
    std::fs::write("/tmp/instr/out.csv", hairspring_instructions::export::csv(&t).unwrap()).unwrap();
    std::fs::write("/tmp/instr/out.yml", hairspring_instructions::export::osaca(&t, "here")).unwrap();
}
