fn main(){
 let clock=hairspring::clock::default_clock();
 println!("{:?}", hairspring::acquire::settle(None));
 let t=std::time::Instant::now(); println!("{:?} {:?}", hairspring_machine::unit::find_ruler(clock), t.elapsed());
 let runs=std::env::args().nth(1).map_or(40,|a|a.parse().unwrap());
 let ms=std::env::args().nth(2).map_or(2,|a|a.parse().unwrap());
 let e=hairspring_machine::verify::Effort{coverage_runs:runs,per_short_run:std::time::Duration::from_millis(ms),..Default::default()};
 let c=hairspring_machine::verify::verify(clock,&e).unwrap();
 for x in &c.chains {println!("{:14} {:9.4} ± {:.4} ({}) {:+.3}%  cov {:?}",x.name,x.cycles.value,x.cycles.half_width(),x.integer,x.distance_percent,x.coverage);}
 for p in &c.pairs {println!("{:14} body {:.3} ± {:.3} ({}) init {:.3} ({})",p.name,p.body.0.value,p.body.0.half_width(),p.body.1,p.init.0.value,p.init.1);}
 println!("{:?} {:?} {:?} {:?}",c.core_hz,c.overhead_ticks,c.rate,c.reading);
 for f in &c.findings{println!("{}",f.message);}
}
