// <evidentia-citation>: a claim's verdict, and the passages it rests on, in anybody's page.
// Text is set as text, styles are a constructed sheet: no CSP needs an exception.
const WORDS = {
  supported: ["Supported", "مدعوم"],
  weak: ["Weak", "ضعيف"],
  probable: ["Probable", "مرجّح"],
  partial: ["Partial match", "تطابق جزئي"],
  contradicted: ["Contradicted", "متناقض"],
  not_found: ["Not found", "غير موجود"],
  not_judged: ["Not judged", "لم يُحكم عليه"],
  supports: ["Supports it", "يدعمه"],
  partly: ["Supports part of it", "يدعم جزءًا منه"],
  contradicts: ["Contradicts it", "يناقضه"],
  nearest: ["Nearest passage, no evidence", "أقرب مقطع، وليس دليلًا"],
  confidence: ["Confidence", "الثقة"],
  page: ["page", "صفحة"],
  says: ["It says", "يقول"],
  more: ["More passages", "مقاطع أخرى"],
  none: ["No passage bears on it.", "لا مقطع يتعلق به."],
  provisional: ["still being checked", "قيد التحقق"],
  failed: ["The evidence could not be loaded.", "تعذّر تحميل الدليل."],
  close: ["Close", "إغلاق"],
};
const MARKS = { supported: "✓", weak: "?", contradicted: "✗", not_found: "○", not_judged: "!" };
const CSS = `
:host{--k:light-dark(#4a525c,#b6bec8);--g:light-dark(#e9ecf0,#2a3037)}
:host([verdict=supported]){--k:light-dark(#125c34,#84d9a7);--g:light-dark(#e3f3ea,#15301f)}
:host([verdict=weak]){--k:light-dark(#734600,#f2c566);--g:light-dark(#fdf0d5,#372b10)}
:host([verdict=contradicted]){--k:light-dark(#9c1420,#ffa19d);--g:light-dark(#fde8e8,#411c1e)}
:host([verdict=not_judged]){--k:light-dark(#55447f,#c5b6f0);--g:light-dark(#eeeaf7,#2b2540)}
:host([theme=light]){color-scheme:light}:host([theme=dark]){color-scheme:dark}
*{box-sizing:border-box}
slot{display:inline;text-decoration:underline 2px var(--k);text-underline-offset:.25em}
button{font:inherit;color:inherit;background:none;border:1px solid transparent;border-radius:4px;cursor:pointer;min-inline-size:24px;min-block-size:24px}
button:hover{border-color:currentColor}
:focus-visible{outline:2px solid var(--k);outline-offset:2px}
#b,.v{color:var(--k);background:var(--g);border-radius:4px;padding:0 .45em;font-weight:600;font-size:.85em}
#b{margin-inline:.3em .1em}
:host([state=provisional]) #b{border:1px dashed}
#p{white-space:normal;inline-size:min(26rem,100vw - 1rem);max-block-size:min(30rem,100vh - 1rem);overflow:auto;padding:1rem;font:400 .9375rem/1.55 system-ui,"Segoe UI",Roboto,"Noto Sans","Noto Sans Arabic",sans-serif;text-align:start;overflow-wrap:anywhere;color:light-dark(#15181c,#e7eaee);background:light-dark(#fff,#1a1e22);border:1px solid light-dark(#dfe3e8,#454e58);border-radius:10px;box-shadow:0 8px 32px #0003}
@supports (position-area:end){#p{inset:auto;margin:.4rem 0;position-area:block-end span-inline-end;position-try:flip-block,flip-inline,flip-block flip-inline}}
header{display:flex;align-items:center;gap:.6rem}
header button{margin-inline-start:auto}
.m{color:light-dark(#565f6a,#a4adb8);font-size:.8125rem}
.t{font-weight:600;margin:.7rem 0 0}
figure{margin:.8rem 0 0}
figure~figure{--k:#888;--g:#8883}
blockquote{margin:.3rem 0;padding:.5rem .75rem;border-inline-start:3px solid var(--k);background:light-dark(#f6f7f9,#22272d)}
mark{background:var(--g);color:inherit}
@media(forced-colors:active){button,.v{border:1px solid}mark{background:Mark;color:MarkText}}`;
const own = (table, key) => (Object.hasOwn(table, key) ? table[key] : "");
let sheet;

function element(name, text, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.append(text, ...inside);
  return made;
}

export class EvidentiaCitation extends HTMLElement {
  static observedAttributes = ["src", "data-claim", "claim", "verdict", "confidence", "passage", "source", "page", "lang"];
  #claim;
  #asked = 0;
  #button = element("button", "", { id: "b", type: "button", "aria-haspopup": "dialog" });
  #panel = element("div", "", { id: "p", role: "dialog", popover: "", tabindex: -1 });

  constructor() {
    super();
    if (!sheet) (sheet = new CSSStyleSheet()).replaceSync(CSS);
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet];
    root.append(element("slot", ""), this.#button, this.#panel);
    this.#button.popoverTargetElement = this.#panel;
    this.#panel.onbeforetoggle = ({ newState }) => {
      this.#panel.autofocus = newState === "open";
      if (newState === "open") this.#fill();
      else if (this.#panel.matches(":focus-within")) this.#button.focus();
    };
    this.#panel.ontoggle = () => (this.#panel.autofocus = false);
  }
  connectedCallback() {
    this.#draw();
    this.#load();
  }
  attributeChangedCallback(name) {
    if (!this.isConnected) return;
    if (name === "src") this.#load();
    this.#draw();
  }

