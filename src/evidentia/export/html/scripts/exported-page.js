// An exported ledger or pack as one page: all that is shown is made here of the signed statement.

import { cryptography } from "./hashing.js";
import { Refused, parseJson, plainValue, fromBase64, utf8 } from "./reading.js";
import { readKey } from "./trail.js";
import { aroundEvidence, unescaped } from "./files.js";
import { unchecked } from "./checks.js";
import { directionOf, say } from "./words.js";
import { element, showReport } from "./showing.js";
import { keyTexts } from "./verify-page.js";

const LABELS = {
  en: {
    ledger: "Evidence ledger", pack: "Evidence pack", question: "Question", answer: "Answer", claims: "Claims", claim: "Claim", type: "Type",
    verdict: "Verdict", source: "Source", confidence: "Confidence", search: "Search claims and evidence", all: "All verdicts", shown: "{0} of {1} claims are shown.",
    supported: "supported", weak: "weak", contradicted: "contradicted", not_found: "not found", not_judged: "not judged",
    coverage: "Evidence coverage", flags: "Risks", questions: "Follow-up questions", documents: "Documents that are cited", left: "Not a claim",
    evidence: "Evidence", nearest: "Nearest passage (no evidence)", notes: "Notes", judge: "Judge", page: "page {0}", verification: "Verification",
    judged: "Judged", judges: "Judges", decision: "Decision", classes: "Classes", decided: "Decided", agent: "Agent", model: "Model",
    entity: "Entity", version: "Version", review: "Review", unreviewed: "Not reviewed", memo: "Memo", summary: "Summary", sources: "Sources", excerpt: "Excerpt",
    tools: "Tool calls", meant: "Meant", done: "Done", outcome: "Outcome", contradiction: "Contradiction: {0}", prompts: "Prompts", attachments: "Attachments",
    both: "Both languages", retrieved: "Retrieved", high: "High stakes", yes: "yes", no: "no", created: "Created", replaces: "Replaces", contexts: "Contexts",
    fact: "fact", policy: "policy", numeric: "numeric", definition: "definition",
    superseded: "This version was superseded: the log has a later one (version {0}).",
  },
  ar: {
    ledger: "دفتر الأدلة", pack: "حزمة أدلة", question: "السؤال", answer: "الإجابة", claims: "الادعاءات", claim: "الادعاء", type: "النوع",
    verdict: "الحكم", source: "المصدر", confidence: "الثقة", search: "ابحث في الادعاءات والأدلة", all: "كل الأحكام", shown: "يُعرض {0} من الادعاءات وعددها {1}.",
    supported: "مدعوم", weak: "ضعيف", contradicted: "مناقَض", not_found: "غير موجود", not_judged: "لم يُحكم عليه",
    coverage: "تغطية الأدلة", flags: "المخاطر", questions: "أسئلة للمتابعة", documents: "المستندات المستشهد بها", left: "ليس ادعاء",
    evidence: "الدليل", nearest: "أقرب مقطع (ليس دليلًا)", notes: "ملاحظات", judge: "الحَكَم", page: "صفحة {0}", verification: "التحقق",
    judged: "تاريخ الحكم", judges: "الحكّام", decision: "القرار", classes: "الفئات", decided: "تاريخ القرار", agent: "الوكيل", model: "النموذج",
    entity: "الجهة", version: "الإصدار", review: "المراجعة", unreviewed: "لم تُراجع", memo: "المذكرة", summary: "الملخص", sources: "المصادر", excerpt: "مقتطف",
    tools: "استدعاءات الأدوات", meant: "المقصود", done: "المنفَّذ", outcome: "النتيجة", contradiction: "تناقض: {0}", prompts: "الموجّهات", attachments: "المرفقات",
    both: "اللغتان", retrieved: "تاريخ الاسترجاع", high: "عالي الأهمية", yes: "نعم", no: "لا", created: "أُنشئت", replaces: "تحل محل", contexts: "السياقات",
    fact: "حقيقة", policy: "سياسة", numeric: "رقمي", definition: "تعريف",
    superseded: "استُبدل هذا الإصدار: في السجل إصدار لاحق (الإصدار {0}).",
  },
};

function label(lang, name, ...args) {
  return LABELS[lang][name].replace(/\{(\d)\}/g, (_, at) => String(args[Number(at)]));
}

