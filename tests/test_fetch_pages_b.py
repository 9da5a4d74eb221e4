"""How the sources with several pages fetch them: what they ask for, when they stop, what one failure costs."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import pytest

from scrapers.failures import FetchError, MissingKeyError
from scrapers.providers import lambda_api, scaleway, vultr
from scrapers.source import Missed, Page, load

if TYPE_CHECKING:
    from scrapers.fetch import Client

Params = Mapping[str, str | int | Sequence[str]]


class FakeClient:
    """Answers from a function of URL and params, and keeps what was asked."""

    def __init__(self, keys=None):
        self.asked: list[tuple[str, dict]] = []
        self.auth_keys: list[str | None] = []
        self.keys = keys or {}

    def answer(self, url: str, params: dict) -> object:
        raise NotImplementedError

    def key(self, env_name: str) -> str:
        if env_name not in self.keys:
            raise MissingKeyError(f"set {env_name}")
        return self.keys[env_name]

    def get(self, url, *, params: Params | None = None, headers=None, auth_key=None, secret_params=None, name=None):
        self.asked.append((url, dict(params or {})))
        self.auth_keys.append(auth_key)
        answer = self.answer(url, dict(params or {}))
        if isinstance(answer, Exception):
            raise answer
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        query = "&".join(f"{key}={value}" for key, value in (params or {}).items())
        return Page(f"{url}?{query}" if query else url, body, name or "page.json")


def fetched(module, client) -> list[Page | Missed]:
    return list(module.fetch(cast("Client", client)))


def names(answers) -> list[str]:
    return [answer.name for answer in answers if isinstance(answer, Page)]


def server(gpu: int = 0) -> dict:
    info = {"gpu_manufacturer": "NVIDIA", "gpu_name": "L4", "gpu_memory": 24 * 2**30} if gpu else None
    return {"gpu": gpu, "gpu_info": info, "mig_profile": None, "ncpus": 8, "ram": 2**30, "hourly_price": 0.5}


class Scaleway(FakeClient):
    """``zones``: types of each zone, served in pages of at most ``longest``."""

    def __init__(self, zones, longest=100, broken=()):
        super().__init__()
        self.zones, self.longest, self.broken = zones, longest, broken

    def answer(self, url, params):
        zone = url.split("/zones/")[1].split("/")[0]
        if any(url.endswith(end) for end in self.broken):
            return FetchError("answered 503")
        types = self.zones.get(zone, {})
        if url.endswith("/availability"):
            types = {name: {"availability": "available"} for name in types}
        length = min(self.longest, params["per_page"])
        start = (params["page"] - 1) * length
        return {"servers": dict(list(types.items())[start : start + length])}


def test_scaleway_reads_every_zone_and_the_stock_of_those_with_accelerators():
    client = Scaleway({"fr-par-1": {"DEV1-S": server()}, "fr-par-2": {"L4-1-24G": server(1)}})

    answers = fetched(scaleway, client)

    assert names(answers) == [
        *(f"{zone}-servers-001.json" for zone in scaleway.ZONES),
        "fr-par-2-availability-001.json",
    ]
    (offer,) = load("scaleway").parse(answers).offers
    assert (offer.sku, offer.region, offer.zone, offer.available) == ("L4-1-24G", "fr-par", "fr-par-2", True)


@pytest.mark.parametrize(
    ("count", "longest", "pages"),
    [(49, 100, 1), (50, 100, 2), (99, 100, 2), (100, 100, 2), (107, 100, 2), (107, 50, 3)],
)
def test_scaleway_pages_to_the_end_even_where_pages_are_shorter_than_asked(count, longest, pages):
    types = {f"T{number}": server(1 if number == count - 1 else 0) for number in range(count)}
    client = Scaleway({"pl-waw-2": types}, longest)

    answers = fetched(scaleway, client)

    assert [name for name in names(answers) if name.startswith("pl-waw-2-servers")] == [
        f"pl-waw-2-servers-{number:03}.json" for number in range(1, pages + 1)
    ]
    assert [offer.sku for offer in load("scaleway").parse(answers).offers] == [f"T{count - 1}"]
    assert all(params["per_page"] == 100 for _, params in client.asked)


def test_scaleway_reports_a_zone_that_fails_and_reads_the_others():
    zones = {"fr-par-1": {"L4-1-24G": server(1)}, "fr-par-2": {"L4-1-24G": server(1)}}
    client = Scaleway(zones, broken=["fr-par-1/products/servers", "fr-par-2/products/servers/availability"])

    answers = fetched(scaleway, client)

    missed = [answer for answer in answers if isinstance(answer, Missed)]
    assert [one.part for one in missed] == ["fr-par-1-servers", "fr-par-2-availability"]
    assert "503" in missed[0].reason
    (offer,) = load("scaleway").parse([answer for answer in answers if isinstance(answer, Page)]).offers
    assert (offer.zone, offer.available) == ("fr-par-2", None)


def test_scaleway_does_not_page_for_ever():
    class Stuck(Scaleway):
        def answer(self, url, params):
            return super().answer(url, {**params, "page": 1})

    answers = fetched(scaleway, Stuck({"it-mil-1": {f"T{number}": server() for number in range(60)}}))

    assert [answer.part for answer in answers if isinstance(answer, Missed)] == ["it-mil-1-servers"]
    assert names(answers).count("it-mil-1-servers-020.json") == 1
    assert "it-mil-1-servers-021.json" not in names(answers)


@pytest.mark.parametrize("body", [b"<html>maintenance</html>", b"[]", b'{"message":"no"}', b'{"servers":[]}'])
def test_scaleway_reports_a_zone_that_answers_something_else(body):
    class Odd(Scaleway):
        def answer(self, url, params):
            return body if "nl-ams-3" in url else super().answer(url, params)

    answers = fetched(scaleway, Odd({"fr-par-2": {"L4-1-24G": server(1)}}))

    assert [answer.part for answer in answers if isinstance(answer, Missed)] == ["nl-ams-3-servers"]
    assert len(load("scaleway").parse([answer for answer in answers if isinstance(answer, Page)]).offers) == 1


class Vultr(FakeClient):
    """Lists by path, one plan on each page; a cursor is the number of the next page."""

    def __init__(self, lists, broken=()):
        super().__init__()
        self.lists, self.broken = lists, broken

    def answer(self, url, params):
        path = url.rsplit("/", 1)[1]
        if path in self.broken:
            return FetchError("answered 503")
        at = int(str(params.get("cursor", "p0"))[1:])
        plans = self.lists[path]
        following = f"p{at + 1}" if at + 1 < len(plans) else ""
        key = {"plans": "plans", "plans-metal": "plans_metal"}[path]
        return {key: plans[at : at + 1], "meta": {"total": len(plans), "links": {"next": following, "prev": ""}}}


def plan(name: str) -> dict:
    return {"id": name, "ram": 1024, "hourly_cost": 1.5, "gpu_type": "NVIDIA_L40S", "gpu_count": "1", "locations": []}


def test_vultr_follows_the_cursor_of_both_lists():
    client = Vultr({"plans": [plan("vcg-a"), plan("vcg-b"), plan("vcg-c")], "plans-metal": [plan("vbm-d")]})

    answers = fetched(vultr, client)

    assert names(answers) == ["plans-001.json", "plans-002.json", "plans-003.json", "plans-metal-001.json"]
    assert client.asked == [
        ("https://api.vultr.com/v2/plans", {"per_page": 500}),
        ("https://api.vultr.com/v2/plans", {"per_page": 500, "cursor": "p1"}),
        ("https://api.vultr.com/v2/plans", {"per_page": 500, "cursor": "p2"}),
        ("https://api.vultr.com/v2/plans-metal", {"per_page": 500}),
    ]
    assert [offer.sku for offer in load("vultr").parse(answers).offers] == ["vcg-a", "vcg-b", "vcg-c", "vbm-d"]


def test_vultr_reports_a_list_that_fails_and_reads_the_other():
    answers = fetched(vultr, Vultr({"plans-metal": [plan("vbm-d")]}, broken=["plans"]))

    assert [answer.part for answer in answers if isinstance(answer, Missed)] == ["plans"]
    assert names(answers) == ["plans-metal-001.json"]


def test_vultr_does_not_page_for_ever():
    class Stuck(Vultr):
        def answer(self, url, params):
            return super().answer(url, {})

    answers = fetched(vultr, Stuck({"plans": [plan("vcg-a"), plan("vcg-b")], "plans-metal": []}))

    assert [answer.part for answer in answers if isinstance(answer, Missed)] == ["plans"]
    assert names(answers)[-1] == "plans-metal-001.json"
    assert len(names(answers)) == 21


class Lambda(FakeClient):
    def answer(self, url, params):
        return {"data": {}}


def test_lambda_sends_its_key_as_a_bearer_token_only():
    client = Lambda(keys={"GPULEDGER_LAMBDA_API_KEY": "s3cret"})

    (page,) = fetched(lambda_api, client)

    assert client.asked == [("https://cloud.lambda.ai/api/v1/instance-types", {})]
    assert client.auth_keys == ["s3cret"]
    assert "s3cret" not in page.url + page.name


def test_lambda_asks_nothing_without_a_key():
    client = Lambda()

    with pytest.raises(MissingKeyError, match="GPULEDGER_LAMBDA_API_KEY"):
        fetched(lambda_api, client)
    assert client.asked == []


def test_oracle_is_one_plain_get():
    class Oracle(FakeClient):
        def answer(self, url, params):
            return {"items": []}

    client = Oracle()

    assert len(list(load("oracle").fetch(cast("Client", client)))) == 1
    assert client.asked == [("https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/?currencyCode=USD", {})]
