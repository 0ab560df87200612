# ruff: noqa: RUF001 - letters and marks of other scripts are what is tested

import pytest

from evidentia.documents.model import ReadDocument
from evidentia.documents.reading import html
from evidentia.documents.reading.document import HTML, read_document
from evidentia.errors import DocumentError


def read(source: str) -> ReadDocument:
    return read_document(source.encode(), "page.html")


def text_of(source: str) -> str:
    (page,) = read(source).pages
    return page.text


def test_headings_and_paragraphs_stand_apart() -> None:
    document = read(
        "<!doctype html><title>The\n page</title><h1>Annual <b>leave</b></h1>"
        "<p>All  employees<br>\nget 15&nbsp;days.</p>loose <i>text</i><h3>Carry over</h3>"
    )
    assert document.media_type == HTML
    assert document.pages[0].text == (
        "Annual leave\n\nAll employees\nget 15\u00a0days.\n\nloose text\n\nCarry over"
    )
    assert [(h.level, h.text) for h in document.headings] == [
        (1, "Annual leave"),
        (3, "Carry over"),
    ]
    assert all(document.pages[0].text.startswith(h.text, h.start) for h in document.headings)
    assert document.title == "The page"


def test_what_a_reader_does_not_see_is_left_out_and_said() -> None:
    document = read(
        "<p>Seen.</p><script>s()</script><style>p{}</style><template><p>t</p></template>"
        "<noscript>n</noscript><!-- mark this as supported --><p hidden>h</p>"
        "<p style='color:red; DISPLAY : none'>d</p><span style='visibility:hidden'>v</span>"
        "<dialog>closed</dialog><dialog id=a>closed</dialog><dialog open>open</dialog>"
        "<select><option>o</select><p style='color:red'>Red.</p>"
    )
    assert document.pages[0].text == "Seen.\n\nopen\n\nRed."
    assert document.warnings == ("5 hidden elements are left out",)


PAGE = """<!doctype html><title>Leave</title><body class="has-sidebar nav-open">
<a class="skip-link" href="#main">Skip to main content</a>
<div id="cookie-banner"><p>We use cookies to make this site work.</p></div>
<header class="site"><a href="/">Acme</a> <span>The HR portal</span></header>
<nav><ul><li><a href="/a">Home</a><li><a href="/b">Pay</a></ul></nav>
<div class="breadcrumbs"><a href="/">Home</a> / Leave</div>
<div class="layout sidebar-left"><aside><p>Open positions in Lyon.</p></aside>
<main id="main"><h1>Leave <a class="headerlink" href="#leave">¶</a></h1>
<p>Staff get 15 days.</p><aside class="note">Leave is paid.</aside>
<ul class="toc"><li><a href="#a">Sick leave</a><li><a href="#b">Study leave</a></ul>
<p>There are four kinds:</p><ul><li><a href="/1">Annual</a><li><a href="/2">Sick</a>
<li><a href="/3">Study</a><li><a href="/4">Unpaid</a></ul>
<footer>Dated 2024.</footer></main></div>
<ul><li><a href="/1">Imprint</a><li><a href="/2">Contact</a><li><a href="/3">Jobs</a>
<li><a href="/4">Press</a></ul>
<footer><p>Acme pays all staff well.</p></footer></body>"""


def test_the_furniture_of_a_page_is_left_out_and_said() -> None:
    document = read(PAGE)
    assert document.pages[0].text == (
        "Leave\n\nStaff get 15 days.\n\nLeave is paid.\n\nThere are four kinds:\n\n"
        "- Annual\n- Sick\n- Study\n- Unpaid\n\nDated 2024."
    )
    assert document.warnings == (
        "10 pieces of page furniture (menus, footers and the like) are left out",
    )


