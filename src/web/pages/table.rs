//! The tables of pages: each column is stated once, with its head, and what it has in each row.

use maud::{Markup, Render, html};

/// A table of rows, which can be scrolled sideways if it does not fit.
pub(super) struct Table<'a, R> {
    /// What the table is about, for people who do not see it.
    label: String,
    rows: Vec<&'a R>,
    columns: Vec<Column<'a, R>>,
}

struct Column<'a, R> {
    head: Markup,
    /// The classes of the head and the cells: `num` for numbers, `wide` for what narrow screens leave out.
    class: &'static str,
    /// Whether the cells are the heads of their rows.
    is_name: bool,
    cell: Box<dyn Fn(&'a R) -> Markup + 'a>,
}

impl<'a, R> Table<'a, R> {
    /// A table of these rows, without columns yet.
    pub(super) fn of(label: &str, rows: impl IntoIterator<Item = &'a R>) -> Self {
        Self {
            label: label.to_owned(),
            rows: rows.into_iter().collect(),
            columns: Vec::new(),
        }
    }

    /// Adds the column that names the rows.
    pub(super) fn name<C: Render>(self, head: &str, cell: impl Fn(&'a R) -> C + 'a) -> Self {
        self.column(head, "", true, cell)
    }

    /// Adds a column of texts.
    pub(super) fn text<C: Render>(self, head: &str, cell: impl Fn(&'a R) -> C + 'a) -> Self {
        self.column(head, "", false, cell)
    }

    /// Adds a column of texts that narrow screens leave out.
    pub(super) fn wide_text<C: Render>(self, head: &str, cell: impl Fn(&'a R) -> C + 'a) -> Self {
        self.column(head, "wide", false, cell)
    }

    /// Adds a column of numbers.
    pub(super) fn num<C: Render>(self, head: &str, cell: impl Fn(&'a R) -> C + 'a) -> Self {
        self.column(head, "num", false, cell)
    }

    /// Adds a column of numbers that narrow screens leave out.
    pub(super) fn wide_num<C: Render>(self, head: &str, cell: impl Fn(&'a R) -> C + 'a) -> Self {
        self.column(head, "num wide", false, cell)
    }

    /// Explains the head of the last column.
    pub(super) fn explained(mut self, title: &str) -> Self {
        if let Some(column) = self.columns.last_mut() {
            column.head = html! { abbr title=(title) { (column.head) } };
        }
        self
    }

    /// Removes the last column unless it is shown.
    pub(super) fn only_if(mut self, is_shown: bool) -> Self {
        if !is_shown {
            self.columns.pop();
        }
        self
    }

    fn column<C: Render>(
        mut self,
        head: &str,
        class: &'static str,
        is_name: bool,
        cell: impl Fn(&'a R) -> C + 'a,
    ) -> Self {
        self.columns.push(Column {
            head: html! { (head) },
            class,
            is_name,
            cell: Box::new(move |row| cell(row).render()),
        });
        self
    }
}

impl<R> Render for Table<'_, R> {
    fn render(&self) -> Markup {
        let class = |class: &'static str| (!class.is_empty()).then_some(class);
        html! {
            div.scroll role="region" aria-label=(self.label) tabindex="0" {
                table {
                    thead {
                        tr {
                            @for column in &self.columns { th class=[class(column.class)] scope="col" { (column.head) } }
                        }
                    }
                    tbody {
                        @for &row in &self.rows {
                            tr {
                                @for column in &self.columns {
                                    @match column.is_name {
                                        true => th class=[class(column.class)] scope="row" { ((column.cell)(row)) },
                                        false => td class=[class(column.class)] { ((column.cell)(row)) },
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_its_head_and_a_cell_in_each_row() {
        let rows = ["<b>", "c"];
        let table = Table::of("Words \"a\"", &rows)
            .name("Word", |word| *word)
            .wide_num("Length", |word| word.len())
            .explained("In bytes")
            .text("Not shown", |_| "x")
            .only_if(false);
        assert_eq!(
            table.render().into_string(),
            "<div class=\"scroll\" role=\"region\" aria-label=\"Words &quot;a&quot;\" tabindex=\"0\"><table>\
             <thead><tr><th scope=\"col\">Word</th><th class=\"num wide\" scope=\"col\">\
             <abbr title=\"In bytes\">Length</abbr></th></tr></thead>\
             <tbody><tr><th scope=\"row\">&lt;b&gt;</th><td class=\"num wide\">3</td></tr>\
             <tr><th scope=\"row\">c</th><td class=\"num wide\">1</td></tr></tbody></table></div>"
        );
    }
}
