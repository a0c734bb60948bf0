//! Rates, distances and units that a table states: read right, or refused.

use hairspring_capture::read::{Request, read_csv};

/// The edges and the rate of a table.
fn csv(text: &str) -> Result<(Vec<f64>, Option<f64>), String> {
    let mut edges = Vec::new();
    let recording = read_csv(text.as_bytes(), &Request::default(), &mut |edge| edges.push(edge.at))
        .map_err(|error| error.to_string())?;
    Ok((edges, recording.hz))
}

fn rate(line: &str) -> Result<f64, String> {
    let rows: String = (0..200).map(|n| format!("{}\n", n / 20 % 2)).collect();
    csv(&format!("{line}\n{rows}")).map(|(_, hz)| hz.unwrap_or_default())
}

#[test]
fn commas_and_cells_of_a_rate_are_understood_or_refused() {
    for line in [
        "# Sample rate: 1,000,000 Hz",
        "# Samplerate: 1,0 MHz",
        "\"Sample rate\",\"1,000,000\"",
        "Sample rate;1,0 MHz",
        "Sample Rate,1,MHz",
        "Sample Interval,1.0,us",
        "# sample_rate_hz: 1000000",
        "# sample_rate_khz: 1000",
        "# sample_interval_us = 1",
    ] {
        assert!((rate(line).unwrap() / 1e6 - 1.0).abs() < 1e-12, "{line}: {:?}", rate(line));
    }
    assert!((rate("# Samplerate: 1,5 MHz").unwrap() / 1.5e6 - 1.0).abs() < 1e-12);
    assert_eq!(rate("# Samplerate: 500 mHz"), Ok(0.5));
    for line in [
        "# Sample rate: 1,000 kHz",
        "# Sample Interval: 1,000 ns",
        "Sample rate,1,000,000",
        "# Samplerate: 1 mhz",
        "# Samplerate: 1 msps",
    ] {
        let message = rate(line).unwrap_err();
        assert!(message.contains("line 1: the rate is `1"), "{line}: {message}");
    }
}

#[test]
fn names_with_an_unknown_unit_are_refused() {
    let rows: String = (0..200).map(|n| format!("{:.4},{}\n", n as f64 * 100.5, n % 2)).collect();
    for name in ["time_10us", "timestamp_hns", "Time x 1us", "time_in_10ths_of_us", "time_index"] {
        let message = csv(&format!("{name},D0\n{rows}")).unwrap_err();
        assert!(message.contains(name) && message.contains("as in `Time [us]`"), "{message}");
    }
    for (name, nano) in [("micros()", 1e3), ("usec", 1e3), ("t_ms_since_boot", 1e6)] {
        let (edges, _) = csv(&format!("{name},D0\n{rows}")).unwrap();
        assert!((edges[0] / (100.5 * nano) - 1.0).abs() < 1e-12, "{name}: {edges:?}");
    }
}

#[test]
fn bare_times_with_few_decimals_are_refused() {
    for decimals in 0..6 {
        let list: String = (1..9).map(|n| format!("{:.decimals$}\n", f64::from(n) * 7.0)).collect();
        match csv(&list) {
            Ok((edges, _)) => assert!(decimals >= 4 && edges.len() == 8, "{list}"),
            Err(message) => {
                assert!(decimals < 4, "{message}");
                assert!(message.contains("name it in a first line"), "{message}");
            }
        }
    }
}

#[test]
fn yokogawa_states_its_distance_in_the_unit_of_the_times() {
    for (date, unit, hz) in [
        ("\"Date\",\"2026/09/28\"\n\"Time\",\"19:12:02\"\n", "ms", 1e6),
        ("", "ms", 1e6),
        ("", "s", 1e3),
    ] {
        let rows: String =
            (0..200).map(|n| if n / 20 % 2 == 1 { "3.3\n" } else { "0.1\n" }).collect();
        let text = format!(
            "\"Model Name\",\"DLM3022\"\n\"BlockNumber\",1\n\"TraceName\",\"CH1\"\n\
             \"BlockSize\",200\n\"VUnit\",\"V\"\n\"HResolution\",1.0000E-03\n\
             \"HOffset\",-1.0E-01\n\"HUnit\",\"{unit}\"\n{date}{rows}"
        );
        let (edges, found_distance) = csv(&text).unwrap();
        assert_eq!(edges.len(), 9);
        assert!((found_distance.unwrap() / hz - 1.0).abs() < 1e-9, "{unit}: {found_distance:?}");
    }
}

#[test]
fn dates_may_have_a_decimal_comma() {
    let text = "Time;D0\n2024-01-01T00:00:01,161;0\n2024-01-01T00:00:01,162;1\n\
                2024-01-01T00:00:01,1645;0\n";
    let (edges, _) = csv(text).unwrap();
    assert!((edges[1] - edges[0] - 2.5e6).abs() < 1e-3, "{edges:?}");
}

#[test]
fn a_file_without_rows_quotes_what_is_not_understood() {
    let message = csv("Time [s],D0\n0.0001,0 apples\n0.0002,1 apples\n").unwrap_err();
    assert!(message.contains("apples") && message.contains("is not a number"), "{message}");
    let message = csv("a,b\nzero,one\n").unwrap_err();
    assert!(message.contains("no rows: line 2: `zero` is not a number"), "{message}");
}