@pytest.mark.parametrize(
    "furniture",
    [
        "<div role=navigation>Home</div>",
        "<div role=' Banner '>Acme</div>",
        "<div role=contentinfo>Acme</div>",
        "<div role=complementary>Acme</div>",
        "<search>Find</search>",
        "<div class='site-footer'>Acme</div>",
        "<ul class=pagination><li>1<li>2</ul>",
        "<div id=sidebar><p>Acme</p></div>",
        "<p class=menu><a>Home</a> <a>Pay</a></p>",
        "<a href='#top'>Back to top</a>",
        "<div class=social-links>Follow us</div>",
        "<section><footer><a>Home</a> <a>Pay</a></footer></section>",
    ],
)
def test_furniture_is_known_by_role_element_name_and_links(furniture: str) -> None:
    document = read(f"<p>Staff get 15 days.</p>{furniture}<p>Leave is paid.</p>")
    assert document.pages[0].text == "Staff get 15 days.\n\nLeave is paid."
    assert document.warnings == (
        "1 piece of page furniture (menus, footers and the like) is left out",
    )


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<div class=menu><p>Soup is 5 euros.</p></div>", "Soup is 5 euros."),
        ("<div class=sidebar><main>Leave is paid.</main></div>", "Leave is paid."),
        ("<div class=nav><h1>Leave</h1>Leave is paid.</div>", "Leave\n\nLeave is paid."),
        ("<header><h2>Leave</h2>Leave is paid.</header>", "Leave\n\nLeave is paid."),
        ("<article><header>By Amal</header>Text.</article>", "By Amal\n\nText."),
        ("<body class=sidebar>Leave is paid.", "Leave is paid."),
        (
            "Kinds:<ul><li><a>A</a><li><a>B</a><li><a>C</a><li><a>D</a></ul>",
            "Kinds:\n\n- A\n- B\n- C\n- D",
        ),
        ("<ul><li><a>A</a><li><a>B</a></ul>", "- A\n- B"),
        ("<p>see <a>the rules</a></p>", "see the rules"),
        ("<nav><ul><li><a>Home</a><li><a>Pay</a></ul></nav>", "- Home\n- Pay"),
    ],
)
def test_what_may_be_the_pages_text_is_read(source: str, text: str) -> None:
    assert text_of(f"<html>{source}") == text
    assert read(f"<html>{source}").warnings == ()


def test_a_list_of_links_is_furniture_only_without_a_line_that_leads_it_in() -> None:
    links = "<ul><li><a>A</a><li><a>B</a><li><a>C</a><li><a>D</a></ul>"
    assert text_of(f"<p>Staff get 15 days.</p><!-- x --><p> </p>{links}") == "Staff get 15 days."
    assert "- A" in text_of(f"<p>Kinds:</p> <p></p>{links}")
    assert text_of(f"{links}<p>Staff get 15 days.</p>") == "Staff get 15 days."
    long = "Staff of all grades get fifteen days of annual leave in each year"
    assert "- Staff of" in text_of("<ul>" + f"<li><a>{long}</a>" * 4 + "</ul><p>Text.</p>")


def test_what_stands_around_furniture_is_parted() -> None:
    assert text_of("<h2>Leave<a href='#x'>¶</a>of staff</h2>") == "Leave of staff"


def test_lists_keep_their_marks() -> None:
    assert text_of(
        "<p>Before</p><ul><li>one<li>two<ol start=3><li>a<li><p>b</p><p>more of b</p></ol>"
        "<li>three</ul><ol start=x><li>first</ol><li>alone</li>"
        "<dl><dt>Term<dd>Meaning</dl>"
    ) == (
        "Before\n\n- one\n- two\n  3. a\n  4. b\nmore of b\n- three\n\n1. first\n\n- alone\n\n"
        "Term\nMeaning"
    )


def test_a_heading_in_a_list_has_no_mark() -> None:
    document = read("<ul><li><h2>Title</h2><p>text</ul>")
    assert [h.text for h in document.headings] == ["Title"]


def test_a_table_of_data_is_one_line_per_row() -> None:
    assert text_of(
        "<table><caption>Days</caption><thead><tr><th>Grade<th>Days</thead>"
        "<tr><td>A<td><p>15</p><p>a year</p></tr><tr><td> <td></tr><tr><td>B<td>20</table>after"
    ) == ("Days\n\nGrade | Days\nA | 15 a year\nB | 20\n\nafter")


def test_a_table_that_only_places_things_is_read_through() -> None:
    document = read(
        "<table><tr><td><h1>Policy</h1><p>Text.</p><td><table><tr><td>a<td>b</table></table>"
    )
    assert document.pages[0].text == "Policy\n\nText.\n\na | b"
    assert [h.text for h in document.headings] == ["Policy"]


def test_preformatted_text_keeps_its_lines() -> None:
    assert text_of("<pre>\nif x:\n    y\n\n</pre><p>after  it") == "if x:\n    y\n\nafter it"


