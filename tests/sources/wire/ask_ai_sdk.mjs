// Answers questions, one line of JSON each, with the AI SDK's own code.
import { createInterface } from "node:readline";
import {
  parseJsonEventStream,
  readUIMessageStream,
  safeValidateUIMessages,
  uiMessageChunkSchema,
} from "ai";

const schema = uiMessageChunkSchema();

// Why the SDK's own schema refuses parts of a stream; an empty list if it takes all.
async function refused({ parts }) {
  const results = await Promise.all(parts.map((part) => schema.validate(part)));
  return results.filter((result) => !result.success).map((result) => String(result.error));
}

// What a message holds after a client has read these lines of its stream.
async function received({ lines }) {
  const text = ['data: {"type":"start","messageId":"m"}\n\n', ...lines,
    'data: {"type":"finish"}\n\n', "data: [DONE]\n\n"].join("");
  const bytes = new Blob([text]).stream();
  const parsed = parseJsonEventStream({ stream: bytes, schema: uiMessageChunkSchema });
  const chunks = [];
  for await (const result of parsed) {
    if (!result.success) throw result.error;
    chunks.push(result.value);
  }
  let message;
  const onError = (error) => { throw error; };
  const stream = ReadableStream.from(chunks);
  for await (message of readUIMessageStream({ stream, onError, terminateOnError: true }));
  const checked = await safeValidateUIMessages({ messages: [message] });
  if (!checked.success) throw checked.error;
  return checked.data[0].parts;
}

// What JavaScript finds in a text between two offsets, and how many bytes stand before each.
async function sliced({ text, spans }) {
  return spans.map(([start, end]) => ({
    slice: text.slice(start, end),
    bytes: Buffer.byteLength(text.slice(0, start)),
  }));
}

const questions = { refused, received, sliced };
for await (const line of createInterface({ input: process.stdin })) {
  const { about, ...question } = JSON.parse(line);
  let reply;
  try {
    reply = { answer: await questions[about](question) };
  } catch (error) {
    reply = { error: String(error?.stack ?? error) };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
