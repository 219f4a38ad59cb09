//! What forces the round-trip tests to cover every kind of request and reply.

/// Defines `$name()`, which draws values of the enum `$type`: for each pattern, with this weight, those of the
/// strategy behind it. The patterns must cover the enum, so that a new variant does not compile before it has a
/// strategy, and a strategy must draw only what its pattern matches.
macro_rules! strategy_of_every_variant {
    ($name:ident -> $type:ty { $($weight:literal: $pattern:pat => $strategy:expr,)+ }) => {
        fn $name() -> impl Strategy<Value = $type> {
            fn covered(value: &$type) {
                match value {
                    $($pattern => {})+
                }
            }
            prop::strategy::Union::new_weighted(vec![$((
                $weight,
                $strategy
                    .prop_map(|value| {
                        assert!(matches!(&value, $pattern), "{value:?} is of another pattern");
                        covered(&value);
                        value
                    })
                    .boxed(),
            )),+])
        }
    };
}
