//! Tables of functions: how a reference implementation keeps its decisions replaceable.
//!
//! A table is a struct whose fields are shared closures and whose `Default` is the reference. A field can be replaced, or wrapped by
//! cloning the original first, so several changes combine without knowing each other.

/// Declares a table. Each field names its arguments, its result and the reference function.
macro_rules! table {
    (
        $(#[$about:meta])*
        $name:ident {
            $( $(#[$doc:meta])* $field:ident : fn($($arg:ty),* $(,)?) -> $ret:ty = $reference:path; )*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone)]
        pub(crate) struct $name {
            $( $(#[$doc])* pub(crate) $field: std::sync::Arc<dyn Fn($($arg),*) -> $ret + Send + Sync>, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: std::sync::Arc::new($reference), )* }
            }
        }
    };
}

pub(crate) use table;
