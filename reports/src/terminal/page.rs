//! The page that sections write on: the one place where text meets styles. Everything put on it is neutralised, and cut at its width.

use crate::text;
use anstyle::{AnsiColor, Style};

pub(super) const PLAIN: Style = Style::new();
pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const RED: Style = AnsiColor::Red.on_default().bold();
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(super) const CYAN: Style = AnsiColor::Cyan.on_default();

/// No line is longer, whatever the width; also the longest line that is offered for pasting.
pub(super) const LONGEST: usize = 4096;

/// Below this a table is not readable, so a narrower terminal wraps by itself.
const NARROWEST: usize = 40;

/// The most lines that a text of one paragraph takes.
const PARAGRAPH: usize = 12;

pub(super) struct Page {
    out: String,
    colour: bool,
    width: usize,
}

/// One line in the making. A span can hold no line break and no control character.
#[derive(Default)]
pub(super) struct Line {
    spans: Vec<(Style, String)>,
}

impl Page {
    /// `width` 0 is no limit but [`LONGEST`].
    pub(super) fn new(colour: bool, width: usize) -> Self {
        let width = if width == 0 { LONGEST } else { width.clamp(NARROWEST, LONGEST) };
        Page { out: String::new(), colour, width }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Whether these texts and `more` characters fit on one line.
    pub(super) fn holds(&self, more: usize, texts: &[&str]) -> bool {
        more + texts.iter().map(|text| text::safe(text).chars().count()).sum::<usize>() <= self.width
    }

    /// A line that is cut at the width of the page.
    pub(super) fn line(&mut self, line: Line) {
        let width = self.width;
        self.put(line.cut(width));
    }

    /// A line to paste or to read whole; a narrow terminal wraps it.
    pub(super) fn whole(&mut self, line: Line) {
        self.put(line.cut(LONGEST));
    }

    /// A paragraph, wrapped between words.
    pub(super) fn text(&mut self, indent: usize, style: Style, text: &str) {
        let lines = text::wrap(text, self.width - indent);
        for line in lines.iter().take(PARAGRAPH) {
            self.line(Line::indent(indent).with(style, line));
        }
        if lines.len() > PARAGRAPH {
            self.line(Line::indent(indent).with(DIM, format!("… +{} lines", lines.len() - PARAGRAPH)));
        }
    }

    /// An empty line between two parts; none at the top.
    pub(super) fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// The head of a section: a word to look for, and what it means.
    pub(super) fn section(&mut self, style: Style, word: &str, meaning: &str) {
        self.gap();
        self.whole(Line::new().with(style.bold(), word).with(DIM, format!("  {meaning}")));
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    fn put(&mut self, line: Line) {
        for (style, text) in line.trimmed().spans {
            if self.colour && style != PLAIN {
                self.out.extend([style.render().to_string(), text, style.render_reset().to_string()]);
            } else {
                self.out.push_str(&text);
            }
        }
        self.out.push('\n');
    }
}

impl Line {
    pub(super) fn new() -> Self {
        Line::default()
    }

    pub(super) fn indent(columns: usize) -> Self {
        Line::new().plain(" ".repeat(columns))
    }

    pub(super) fn plain(self, text: impl AsRef<str>) -> Self {
        self.with(PLAIN, text)
    }

    pub(super) fn with(mut self, style: Style, text: impl AsRef<str>) -> Self {
        self.spans.push((style, text::safe(text.as_ref()).into_owned()));
        self
    }

    fn length(&self) -> usize {
        self.spans.iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// At most `width` characters, the mark of the cut included.
    fn cut(mut self, width: usize) -> Self {
        let length = self.length();
        if length <= width {
            return self;
        }
        let mark = "… +".chars().count() + length.to_string().len();
        let keep = width.saturating_sub(mark);
        let mut room = keep;
        for (_, text) in &mut self.spans {
            let kept = text.chars().take(room).collect::<String>();
            room -= kept.chars().count();
            *text = kept;
        }
        self.with(DIM, format!("… +{}", length - keep))
    }

    /// Without blanks at the end of the line.
    fn trimmed(mut self) -> Self {
        while let Some((_, text)) = self.spans.last_mut() {
            text.truncate(text.trim_end().len());
            if !text.is_empty() {
                break;
            }
            self.spans.pop();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(page: Page) -> String {
        page.finish()
    }

    #[test]
    fn a_cut_line_fits_and_says_how_much_is_gone() {
        let mut page = Page::new(false, 40);
        page.line(Line::indent(2).with(RED, "r".repeat(30)).plain("p".repeat(8)));
        page.line(Line::indent(2).with(RED, "r".repeat(30)).plain("p".repeat(9)));
        assert_eq!(written(page), format!("  {}{}\n  {}{}… +6\n", "r".repeat(30), "p".repeat(8), "r".repeat(30), "p".repeat(3)));
    }

    #[test]
    fn colour_is_added_and_never_let_through() {
        let mut page = Page::new(true, 80);
        page.line(Line::new().with(RED, "\u{1b}[32mgood\n").plain("x"));
        assert_eq!(written(page), "\u{1b}[1m\u{1b}[31m\\u{1b}[32mgood\\n\u{1b}[0mx\n");
    }

    #[test]
    fn gaps_are_single_and_blanks_at_the_end_go() {
        let mut page = Page::new(false, 80);
        page.gap();
        page.line(Line::new().plain("a  ").with(BOLD, "  "));
        page.gap();
        page.gap();
        page.line(Line::new().plain("b"));
        assert_eq!(written(page), "a\n\nb\n");
    }

    #[test]
    fn a_paragraph_is_bounded() {
        let mut page = Page::new(false, 40);
        page.text(4, PLAIN, &"word ".repeat(1000));
        let text = written(page);
        assert_eq!(text.lines().count(), PARAGRAPH + 1);
        assert!(text.ends_with("lines\n") && text.lines().all(|line| line.chars().count() <= 40), "{text}");
    }
}