  // A claim as a stream's part brings it (spec/v1/parts.md), or as attributes say.
  get claim() {
    return this.#claim ?? this.#told();
  }
  set claim(part) {
    this.#asked++;
    this.#claim = part;
    this.#draw();
  }
  #told() {
    const at = (name) => this.getAttribute(name);
    try {
      if (at("data-claim")) return Object(JSON.parse(at("data-claim")));
    } catch {
      return {};
    }
    const stance = at("verdict") === "contradicted" ? "contradicts" : "";
    return {
      verdict: at("verdict"),
      text: at("claim"),
      confidence: at("confidence"),
      passages: at("passage") ? [{ stance, text: at("passage"), filename: at("source"), page: at("page") }] : [],
    };
  }

  // Of a server: /api/v1/ledgers/led_…/claims#clm_…
  async #load() {
    const src = this.getAttribute("src");
    const asked = ++this.#asked;
    if (!src) return;
    let found = { verdict: "not_judged", failed: true };
    try {
      const url = new URL(src, document.baseURI);
      const allowed = (this.getAttribute("allow-origin") ?? "").split(/\s+/);
      if (url.origin === location.origin || allowed.includes(url.origin)) {
        const reply = await fetch(url, { redirect: "error" });
        const { claims } = await reply.json();
        found = ofLedger(claims.find((one) => !url.hash || url.hash === `#${one.claim.id}`));
      }
    } catch {}
    if (asked === this.#asked) this.claim = found;
  }

  get #lang() {
    return /^ar\b/i.test(this.closest("[lang]")?.lang) ? 1 : 0;
  }
  #word(key) {
    return own(WORDS, key)[this.#lang] ?? "";
  }
  #draw() {
    const part = this.claim;
    const { verdict, support, state, text } = part;
    if (verdict && `${verdict}` !== this.getAttribute("verdict")) this.setAttribute("verdict", verdict);
    if (state) this.setAttribute("state", state);
    const name = this.#word(verdict === "weak" && support ? support : verdict);
    const said = state === "provisional" ? `${name}, ${this.#word(state)}` : name;
    this.#button.textContent = own(MARKS, verdict) || "·";
    this.#button.title = said;
    this.#button.ariaLabel = text ? `${said}: ${text}` : said;
    this.#panel.lang = this.#lang ? "ar" : "en";
    this.#panel.dir = this.#lang ? "rtl" : "ltr";
    this.#panel.ariaLabel = name;
    if (this.#panel.matches(":popover-open")) this.#fill();
  }
  #fill() {
    const { verdict, text, confidence, passages, passages_in_all: all, failed } = this.claim;
    const shown = Array.isArray(passages) ? passages : [];
    const close = element("button", "×", { type: "button", "aria-label": this.#word("close") });
    close.onclick = () => this.#panel.hidePopover();
    const percent = confidence != null && `${this.#word("confidence")} ${Math.round(confidence * 100)}%`;
    const name = element("span", `${own(MARKS, verdict)} ${this.#button.title}`, { class: "v" });
    this.#panel.replaceChildren(
      element("header", name, {}, element("span", percent || "", { class: "m" }), close),
      element("p", text ?? "", { class: "t", dir: "auto" }),
      ...shown.map((one) => this.#passage(one)),
    );
    if (!shown[0]) this.#panel.append(element("p", this.#word(failed ? "failed" : "none")));
    const more = all - shown.length;
    if (more > 0) this.#panel.append(element("p", `${this.#word("more")}: ${more}`, { class: "m" }));
  }
  #passage({ stance, text, quote, filename, page, heading, says }) {
    const [before, ...after] = quote ? `${text}`.split(quote) : [text];
    const said = element("blockquote", before, { dir: "auto" });
    if (after[0] != null) said.append(element("mark", quote), after.join(quote));
    const place = element("figcaption", "", { class: "m" });
    for (const one of [filename, page && `${this.#word("page")} ${page}`, heading])
      if (one) place.append(place.textContent && " · ", element("bdi", one));
    const lead = this.#word(stance) + (says ? ` · ${this.#word("says")} \u2068${says}\u2069` : "");
    return element("figure", element("div", lead, { class: "m" }), {}, said, place);
  }
}

function ofLedger({ claim, entry }) {
  const of = (stance, passage, quote, says) => ({
    stance,
    quote,
    says,
    text: passage.snippet,
    filename: passage.source.filename,
    page: passage.source.page_number,
    heading: passage.source.heading_path?.at(-1),
  });
  const stance = (one) => (one.contradicts ? "contradicts" : one.support_level === "full" ? "supports" : "partly");
  const found = entry.evidence
    .filter((one) => one.passage && (one.contradicts || one.support_level !== "none"))
    .map((one) => of(stance(one), one.passage, one.snippet, one.says));
  if (!found[0] && entry.nearest) found.push(of("nearest", entry.nearest));
  return {
    ...entry,
    text: claim.text,
    confidence: entry.confidence_score,
    passages: found.slice(0, 3),
    passages_in_all: found.length,
  };
}

if (!customElements.get("evidentia-citation")) customElements.define("evidentia-citation", EvidentiaCitation);
