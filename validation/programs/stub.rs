#![allow(non_snake_case)]
// rustc -O --edition 2021 stub.rs;  cvxml conform --allow-skipped -- ./stub
// One question on the standard input, one answer on the standard output. Needs no crate: `value` reads JSON. Copy and go on.
use std::{collections::HashMap, io::Read};

#[derive(Debug, Clone)]
enum Json { Other, Number(f64), Text(String), List(Vec<Json>), Map(HashMap<String, Json>) }
use Json::*;

impl Json {
    fn at(&self, name: &str) -> &Json { if let Map(m) = self { &m[name] } else { panic!("no {name}") } }
    fn list(&self) -> &[Json] { if let List(v) = self { v } else { panic!("no list") } }
    fn number(&self) -> f64 { if let Number(v) = self { *v } else { panic!("no number") } }
    fn numbers(&self) -> Vec<f64> { self.list().iter().map(Json::number).collect() }
    fn matrix(&self) -> Vec<Vec<f64>> { self.list().iter().map(Json::numbers).collect() }
}

/// The value that begins at `at`, which is left behind it, and behind the comma or colon that follows.
fn value(s: &[u8], at: &mut usize) -> Json {
    let skipped = |at: &mut usize| while *at < s.len() && b" \n\r\t,:".contains(&s[*at]) { *at += 1 };
    skipped(at);
    let begin = *at;
    *at += 1;
    let found = match s[begin] {
        b'[' | b'{' => {
            let mut all = vec![];
            skipped(at);
            while s[*at] != b']' && s[*at] != b'}' { all.push(value(s, at)); }
            *at += 1;
            let named = |pair: &[Json]| if let Text(k) = &pair[0] { (k.clone(), pair[1].clone()) } else { panic!() };
            if s[begin] == b'[' { List(all) } else { Map(all.chunks(2).map(named).collect()) }
        }
        b'"' => {
            while s[*at] != b'"' { *at += if s[*at] == b'\\' { 2 } else { 1 }; }
            *at += 1;
            Text(String::from_utf8_lossy(&s[begin + 1..*at - 1]).into_owned()) // escapes are left as they are
        }
        _ => {
            while *at < s.len() && !b" \n\r\t,:]}".contains(&s[*at]) { *at += 1; }
            std::str::from_utf8(&s[begin..*at]).unwrap().parse().map_or(Other, Number)
        }
    };
    skipped(at);
    found
}

/// The inverse of the covariance within chunklets, which is optimal up to a multiple.
fn rca(given: &Json) -> String {
    let (X, chunklets, mut n) = (given.at("X").matrix(), given.at("chunklets").numbers(), 0.0);
    let d = X[0].len();
    let mut C = vec![vec![0.0; 2 * d]; d]; // with the identity beside it
    for i in (0..X.len()).filter(|&i| chunklets[i] >= 0.0) {
        let own: Vec<_> = (0..X.len()).filter(|&j| chunklets[j] == chunklets[i]).collect();
        let off: Vec<f64> = (0..d).map(|a| X[i][a] - own.iter().map(|&j| X[j][a]).sum::<f64>() / own.len() as f64).collect();
        for a in 0..d { for b in 0..d { C[a][b] += off[a] * off[b]; } }
        n += 1.0;
    }
    for a in 0..d {
        for b in 0..d { C[a][b] /= n; }
        C[a][a] += given.at("alpha").number();
        C[a][d + a] = 1.0;
    }
    for a in 0..d { // elimination; pivots of a positive definite matrix are positive
        let pivot: Vec<f64> = C[a].iter().map(|v| v / C[a][a]).collect();
        for b in (0..d).filter(|&b| b != a) { let f = C[b][a]; for k in 0..2 * d { C[b][k] -= f * pivot[k]; } }
        C[a] = pivot;
    }
    format!("{{\"metric\": {:?}}}", C.iter().map(|row| &row[d..]).collect::<Vec<_>>())
}

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let question = value(text.as_bytes(), &mut 0);
    let formula = if let Text(name) = question.at("formula") { name } else { panic!("no formula") };
    println!("{}", if formula == "rca" { rca(question.at("inputs")) } else { "{\"unsupported\": \"not yet\"}".into() });
}
