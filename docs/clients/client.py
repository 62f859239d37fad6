#!/usr/bin/env python3
"""A small client of harness-runtime: starts one execution, follows it to its end, answers what it asks, cancels it when told to.

    client.py [--provider ID] [--config JSON] [--deny] [--answer TEXT] [--cancel-at TYPE] [--silence SECONDS] API INPUT

Each event is a line on standard output, notes go to standard error. The exit code is the final state: 0 succeeded, 1 failed,
3 cancelled; 4 when it could not be learned, 2 for a mistake in the command line. docs/mock.md explains why it does what it does.
"""

import argparse, codecs, http.client, json, sys, threading, time, urllib.error, urllib.request, uuid

EXIT = {"succeeded": 0, "failed": 1, "cancelled": 3}
TERMINAL = {"run.completed", "run.failed", "run.cancelled"}
CUT = (OSError, http.client.HTTPException)  # all that a connection can die of, too long a silence included
TIMEOUT = 30
ATTEMPTS = 6


class Problem(Exception):
    """An answer of the server that is a refusal. No retry makes it better."""


class Unreachable(Exception):
    """All attempts of a call ended without an answer."""


def refused(answer):
    try:
        return Problem(json.load(answer)["code"])
    except (ValueError, TypeError, KeyError):
        return Problem(f"HTTP {answer.code}")


def pause(attempt):
    time.sleep(min(0.05 * 2**attempt, 1))


def note(text):
    print(text, file=sys.stderr)


class Frames:
    """Takes a server-sent event stream in pieces as they come, and gives the data of each frame that is whole.

    A line may end in LF, CR LF or CR, and a piece anywhere. After a CR nobody waits for the LF that may follow: it may never come."""

    def __init__(self):
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")  # it keeps half a character, and drops a byte order mark
        self.line, self.data, self.after_cr = "", [], False

    def feed(self, piece):
        for char in self.decoder.decode(piece):
            if char in "\r\n":
                if not (char == "\n" and self.after_cr):
                    yield from self.end_of_line()
            else:
                self.line += char
            self.after_cr = char == "\r"

    def end_of_line(self):
        line, self.line = self.line, ""
        if not line:  # an empty line sends off what was collected; without data there is nothing to send
            data, self.data = self.data, []
            if data:
                yield "\n".join(data)
            return
        field, _, value = line.partition(":")
        if field == "data":  # a comment (no field name), `event`, `id`, `retry`: the data holds all that counts
            self.data.append(value.removeprefix(" "))


class Client:
    def __init__(self, options):
        self.options, self.last, self.ended, self.cancelling = options, 0, False, None

    def open(self, path, body=None, accept="application/json", silence=TIMEOUT):
        data = None if body is None else json.dumps(body).encode()
        headers = {"accept": accept, "content-type": "application/json"}
        return urllib.request.urlopen(urllib.request.Request(self.options.api.rstrip("/") + path, data, headers), timeout=silence)

    def call(self, path, body=None):
        """One call, made again when the connection fails. Every call of this client may be made twice without harm."""
        for attempt in range(ATTEMPTS):
            try:
                with self.open(path, body) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as refusal:
                raise refused(refusal) from None
            except ValueError:
                raise Problem("an answer that is not JSON") from None
            except CUT as cause:
                failure = cause
                pause(attempt)
        raise Unreachable(failure)

    def run(self):
        conversation = self.call("/v1/conversations", {})["id"]
        # The key makes a second try safe: it brings the same execution, not another one.
        execution = self.call("/v1/executions", {
            "conversationId": conversation, "providerId": self.options.provider, "input": self.options.input,
            "config": self.options.config, "idempotencyKey": str(uuid.uuid4()),
        })
        self.path = "/v1/executions/" + execution["id"]
        quiet = 0
        while not self.ended:
            before = self.last
            self.stream()
            if self.ended:
                break
            # A stream that ends is no proof that the run has. The state is read before the list: then a final state means that
            # the list has everything.
            state = self.call(self.path)["state"]
            for event in self.call(f"{self.path}/events?after={self.last}")["events"]:
                if not self.take(event):
                    raise Problem(f"event {self.last + 1} is missing")
            if state in EXIT:
                break
            note(f"cut after {self.last}, going on from there")
            quiet = 0 if self.last > before else quiet + 1
            pause(quiet)
        if self.cancelling:
            self.cancelling.join()
        return self.call(self.path)["state"]

    def stream(self):
        """Reads the stream from the last event on, until the run has ended, the stream is over, or an event is missing."""
        frames = Frames()
        try:
            with self.open(f"{self.path}/events?after={self.last}", None, "text/event-stream", self.options.silence) as answer:
                while piece := answer.read1(65536):
                    for data in frames.feed(piece):
                        if not self.take(json.loads(data)) or self.ended:
                            return
        except urllib.error.HTTPError as refusal:
            raise refused(refusal) from None
        except (ValueError, *CUT):
            pass  # what was under way is asked for again, and so is what came in pieces: half a frame is nothing

    def take(self, event):
        """Takes an event once, in order. False says that one before it is missing."""
        sequence, kind, data = event["sequence"], event["type"], event["data"]
        if sequence <= self.last:
            return True  # delivery is at least once
        if sequence > self.last + 1:
            return False
        self.last, self.ended = sequence, kind in TERMINAL
        detail = [data[name] for name in ("text", "title", "message", "finalOutput", "reason", "name") if name in data][:1]
        print(sequence, kind, *(json.dumps(text, ensure_ascii=False) for text in detail), flush=True)
        if kind == "action.required":
            self.answer(data)
        if kind == self.options.cancel_at and not self.cancelling:
            # A cancel is answered when the cleanup is done. Events come meanwhile, so somebody else waits for it.
            self.cancelling = threading.Thread(target=self.cancel, daemon=True)
            self.cancelling.start()
        return True

    def answer(self, action):
        answer = {"approved": not self.options.deny} if action["kind"] == "approval" else {"value": self.options.answer}
        try:
            self.call(f"{self.path}/actions/{action['id']}:respond", answer)
        except Problem as problem:
            # Answered before (by our first try, or by someone else), or the run has ended meanwhile: the events tell.
            if str(problem) not in ("ACTION_ALREADY_RESOLVED", "ACTION_NOT_FOUND"):
                raise
            note(f"the answer was not taken: {problem}")

    def cancel(self):
        try:
            self.call(f"{self.path}:cancel", {"reason": "told to"})
        except (Problem, Unreachable) as problem:
            note(f"the cancel was not confirmed: {problem}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--provider", default="scripted")
    parser.add_argument("--config", type=json.loads, default={})
    parser.add_argument("--deny", action="store_true", help="do not give the approvals that are asked for")
    parser.add_argument("--answer", default="42", help="the answer to every question")
    parser.add_argument("--cancel-at", metavar="TYPE", help="cancel at the first event of this type")
    parser.add_argument("--silence", type=float, metavar="SECONDS", default=TIMEOUT, help="when to look after a silent stream")
    parser.add_argument("api")
    parser.add_argument("input")
    sys.stdout.reconfigure(encoding="utf-8")
    try:
        state = Client(parser.parse_args()).run()
    except (Problem, Unreachable, KeyError) as problem:  # the last one: a document lacks what the contract promises
        note(f"gave up: {problem!r}")
        return 4
    print(state)
    return EXIT.get(state, 4)


if __name__ == "__main__":
    sys.exit(main())
