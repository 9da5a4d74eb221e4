"""Keys are taken out of all that is kept or shown: bodies, URLs, error messages, log lines of HTTP libraries."""

import json
import logging
from urllib.parse import quote, quote_plus

MARK = "[key]"
_SHORTEST = 6  # what is shorter would hit innocent text, and no provider's key is
_LOGGERS = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy")


class Redactor(logging.Filter):
    """Knows the keys of one client."""

    def __init__(self) -> None:
        super().__init__()
        self._secrets: list[str] = []

    def add(self, secret: str) -> None:
        """Know one more key, also as it stands in URLs and in JSON."""
        if len(secret) < _SHORTEST:
            return
        forms = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
        self._secrets = sorted(forms.union(self._secrets), key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text without keys."""
        for secret in self._secrets:
            text = text.replace(secret, MARK)
        return text

    def body(self, body: bytes) -> bytes:
        """The body without keys: some servers print the request in their answer. All else stays byte for byte."""
        for secret in self._secrets:
            body = body.replace(secret.encode(), MARK.encode())
        return body

    def filter(self, record: logging.LogRecord) -> bool:
        """Take keys out of a log record; httpx logs whole URLs."""
        if self._secrets:
            record.msg, record.args = self.text(record.getMessage()), ()
        return True

    def watch_loggers(self) -> None:
        """Take keys out of what the HTTP libraries log, until ``leave_loggers``."""
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(self)

    def leave_loggers(self) -> None:
        """Stop filtering."""
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(self)
