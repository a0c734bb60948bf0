//! The same instrument in the middle of a program: a function measured, a piece of code timed once,
//! a table solved.

use hairspring::{Stopwatch, default_clock, fit, measure, measure_chain, opaque, read_csv};
use hairspring_example::sum;

/// The output of a microcontroller.
const TABLE: &str = "# rate_hz: 16e6\nbody,ticks\n1,19\n2,25\n4,37\n8,61\n16,109\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = vec![3u8; 256];
    let throughput = measure("sum", || sum(opaque(bytes.as_slice())))?;
    let latency = measure_chain("multiply", 3u64, |x| x.wrapping_mul(0x9e37_79b9))?;
    for (name, measurement) in [("sum", &throughput), ("multiply", &latency)] {
        let ns = measurement.ns().ok_or("no rate")?;
        println!("{name:10} {:.3} ns, between {:.3} and {:.3}", ns.value, ns.low, ns.high);
    }

    let mut stopwatch = Stopwatch::new(default_clock())?;
    stopwatch.start();
    opaque(sum(opaque(&bytes)));
    let elapsed = stopwatch.stop().map(|span| stopwatch.elapsed(span))?.ns.estimate(0.95);
    println!(
        "once       {:.0} ns, between {:.0} and {:.0}",
        elapsed.value, elapsed.low, elapsed.high
    );

    let solved = fit(&read_csv(TABLE.as_bytes())?)?;
    let body = &solved.series[0].components[0].time;
    println!(
        "table      {:.2} ticks a copy, between {:.2} and {:.2}",
        body.ticks.value, body.ticks.low, body.ticks.high
    );
    Ok(())
}
