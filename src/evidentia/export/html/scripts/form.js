// Whether a value has the form that a JSON Schema of the specification gives it.

import { Float, canonicalText, isObject, numeric } from "./reading.js";
import { SCHEMAS } from "./schemas.js";
import { codePoints, isBlank } from "./trail.js";

const PREFIX = "urn:evidentia:spec:v1:";

/** Whether a value fits the schema of this name. */
export const fits = (name, value) => matches(SCHEMAS[name], value, SCHEMAS[name]);

const TYPES = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  number: (value) => typeof value === "number" || value instanceof Float,
  integer: (value) => TYPES.number(value) && Number.isInteger(numeric(value)),
};
const isConstant = (value, constant) => canonicalText(value) === JSON.stringify(constant);
const each = (given) => (Array.isArray(given) ? given : [given]);

function resolved(reference, home) {
  const [name, pointer] = reference.split("#");
  const schema = name ? SCHEMAS[name.slice(PREFIX.length)] : home;
  const steps = (pointer ?? "").split("/").slice(1);
  return [steps.reduce((found, step) => found[step], schema), schema];
}

const RULES = {
  $ref: (reference, value, home) => {
    const [schema, there] = resolved(reference, home);
    return matches(schema, value, there);
  },
  type: (types, value) => each(types).some((type) => TYPES[type](value)),
  const: (constant, value) => isConstant(value, constant),
  enum: (constants, value) => constants.some((one) => isConstant(value, one)),
  minLength: (limit, value) => typeof value !== "string" || codePoints(value) >= limit,
  maxLength: (limit, value) =>
    typeof value !== "string" || value.length <= limit || codePoints(value) <= limit,
  pattern: (pattern, value) =>
    typeof value !== "string" || (pattern === "\\S" ? !isBlank(value) : new RegExp(pattern, "u").test(value)),
  minimum: (limit, value) => !TYPES.number(value) || numeric(value) >= limit,
  maximum: (limit, value) => !TYPES.number(value) || numeric(value) <= limit,
  minItems: (limit, value) => !Array.isArray(value) || value.length >= limit,
  maxItems: (limit, value) => !Array.isArray(value) || value.length <= limit,
  items: (schema, value, home) =>
    !Array.isArray(value) || value.every((one) => matches(schema, one, home)),
  contains: (schema, value, home) =>
    !Array.isArray(value) || value.some((one) => matches(schema, one, home)),
  required: (names, value) => !isObject(value) || names.every((name) => value.has(name)),
  dependentRequired: (rules, value) =>
    !isObject(value)
    || Object.entries(rules).every(([name, others]) => !value.has(name) || others.every((one) => value.has(one))),
  properties: (schemas, value, home) =>
    !isObject(value)
    || Object.entries(schemas).every(([name, schema]) => !value.has(name) || matches(schema, value.get(name), home)),
  allOf: (schemas, value, home) => schemas.every((schema) => matches(schema, value, home)),
  anyOf: (schemas, value, home) => schemas.some((schema) => matches(schema, value, home)),
  oneOf: (schemas, value, home) => schemas.filter((schema) => matches(schema, value, home)).length === 1,
  not: (schema, value, home) => !matches(schema, value, home),
};
/** What stands in a schema and is no rule by itself. */
const ASIDE = new Set(["$defs", "$id", "$schema", "contentEncoding", "if", "then", "else", "additionalProperties"]);

function matches(schema, value, home) {
  if (typeof schema === "boolean") return schema;
  for (const [rule, given] of Object.entries(schema)) {
    if (ASIDE.has(rule)) continue;
    if (!RULES[rule]) throw new Error(`a schema has the rule ${rule}, which is not known here`);
    if (!RULES[rule](given, value, home)) return false;
  }
  if ("if" in schema) {
    const branch = matches(schema.if, value, home) ? schema.then : schema.else;
    if (branch !== undefined && !matches(branch, value, home)) return false;
  }
  if ("additionalProperties" in schema && isObject(value)) {
    const known = schema.properties ?? {};
    const others = [...value.keys()].filter((name) => !Object.hasOwn(known, name));
    if (!others.every((name) => matches(schema.additionalProperties, value.get(name), home))) return false;
  }
  return true;
}

