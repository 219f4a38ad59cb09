//! `/teams`: the forms of the page without scripts, and in a browser.

mod browser;
mod evening;
mod lists;
mod signed;
mod stored;
mod who;
