#!/usr/bin/env node
// A small client of harness-runtime: starts one execution, follows it to its end, answers what it asks, cancels it when told to.
//
//     client.mjs [--provider ID] [--config JSON] [--deny] [--answer TEXT] [--cancel-at TYPE] [--silence SECONDS] API INPUT
//
// Each event is a line on standard output, notes go to standard error. The exit code is the final state: 0 succeeded, 1 failed,
// 3 cancelled; 4 when it could not be learned, 2 for a mistake in the command line. docs/mock.md explains why it does what it does.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const EXIT = { succeeded: 0, failed: 1, cancelled: 3 };
const TERMINAL = ['run.completed', 'run.failed', 'run.cancelled'];
const TIMEOUT = 30_000;
const ATTEMPTS = 6;

/** An answer of the server that is a refusal. No retry makes it better. */
class Problem extends Error {}

/** All attempts of a call ended without an answer. */
class Unreachable extends Error {}

/** What `fetch` and the bodies of its answers throw when a connection dies or is given up. */
const isCut = (cause) => cause instanceof TypeError || cause.name === 'AbortError' || cause.name === 'TimeoutError';

const pause = (attempt) => sleep(Math.min(50 * 2 ** attempt, 1000));

/**
 * Takes a server-sent event stream in pieces as they come, and gives the data of each frame that is whole.
 *
 * A line may end in LF, CR LF or CR, and a piece anywhere. After a CR nobody waits for the LF that may follow: it may never come.
 */
class Frames {
  decoder = new TextDecoder(); // it keeps half a character, and drops a byte order mark
  line = '';
  data = [];
  afterCr = false;

  *feed(piece) {
    for (const char of this.decoder.decode(piece, { stream: true })) {
      if (char !== '\r' && char !== '\n') this.line += char;
      else if (!(char === '\n' && this.afterCr)) yield* this.endOfLine();
      this.afterCr = char === '\r';
    }
  }

  *endOfLine() {
    const { line, data } = this;
    this.line = '';
    if (line === '') { // an empty line sends off what was collected; without data there is nothing to send
      this.data = [];
      if (data.length > 0) yield data.join('\n');
      return;
    }
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (field === 'data') data.push(value); // a comment (no field name), `event`, `id`, `retry`: the data holds all that counts
  }
}

class Client {
  last = 0;
  ended = false;
  cancelling = null;

  constructor(api, input, options) {
    Object.assign(this, { api: api.replace(/\/$/, ''), input, options });
  }

  /** One answer that is no refusal. */
  async open(path, body, accept = 'application/json', signal = AbortSignal.timeout(TIMEOUT)) {
    const asked = { headers: { accept, 'content-type': 'application/json' }, signal };
    if (body !== undefined) Object.assign(asked, { method: 'POST', body: JSON.stringify(body) });
    const answer = await fetch(this.api + path, asked);
    if (!answer.ok) throw new Problem(await answer.json().then((problem) => problem.code, () => `HTTP ${answer.status}`));
    return answer;
  }

