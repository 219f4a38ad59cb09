//! What makes the table of verbs to types and functions.

/// Defines [`Verb`](super::Verb) and the enums of requests. Each row is one request:
///
/// ```text
/// /// What it means.
/// <verb> "<WORD>": <variant>(<its value>) [<rights>, <charge>, <reply>] = <how it is read> => { <how it is written> }
/// ```
///
/// Instead of a value, a variant may have `{ fields }`, or neither. A row without a word is another request of a verb
/// that has one. A row without `=` is read by another row. Reading uses `$words`; writing uses `$line` and references to
/// the value or the fields, by their names. An enum `of { … }` also contains the requests of these enums.
macro_rules! verbs {
    ($words:ident, $line:ident; $(
        $(#[$about_type:meta])*
        $type:ident $( of { $( $(#[$about_part:meta])* $part:ident($part_type:ident), )+ } )? {
            $(
                $(#[$about:meta])*
                $verb:ident $($word:literal)?: $variant:ident
                $( ($value:ident: $value_type:ty) )?
                $( { $( $(#[$about_field:meta])* $field:ident: $field_type:ty, )+ } )?
                [$rights:ident, $charge:ident, $reply:ident]
                $( = $read:expr )?
                => $write:block
            )+
        }
    )+) => {
        /// The first word of a request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Verb {
            $($($( #[doc = $word] $verb, )?)+)+
        }

        impl Verb {
            /// All verbs, in the order of their numbers (`verb as usize`).
            pub const ALL: &[Self] = &[$($($( (Self::$verb, $word).0, )?)+)+];

            /// The verb, as it is sent.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($($( Self::$verb => $word, )?)+)+
                }
            }
        }

        $(
            $(#[$about_type])*
            pub enum $type {
                $(
                    $(#[$about])*
                    $variant $( ($value_type) )? $( { $( $(#[$about_field])* $field: $field_type, )+ } )?,
                )+
                $($( $(#[$about_part])* $part($part_type), )+)?
            }

            impl $type {
                pub(super) fn rule(&self) -> Rule {
                    match self {
                        $(
                            Self::$variant { .. } => Rule {
                                verb: Verb::$verb,
                                demand: Demand { rights: $rights, charge: Charge::$charge },
                                reply: ReplyRule::$reply,
                            },
                        )+
                        $($( Self::$part(request) => request.rule(), )+)?
                    }
                }

                /// Reads the arguments of a verb; `None` if it is that of other requests.
                pub(super) fn read(verb: Verb, $words: &mut Words) -> Result<Option<Self>, Refusal> {
                    $($(
                        if let Some(request) = $part_type::read(verb, $words)? {
                            return Ok(Some(Self::$part(request)));
                        }
                    )+)?
                    Ok(Some(match verb {
                        $($( Verb::$verb => $read, )?)+
                        _ => return Ok(None),
                    }))
                }

                pub(super) fn put_arguments(&self, $line: &mut WordWriter<'_>) {
                    match self {
                        $( Self::$variant { $( 0: $value )? $( $($field,)+ )? } => $write, )+
                        $($( Self::$part(request) => request.put_arguments($line), )+)?
                    }
                }
            }
        )+
    };
}