/** Fill the page with the evidence that stands in it. */
export async function startExportedPage(root) {
  const evidence = utf8(unescaped(document.getElementById("evidence").textContent));
  const state = { lang: "en", memo: "both", keys: "", report: null, by: null };
  const more = () => [unchecked("rendering", "rendering.page")];
  let statement = null;
  try {
    const envelope = parseJson(evidence).get("envelope");
    statement = plainValue(parseJson(fromBase64(envelope.get("payload"))));
  } catch {
    statement = null; // the report below says what is wrong with it
  }
  const kind = /:ledger/.test(statement?.predicateType) ? "ledger" : "pack";

  async function verifyNow() {
    const keys = await Promise.all(keyTexts(state.keys).map(readKey));
    state.report = await aroundEvidence(evidence, keys, more());
    state.by = await cryptography();
  }

  function draw() {
    const { lang } = state;
    document.documentElement.lang = lang;
    document.documentElement.dir = directionOf(lang);
    const turn = element("button.ev-button", { type: "button", lang: lang === "en" ? "ar" : "en" }, say(lang, "ui.language"));
    turn.addEventListener("click", () => {
      state.lang = lang === "en" ? "ar" : "en";
      draw();
    });
    const shown = statement ? (kind === "ledger" ? ledgerParts(statement.predicate, lang) : packParts(statement.predicate, state, draw)) : null;
    if (shown) document.title = `${shown.title} · Evidentia`;
    root.replaceChildren(
      element("header.ev-head", {},
        element("div", {}, element("p.ev-quiet", {}, `Evidentia · ${label(lang, kind)}`)),
        element("div", {}, turn)),
      shown ? element("h1", { dir: "auto" }, shown.title) : "",
      headline(state, lang),
      ...(shown?.parts ?? []),
      verification(state, lang, verifyNow, draw),
    );
  }
  await verifyNow();
  draw();
  openWhilePrinting(root);
}

/** On paper nothing can be unfolded: what is folded is opened while the page is printed. */
function openWhilePrinting(root) {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...root.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of folded) one.open = false;
  });
}

function headline({ report }, lang) {
  const tone = { holds: "good", "does not hold": "bad" }[report.verdict] ?? "open";
  const superseded = report.later?.length ? element("p.warning", {}, label(lang, "superseded", report.later.at(-1).version)) : "";
  const code = report.verdict === "consistent, pages not compared" ? pageVerdict(report) : report.verdict;
  return element("div", {}, element(`p.ev-verdict.ev-${tone}`, { role: "status" }, say(lang, `verdict.${code}`)), superseded);
}

/** In a page, what is open beside the signer is the page itself: the verdict tells of the rest. */
function pageVerdict(report) {
  const open = report.checks.some((one) => one.holds === null && !one.unchecked);
  if (open) return "consistent, signer unknown";
  return report.checks.every((one) => one.holds || one.name === "rendering") ? "page" : "consistent, not all checked here";
}

function verification(state, lang, verifyNow, draw) {
  const field = element("textarea", { id: "ev-key", rows: 2, spellcheck: "false", dir: "ltr" });
  field.value = state.keys;
  const problem = element("p.warning", { role: "alert" });
  const again = element("button.ev-button", { type: "button" }, say(lang, "ui.again"));
  again.addEventListener("click", async () => {
    state.keys = field.value;
    try {
      await verifyNow();
      draw();
      document.getElementById("verification").scrollIntoView();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      problem.textContent = say(lang, error.code, error.args);
    }
  });
  const shown = { ...state.report, verdict: state.report.verdict === "consistent, pages not compared" ? pageVerdict(state.report) : state.report.verdict };
  return element("section", { id: "verification" },
    element("h2", {}, label(lang, "verification")),
    element("div.ev-field.key", {}, element("label", { for: "ev-key" }, say(lang, "ui.key")), field,
      element("p.ev-quiet", {}, say(lang, "ui.keyhint")), problem, again),
    showReport(shown, lang, state.by),
    element("section.ev-worth", {}, element("h2", {}, say(lang, "ui.worth")), element("p", {}, say(lang, "ui.worth.saved"))));
}

const texts = (...given) => given.filter(Boolean);
const dotted = (...given) => texts(...given).flatMap((one, at) => [at ? " · " : "", element("bdi", {}, one)]);
const percent = (share) => `${Math.round(share * 100)} %`;
const fields = (pairs) =>
  element("dl.fields", {}, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => [element("dt", {}, name), element("dd", {}, element("bdi", {}, value))]));
