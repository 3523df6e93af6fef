use crate::core::Core;
use crate::definition::{check_application, check_labels, CommonLabels, Definition, Kind, Labels};
use crate::{ErrorKind, Group, Metric, Shape};

fn check(metric: &Metric, kind: Kind, bounds: Option<&[f64]>) -> Option<ErrorKind> {
    Definition::check(metric, kind, true, bounds, &CommonLabels::default())
        .err()
        .map(|error| error.kind())
}

#[test]
fn names_labels_and_texts_are_checked() {
    let good = Metric::new("a:b_1").help("Ä").label("path", "a\"b\\c").label("_x", "");
    assert_eq!(check(&good, Kind::Counter, None), None);
    let long = "x".repeat(257);
    for bad in [
        Metric::new(""),
        Metric::new("1a"),
        Metric::new("a-b"),
        Metric::new("ä"),
        Metric::new(&long[..129]),
        Metric::new("a").help("line\nbreak"),
        Metric::new("a").help("x".repeat(513)),
        Metric::new("a").label("le", "1"),
        Metric::new("a").label("__x", "1"),
        Metric::new("a").label("a:b", "1"),
        Metric::new("a").label("x", "1").label("x", "1"),
        Metric::new("a").label("x", "\x7f"),
        Metric::new("a").label("x", &long),
        Metric::new("a").unit(0.0),
        Metric::new("a").unit(f64::NAN),
        Metric::new("a").unit(1e31),
        (0..17).fold(Metric::new("a"), |metric, n| metric.label(format!("l{n}"), "")),
    ] {
        assert_eq!(check(&bad, Kind::Counter, None), Some(ErrorKind::BadArgument), "{bad:?}");
    }
    assert!(check_application("shop").is_ok());
    for bad in ["", &long[..65], "a\tb"] {
        assert!(check_application(bad).is_err());
    }
    let common = vec![("service".to_string(), "x".to_string())];
    assert!(check_labels(&common, &common).is_err(), "the application has that label");
}

#[test]
fn shapes_and_bounds_are_checked() {
    let metric = Metric::new("a");
    for (lowest, highest, precision) in [(0, 0, 0), (0, 64, 0), (1, 63, 2), (6, 63, 6), (0, 63, 5)]
    {
        let bad = metric.clone().shape(Shape { lowest, highest, precision });
        assert_eq!(check(&bad, Kind::Histogram, None), Some(ErrorKind::BadArgument), "{bad:?}");
        assert_eq!(check(&bad, Kind::Gauge, None), None, "other kinds ignore it");
    }
    let large = metric.clone().shape(Shape { lowest: 5, highest: 63, precision: 5 });
    assert_eq!(check(&large, Kind::Histogram, None), Some(ErrorKind::BadArgument), "1,858 buckets");
    let many: Vec<f64> = (0..503).map(f64::from).collect();
    for bad in [&[][..], &[1.0, 1.0], &[2.0, 1.0], &[f64::NAN], &[f64::INFINITY], &many] {
        assert_eq!(check(&metric, Kind::Histogram, Some(bad)), Some(ErrorKind::BadArgument));
    }
    assert_eq!(check(&metric, Kind::Histogram, Some(&many[1..])), None);
}

#[test]
fn quantiles_are_checked() {
    let metric = Metric::new("a").unit(f64::NAN); // which summaries ignore
    for good in [&[][..], &[0.0, 0.5, 1.0], &[0.999]] {
        assert_eq!(check(&metric, Kind::Summary, Some(good)), None);
        let made =
            Definition::check(&metric, Kind::Summary, false, Some(good), &CommonLabels::default())
                .unwrap();
        assert_eq!(usize::from(made.slots), good.len() + 2);
        let flags = if good.is_empty() { 0 } else { 2 };
        assert_eq!(made.encode()[..2], [5, flags]);
    }
    let many: Vec<f64> = (0..33).map(|n| f64::from(n) / 100.0).collect();
    for bad in [&[1.1][..], &[-0.1], &[f64::NAN], &[0.5, 0.5], &[0.9, 0.5], &many] {
        assert_eq!(check(&metric, Kind::Summary, Some(bad)), Some(ErrorKind::BadArgument));
    }
    let labelled = metric.label("quantile", "0.5");
    assert_eq!(check(&labelled, Kind::Summary, Some(&[0.5])), Some(ErrorKind::BadArgument));
    assert_eq!(check(&labelled.unit(1.0), Kind::Gauge, None), None);
}

fn labels(names: &[&str]) -> Labels {
    names.iter().map(|name| (name.to_string(), "env".to_string())).collect()
}

/// The names of the labels that a metric gets beside the application's, and its own value of `own`.
fn labels_of(metric: &Metric, common: &CommonLabels) -> Vec<String> {
    let made = Definition::check(metric, Kind::Counter, true, None, common).unwrap();
    let key = made.key();
    key.split('\0').skip(1).map(String::from).collect()
}

#[test]
fn the_environment_gives_way() {
    let environment = labels(&["z", "own", "common", "a"]);
    let common = CommonLabels { application: labels(&["common"]), environment };
    let metric = Metric::new("m").label("own", "1");
    assert_eq!(labels_of(&metric, &common), ["a", "env", "own", "1", "z", "env"]);
    let many = (0..14).fold(Metric::new("m"), |metric, n| metric.label(format!("b{n:02}"), "1"));
    let made = labels_of(&many, &common);
    assert_eq!((made.len(), &*made[28]), (30, "z"), "the first one has the last place");
    let full = labels_of(&many.label("more", "1"), &common);
    assert!(full.len() == 30 && !full.contains(&"env".to_string()), "{full:?}");
}

#[test]
fn the_environment_fills_no_group() {
    let environment = vec![("a".to_string(), "x".repeat(250)), ("b".to_string(), "x".repeat(250))];
    let common = CommonLabels { environment, ..CommonLabels::default() };
    let core = Core::new("/nonexistent/pages.sock".into(), "tested", common, None);
    let group = Group { memory: Some(core.make_group().unwrap()) };
    let make = |n: usize| {
        let metric = Metric::new(format!("counter_{n}")).help("x".repeat(400)).group(&group);
        core.make(&metric, Kind::Counter, true, None)
    };
    for n in (0..504).chain(0..504) {
        assert!(make(n).is_ok(), "metric {n}"); // the second time all are there
    }
    assert_eq!(make(504).err().map(|error| error.kind()), Some(ErrorKind::Full));
    assert_eq!((core.status().metrics, core.status().pages), (504, 1));
}
