// Reads the answer's stream: text as it comes, claims where they stand in it, and the ledger.
import "/evidentia-citation.js";

const SAYS = {
  en: {
    brand: "Meridian assistant", title: "Ask about our policies", question: "Your question", send: "Ask", talk: "Conversation",
    lead: "Every statement of an answer is checked against the policies while it is written. Open its mark to read the passage.",
    other: "العربية", suggestions: ["How much leave do I get?"],
    told: (n, supported) => `${supported} of ${n} statements are supported`, ledger: "Ledger", entry: "entry",
    failed: "The answer broke off.",
  },
  ar: {
    brand: "مساعد ميريديان", title: "اسأل عن سياساتنا", question: "سؤالك", send: "اسأل", talk: "المحادثة",
    lead: "تُراجَع كل عبارة في الإجابة وفق السياسات أثناء كتابتها. افتح علامتها لقراءة المقطع.",
    other: "English", suggestions: ["كم ساعة أعمل في الأسبوع؟"],
    told: (n, supported) => `العبارات المدعومة: ${supported} من ${n}`, ledger: "السجل", entry: "القيد",
    failed: "انقطعت الإجابة.",
  },
};
const root = document.documentElement;
const $ = (name) => document.querySelector(name);
let says;

function speak(lang) {
  says = SAYS[lang];
  root.lang = lang;
  root.dir = lang === "ar" ? "rtl" : "ltr";
  document.title = says.brand;
  for (const one of document.querySelectorAll("[data-say]")) one.textContent = says[one.dataset.say];
  $("#talk").ariaLabel = says.talk;
  const language = $("#language");
  language.textContent = says.other;
  language.lang = lang === "ar" ? "en" : "ar";
  $("#suggestions").replaceChildren(...says.suggestions.map((text) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.onclick = () => ask(text);
    return button;
  }));
}

class Answer {
  constructor(question) {
    const article = document.createElement("article");
    const heading = document.createElement("h2");
    heading.dir = "auto";
    heading.textContent = question;
    this.body = document.createElement("div");
    this.body.className = "answer";
    this.body.dir = "auto";
    this.body.ariaBusy = "true";
    article.append(heading, this.body);
    $("#talk").append(article);
    this.article = article;
    this.text = "";
    this.claims = new Map();
    this.shown = new Map();
  }

  take(part) {
    if (part.type === "text-delta") {
      this.text += part.delta;
      this.body.append(part.delta);
    } else if (part.type === "data-evidentia-claim") {
      this.claims.set(part.id, part.data);
      const element = this.shown.get(part.id);
      if (element) element.claim = part.data;
      else this.draw();
    } else if (part.type === "data-evidentia-ledger") {
      for (const id of this.claims.keys()) if (!part.data.claims.includes(id)) this.claims.delete(id);
      if (this.claims.size !== this.shown.size) this.draw();
      const { by_verdict: by, total_claims: all } = part.data.summary;
      this.tell(says.told(all, by.supported), `${says.ledger} `, part.data.ledger_id);
    } else if (part.type === "data-evidentia-problem") this.tell(part.data.problem);
  }

  // Offsets are code points, as an array of a text's characters has them.
  draw() {
    const characters = Array.from(this.text), inside = [];
    let at = 0;
    for (const claim of [...this.claims.values()].sort((a, b) => a.start - b.start || a.end - b.end)) {
      const element = this.shown.get(claim.id) ?? document.createElement("evidentia-citation");
      const start = Math.max(at, claim.start);
      inside.push(characters.slice(at, start).join(""));
      element.textContent = characters.slice(start, claim.end).join("");
      at = Math.max(at, claim.end);
      if (element.claim !== claim) element.claim = claim;
      this.shown.set(claim.id, element);
      inside.push(element);
    }
    this.body.replaceChildren(...inside, characters.slice(at).join(""));
  }

  tell(text, label, code) {
    const line = document.createElement("p");
    line.className = "told";
    const said = document.createElement("span");
    said.textContent = text;
    line.append(said);
    if (code) {
      const ledger = document.createElement("span");
      const id = document.createElement("code");
      id.textContent = code;
      ledger.append(label, id);
      line.append(ledger);
    }
    this.article.append(line);
  }
}

async function ask(question) {
  const answer = new Answer(question);
  try {
    const reply = await fetch("/chat", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ question }) });
    let rest = "";
    for await (const text of reply.body.pipeThrough(new TextDecoderStream())) {
      const events = (rest + text).split("\n\n");
      rest = events.pop();
      for (const event of events) {
        const data = event.replace(/^data: /, "");
        if (data !== "[DONE]") answer.take(JSON.parse(data));
      }
    }
  } catch {
    answer.tell(says.failed);
  } finally {
    answer.body.ariaBusy = "false";
  }
}

$("#language").onclick = () => speak(root.lang === "ar" ? "en" : "ar");
$("#ask").onsubmit = (event) => {
  event.preventDefault();
  ask($("#question").value);
  $("#question").value = "";
};
speak(new URLSearchParams(location.search).get("lang") === "ar" ? "ar" : "en");
