// What a report is made of. A check `holds`, or does not, or is null where it could not be decided;
// `unchecked` says that the Python verifier looks at more than can be looked at in a browser.

export const VERDICTS = {
  holds: "holds",
  signer: "consistent, signer unknown",
  pages: "consistent, pages not compared",
  pack: "consistent, the pack is not here",
  partly: "consistent, not all checked here",
  fails: "does not hold",
};

export const check = (name, holds, code, ...args) => ({ name, holds, code, args });
export const unchecked = (name, code, ...args) => ({ name, holds: null, code, args, unchecked: true });

/** The one-line answer to checks. */
export function verdictOf(checks) {
  if (checks.some((one) => one.holds === false)) return VERDICTS.fails;
  const open = checks.filter((one) => one.holds === null);
  if (!open.length) return VERDICTS.holds;
  if (open.some((one) => one.name === "pack" && !one.unchecked)) return VERDICTS.pack;
  if (open.some((one) => one.name === "rendering")) return VERDICTS.pages;
  return open.some((one) => !one.unchecked) ? VERDICTS.signer : VERDICTS.partly;
}