const list = (title, items) =>
  items.length ? element("section", {}, element("h2", {}, title), element("ul", {}, items.map((one) => element("li", { dir: "auto" }, one)))) : null;

// Ledgers

function ledgerParts(session, lang) {
  const { ledger } = session;
  const word = (name, ...args) => label(lang, name, ...args);
  const counts = element("ul.counts", {}, Object.entries(ledger.summary.by_verdict).filter(([, count]) => count)
    .map(([verdict, count]) => element(`li.${verdict}`, {}, `${word(verdict)}: ${count}`)),
    element("li", {}, `${word("coverage")}: ${percent(ledger.summary.evidence_coverage)}`));
  return {
    title: session.title || session.answer_name,
    parts: [
      fields([[word("question"), session.query], [word("judged"), ledger.created_at], [word("judges"), session.judges.join(", ")]]),
      counts,
      element("section", {}, element("h2", {}, word("answer")), markedAnswer(session)),
      claimTable(session, lang, word),
      list(word("flags"), ledger.risk_flags.map((flag) => `${flag.description}${flag.mitigation ? ` — ${flag.mitigation}` : ""}`)),
      list(word("questions"), ledger.follow_up_questions),
      list(word("documents"), session.documents.map((one) => `${texts(one.collection, one.filename).join("/")}, ${word("version")} ${one.version}`)),
      list(word("contexts"), (session.contexts ?? []).map((one) => texts(one.id, one.title).join(", "))),
    ].filter(Boolean),
  };
}

/** The answer, each claim underlined in its verdict's colour and leading to its row. */
function markedAnswer(session) {
  const letters = Array.from(session.answer);
  const verdicts = new Map(session.ledger.entries.map((entry, at) => [entry.claim_id, [entry.verdict, at + 1]]));
  const shown = element("div.answer", { dir: "auto" });
  let at = 0;
  const claims = session.claims.map((one) => ({ start: one.start, end: one.end, id: one.id })).sort((a, b) => a.start - b.start);
  for (const claim of claims) {
    if (claim.start < at) continue;
    const [verdict, number] = verdicts.get(claim.id);
    shown.append(letters.slice(at, claim.start).join(""),
      element(`a.${verdict}`, { href: `#claim-${number}` }, letters.slice(claim.start, claim.end).join("")));
    at = claim.end;
  }
  shown.append(letters.slice(at).join(""));
  return shown;
}

function claimTable(session, lang, word) {
  const { entries } = session.ledger;
  const rows = entries.map((entry, at) => claimRow(entry, at + 1, word));
  const told = element("p.ev-quiet", { role: "status" });
  const search = element("input", { type: "search", "aria-label": word("search"), placeholder: word("search") });
  const choice = element("select", { "aria-label": word("verdict") }, element("option", { value: "" }, word("all")),
    Object.keys(session.ledger.summary.by_verdict).map((verdict) => element("option", { value: verdict }, word(verdict))));
  function filter() {
    const wanted = search.value.trim().toLocaleLowerCase();
    let count = 0;
    rows.forEach((row, at) => {
      const hit = (!choice.value || entries[at].verdict === choice.value) && row.textContent.toLocaleLowerCase().includes(wanted);
      row.hidden = !hit;
      count += hit ? 1 : 0;
    });
    told.textContent = word("shown", count, entries.length);
  }
  search.addEventListener("input", filter);
  choice.addEventListener("change", filter);
  filter();
  const head = ["", "claim", "type", "verdict", "source"].map((name) => element("th", { scope: "col" }, name ? word(name) : "#"));
  return element("section", {}, element("h2", {}, word("claims")),
    element("div.filters", {}, search, choice), told,
    element("table.claims", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows)));
}

function claimRow(entry, number, word) {
  const where = entry.source_document;
  const place = where ? texts(where.filename, where.page_number && word("page", where.page_number), where.heading_path?.join(" › ")).join(", ") : "";
  const quotes = entry.evidence.length
    ? element("details", {}, element("summary", {}, word("evidence")),
        entry.evidence.map((match) => element("blockquote", { dir: "auto" }, match.snippet, element("footer.ev-quiet", {}, texts(match.passage?.source.filename, match.reason).join(" · ")))))
    : null;
  const nearest = entry.nearest
    ? element("details", {}, element("summary", {}, word("nearest")), element("blockquote", { dir: "auto" }, entry.nearest.snippet))
    : null;
  return element("tr", { id: `claim-${number}` },
    element("td.number", {}, String(number)),
    element("td", { dir: "auto" }, entry.claim_text, quotes, nearest, entry.notes ? element("p.ev-quiet", { dir: "auto" }, entry.notes) : null),
    element("td", {}, word(entry.claim_type)),
    element("td", {}, element(`span.badge.${entry.verdict}`, {}, word(entry.verdict)), element("div.ev-quiet", {}, percent(entry.confidence_score))),
    element("td", { dir: "auto" }, place));
}

