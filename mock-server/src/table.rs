//! Tables of functions: how a reference implementation keeps its decisions replaceable.
//!
//! A table is a struct whose fields are shared closures and whose `Default` is the reference. A field can be replaced, or wrapped by
//! cloning the original first, so several changes combine without knowing each other.

use crate::applied::Applied;
use std::sync::Arc;

/// Declares a table. Each field names its arguments, its result and the reference function.
macro_rules! table {
    (
        $(#[$about:meta])*
        $name:ident $(<$($of:ident : $bound:ident),+>)? {
            $( $(#[$doc:meta])* $field:ident : fn($($arg:ty),* $(,)?) -> $ret:ty = $reference:path; )*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone)]
        pub(crate) struct $name $(<$($of),+>)? {
            $( $(#[$doc])* pub(crate) $field: std::sync::Arc<dyn Fn($($arg),*) -> $ret + Send + Sync>, )*
        }

        impl $(<$($of: $bound + 'static),+>)? Default for $name $(<$($of),+>)? {
            fn default() -> Self {
                Self { $( $field: std::sync::Arc::new($reference), )* }
            }
        }
    };
}

pub(crate) use table;

/// Puts something in the place of one function of a table, made from the original and the counter.
pub(crate) fn wrap<F: ?Sized>(field: &mut Arc<F>, applied: &Applied, make: impl FnOnce(Arc<F>, Applied) -> Arc<F>) {
    *field = make(Arc::clone(field), applied.clone());
}