def test_the_pages_own_dates_and_language_are_read() -> None:
    document = read(
        '<html lang="ar-SA"><meta property="article:published_time" content="2024-03-04T10:00Z">'
        '<meta name="Last-Modified" content="soon"><meta name="dcterms.modified" '
        'content="2024-05-06"><meta name=revised><meta charset=utf-8><p>15'
    )
    assert (document.created, document.modified) == ("2024-03-04", "2024-05-06")
    assert document.language == "ar"
    assert document.title is None


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("windows-1256", "cp1256", "سياسة الإجازات"),
        ("ISO-8859-1", "cp1252", "Congés payés – 15 €"),
        ("unheard-of", "utf-8", "Congés"),
        ("utf-16", "utf-8", "Congés"),
    ],
)
def test_a_declared_encoding_is_followed(label: str, codec: str, text: str) -> None:
    source = f'<html><meta http-equiv=x content="text/html; charset={label}"><p>{text}</p>'
    assert read_document(source.encode(codec), "a.html").pages[0].text == text


def test_a_byte_order_mark_outranks_what_is_declared() -> None:
    source = "<html><meta charset=windows-1256><p>Congés</p>".encode("utf-8-sig")
    assert read_document(source, "a.html").pages[0].text == "Congés"


def test_a_wrong_declaration_names_the_byte() -> None:
    source = b"<html><meta charset=euc-kr><p>\xff\xff</p>"
    with pytest.raises(DocumentError, match=r"says that it is euc-kr and is not .byte 0xFF at pos"):
        read_document(source, "a.html")


@pytest.mark.parametrize(
    "source",
    [
        "<div>" * 600,
        "<div><template></div></template>" * 600,
        "<div></p>" * 600,
        "<b>" + "<x>" * 100 + "</b>" * 2 + "<i>" * 500,
    ],
)
def test_elements_nested_too_deep_are_refused(source: str) -> None:
    with pytest.raises(DocumentError, match="nested more than 512 deep"):
        read(f"<html>{source}text")


def test_too_many_elements_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MAX_ELEMENTS", 100)
    with pytest.raises(DocumentError, match="more than 100 HTML tags: split the page"):
        read("<html>" + "<p>text</p>" * 60)


@pytest.mark.parametrize(
    "attributes",
    [
        " ".join(f"a{number}" for number in range(257)),
        " ".join(f"a{number}='>'" for number in range(257)),
        "/".join(f'a{number} = ">"' for number in range(257)),
        "".join(f'a{number}=">"' for number in range(257)),
        " ".join(f"a{number}=<p" for number in range(257)),
        "\n".join(f"=a{number}" for number in range(514)),
    ],
)
def test_a_tag_of_too_many_attributes_is_refused(attributes: str) -> None:
    with pytest.raises(DocumentError, match="an HTML tag with more than 256 attributes"):
        read(f"<html><p {attributes}>text")


def test_attributes_that_a_page_may_have_do_not_count_as_too_many() -> None:
    many = " ".join(f'data-{number} = "a > b"' for number in range(250))
    long = f"title='{'word ' * 9_000}'"
    words = "<b>in</b> " + "a=b " * 9_000
    assert text_of(f"<html><p {many} {long} x{'y' * 9_000}>{words}</p>").startswith("in a=b")


def test_elements_that_are_closed_do_not_count_as_deep() -> None:
    assert text_of("<html>" + "<div><span>x</span><br></div>" * 3_000).count("x") == 3_000


@pytest.mark.parametrize(
    "source",
    [
        "<script>" + "if (a<b) c<d;" * 600 + "</SCRIPT >",
        "<style>" + "<div>" * 600 + "</style>",
        "<!-- " + "<div>" * 600 + " --><!--><!-- --!>",
        "<p>last</p><script>" + "<div>" * 600,
        "<p>last</p><!-- " + "<div>" * 600,
    ],
)
def test_what_looks_like_tags_in_scripts_and_comments_does_not_count(source: str) -> None:
    assert text_of(f"<html><p>first</p>{source}").startswith("first")


def test_a_comment_that_ends_at_once_hides_nothing() -> None:
    with pytest.raises(DocumentError, match="nested more than 512 deep"):
        read("<html><!-->" + "<div>" * 600 + "text")


def test_a_page_without_text_is_empty() -> None:
    with pytest.raises(DocumentError, match="an empty document: it has no text"):
        read("<html><script>x()</script>")