// Packs

function packParts(pack, state, draw) {
  const { lang } = state;
  const word = (name, ...args) => label(lang, name, ...args);
  const { decision, memo } = pack;
  const choice = element("select", { "aria-label": word("memo") },
    [["both", word("both")], ["en", "English"], ["ar", "العربية"]].map(([value, name]) => element("option", { value, selected: state.memo === value }, name)));
  choice.addEventListener("change", () => {
    state.memo = choice.value;
    draw();
  });
  const article = (which) => element("article", { lang: which, dir: directionOf(which) },
    element("h2", {}, memo[`title_${which}`]), element("h3", {}, label(which, "summary")), element("p", {}, memo[`executive_summary_${which}`]), element("p", {}, memo[`body_${which}`]));
  const shown = state.memo === "both" ? (lang === "ar" ? ["ar", "en"] : ["en", "ar"]) : [state.memo];
  const review = pack.reviewer_id ? `${pack.review_outcome} · ${pack.reviewer_id} · ${pack.reviewed_at}${pack.review_note ? ` · ${pack.review_note}` : ""}` : word("unreviewed");
  return {
    title: lang === "ar" ? memo.title_ar : memo.title_en,
    parts: [
      fields([
        [word("decision"), decision ? (lang === "ar" ? decision.decision_ar || decision.decision : decision.decision) || pack.decision_id : pack.decision_id],
        [word("classes"), decision && `${decision.approval_class} · ${decision.reversibility_class} · ${decision.sensitivity_class}`],
        [word("confidence"), decision && percent(decision.confidence)], [word("high"), decision && word(decision.high_stakes ? "yes" : "no")],
        [word("decided"), decision?.decided_at], [word("entity"), pack.entity_id], [word("agent"), pack.agent_name],
        [word("model"), texts(pack.model, pack.model_version).join(" ")],
        [word("version"), `${pack.version} (${pack.pack_id})`], [word("replaces"), pack.replaces], [word("created"), pack.created_at], [word("review"), review],
      ]),
      element("section", {}, element("h2", {}, word("memo")), element("div.filters", {}, choice), element(`div.memos.${state.memo}`, {}, shown.map(article))),
      element("section", {}, element("h2", {}, word("sources")), element("ol", {}, pack.sources.map((one) =>
        element("li", {}, element("strong", { dir: "auto" }, one.source), element("div.ev-quiet", {}, dotted(one.reference, one.uri, one.retrieved_at && [`${word("retrieved")} `, element("bdi", {}, one.retrieved_at)], one.confidence !== null && percent(one.confidence))),
          element("blockquote", { dir: "auto" }, one.excerpt))))),
      pack.tool_calls.length ? element("section", {}, element("h2", {}, word("tools")), element("ol", {}, pack.tool_calls.map((call) => toolCall(call, word)))) : null,
      list(word("prompts"), pack.prompts.map((one) => `${one.template_name}, ${one.template_version}`)),
      list(word("attachments"), pack.attachments.map((one) => `${one.name} · ${one.media_type} · ${one.bytes} B · SHA-256 ${one.sha256}`)),
    ].filter(Boolean),
  };
}

function toolCall(call, word) {
  return element("li", {}, element("strong", { dir: "auto" }, call.tool_name),
    call.contradiction_flag ? element("p.warning", { dir: "auto" }, word("contradiction", call.contradiction_reason || call.contradiction_basis)) : null,
    fields([[word("meant"), call.intended_action], [word("done"), call.actual_action], [word("outcome"), texts(call.outcome, call.error, call.verification_status).join(" · ")]]),
    Object.keys(call.inputs).length || Object.keys(call.outputs).length
      ? element("details", {}, element("summary", {}, "JSON"), element("pre.scroll", { dir: "ltr" }, JSON.stringify({ inputs: call.inputs, outputs: call.outputs }, null, 1)))
      : null);
}