  /** One call, made again when the connection fails. Every call of this client may be made twice without harm. */
  async call(path, body) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await (await this.open(path, body)).json();
      } catch (cause) {
        if (cause instanceof SyntaxError) throw new Problem('an answer that is not JSON');
        if (!isCut(cause)) throw cause;
        if (attempt + 1 === ATTEMPTS) throw new Unreachable(cause.cause?.message ?? cause.message);
        await pause(attempt);
      }
    }
  }

  async run() {
    const conversation = await this.call('/v1/conversations', {});
    // The key makes a second try safe: it brings the same execution, not another one.
    const execution = await this.call('/v1/executions', {
      conversationId: conversation.id, providerId: this.options.provider, input: this.input,
      config: JSON.parse(this.options.config), idempotencyKey: randomUUID(),
    });
    this.path = `/v1/executions/${encodeURIComponent(execution.id)}`;
    for (let quiet = 0; !this.ended;) {
      const before = this.last;
      await this.stream();
      if (this.ended) break;
      // A stream that ends is no proof that the run has. The state is read before the list: then a final state means that the
      // list has everything.
      const { state } = await this.call(this.path);
      for (const event of (await this.call(`${this.path}/events?after=${this.last}`)).events) {
        if (!await this.take(event)) throw new Problem(`event ${this.last + 1} is missing`);
      }
      if (state in EXIT) break;
      console.error(`cut after ${this.last}, going on from there`);
      quiet = this.last > before ? 0 : quiet + 1;
      await pause(quiet);
    }
    await this.cancelling;
    return (await this.call(this.path)).state;
  }

  /** Reads the stream from the last event on, until the run has ended, the stream is over, or an event is missing. */
  async stream() {
    const frames = new Frames();
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), this.options.silence * 1000);
    try {
      const answer = await this.open(`${this.path}/events?after=${this.last}`, undefined, 'text/event-stream', silence.signal);
      for await (const piece of answer.body) {
        timer.refresh();
        for (const data of frames.feed(piece)) {
          if (!await this.take(JSON.parse(data)) || this.ended) return; // leaving the loop closes the connection
        }
      }
    } catch (cause) {
      // What was under way is asked for again, and so is what came in pieces: half a frame is nothing.
      if (!isCut(cause) && !(cause instanceof SyntaxError)) throw cause;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Takes an event once, in order. False says that one before it is missing. */
  async take({ sequence, type, data }) {
    if (sequence <= this.last) return true; // delivery is at least once
    if (sequence > this.last + 1) return false;
    this.last = sequence;
    this.ended = TERMINAL.includes(type);
    const detail = data.text ?? data.title ?? data.message ?? data.finalOutput ?? data.reason ?? data.name;
    console.log(`${sequence} ${type}${detail === undefined ? '' : ` ${JSON.stringify(detail)}`}`);
    if (type === 'action.required') await this.answer(data);
    // A cancel is answered when the cleanup is done. Events come meanwhile, so nobody waits for it here.
    if (type === this.options['cancel-at']) this.cancelling ??= this.cancel();
    return true;
  }

  async answer({ id, kind }) {
    const answer = kind === 'approval' ? { approved: !this.options.deny } : { value: this.options.answer };
    try {
      await this.call(`${this.path}/actions/${encodeURIComponent(id)}:respond`, answer);
    } catch (problem) {
      // Answered before (by our first try, or by someone else), or the run has ended meanwhile: the events tell.
      if (!['ACTION_ALREADY_RESOLVED', 'ACTION_NOT_FOUND'].includes(problem.message)) throw problem;
      console.error(`the answer was not taken: ${problem.message}`);
    }
  }

  async cancel() {
    try {
      await this.call(`${this.path}:cancel`, { reason: 'told to' });
    } catch (problem) {
      console.error(`the cancel was not confirmed: ${problem.message}`);
    }
  }
}

function options() {
  const text = (otherwise) => ({ type: 'string', default: otherwise });
  const known = {
    provider: text('scripted'), config: text('{}'), answer: text('42'), silence: text(String(TIMEOUT / 1000)),
    deny: { type: 'boolean' }, 'cancel-at': { type: 'string' },
  };
  try {
    const { values, positionals } = parseArgs({ options: known, allowPositionals: true });
    if (positionals.length !== 2) throw new Error('an API and an input are needed');
    JSON.parse(values.config);
    return { values, positionals };
  } catch (mistake) {
    console.error(mistake.message);
    process.exit(2);
  }
}

const { values, positionals } = options();
try {
  const state = await new Client(...positionals, values).run();
  console.log(state);
  process.exitCode = EXIT[state] ?? 4;
} catch (problem) {
  console.error(`gave up: ${problem.message}`);
  process.exitCode = 4;
}
