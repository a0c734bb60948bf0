"""A partner of `hairspring period --exchange` that misbehaves on purpose, written from
spec/period.md alone.

It leaves every fifth question unanswered, answers every seventh twice, and sends a short frame, a
frame of another run and a question after every eleventh answer. When it gets SIGTERM it prints its
counts as JSON.
"""

import json
import signal
import socket
import struct
import sys

FRAME = struct.Struct(">4sBBHQQ")
GREETING = 2**64 - 1
QUESTION, ANSWER = 1, 2


class Stopped(Exception):
    """SIGTERM was received."""


def answer(link: socket.socket, done: dict[str, int]) -> None:
    """Receives one question and handles it according to its number."""
    question, sender = link.recvfrom(100)
    magic, version, kind, zero, session, number = FRAME.unpack(question)
    if (magic, version, kind, zero) != (b"HSPR", 1, QUESTION, 0):
        raise ValueError(f"not a question: {question!r}")
    done["asked"] += number != GREETING
    if number != GREETING and number % 5 == 4:
        done["dropped"] += 1
        return
    reply = FRAME.pack(magic, version, ANSWER, 0, session, number)
    link.sendto(reply, sender)
    if number != GREETING and number % 7 == 3:
        link.sendto(reply, sender)
        done["doubled"] += 1
    if number != GREETING and number % 11 == 5:
        link.sendto(reply[:-1], sender)
        link.sendto(FRAME.pack(magic, version, ANSWER, 0, session ^ 1, number), sender)
        link.sendto(question, sender)
        done["disturbed"] += 1


def stop(signum: int, frame: object) -> None:
    """Ends the loop below."""
    raise Stopped


def main() -> None:
    """Answers at the address and port of the command line."""
    done = {"asked": 0, "dropped": 0, "doubled": 0, "disturbed": 0}
    signal.signal(signal.SIGTERM, stop)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.bind((sys.argv[1], int(sys.argv[2])))
        print("answering", file=sys.stderr, flush=True)
        try:
            while True:
                answer(link, done)
        except Stopped:
            print(json.dumps(done))


if __name__ == "__main__":
    main()
