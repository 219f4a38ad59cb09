//! Enums whose variants have one text each.

/// Defines an enum each of whose variants has one word, or one text: in files, on the line and for people.
#[macro_export]
macro_rules! worded {
    (
        $(#[$about:meta])*
        $visible:vis enum $name:ident {
            $( $(#[$about_variant:meta])* $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$about])*
        $visible enum $name {
            $( $(#[$about_variant])* $variant, )+
        }

        impl $name {
            /// All of them, in the order of their declaration.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word or text.
            pub fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )+
                }
            }

            /// The one with this word.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
