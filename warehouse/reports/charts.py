"""The charts, drawn with Vega: each is described once with Altair, and pages hold only the data.

Colours are CSS variables, so that light, dark and print need no second drawing. The library comes in one local script; nothing is fetched.
"""

import base64
import gzip
import json
from functools import cache
from typing import Any

import altair as alt
import vl_convert

# What is drawn when; `rows` and `marks` are filled in by charts.js, which turns runs into points.
_DOLLARS = "datum.value % 1 ? format(datum.value, '$,.2f') : format(datum.value, '$,d')"
# On a logarithmic scale only 1, 2 and 5 of each power of ten are written out and ruled.
_IS_ROUND = "indexof([1, 2, 5, 10], round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))) >= 0"
_SMALL_DOLLARS = f"{_IS_ROUND} ? format(datum.value, '$~r') : ''"
_LARGE_DOLLARS = f"{_IS_ROUND} ? replace(format(datum.value, '$.3~s'), 'G', 'B') : ''"


@cache
def library() -> str:
    """The one script that draws, Vega-Embed with Vega inside and no imports: packed with gzip, in base 64. charts.js unpacks it."""
    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()


@cache
def templates() -> str:
    """Every chart as a Vega specification without data, as JSON."""
    charts = {
        "prices": _lines(is_log=False, height=170, label=_DOLLARS),
        "index": _lines(is_log=False, height=170, label="format(datum.value, '~r')"),
        "costs": _lines(is_log=True, height=210, label=_LARGE_DOLLARS),
        "units": _lines(is_log=True, height=170, label=_SMALL_DOLLARS),
        "offers": _offers(),
    }
    compiled = {name: vl_convert.vegalite_to_vega(chart.to_dict(), config=_config()) for name, chart in charts.items()}
    return json.dumps(compiled, separators=(",", ":")).replace("</", "<\\/")


def _lines(*, is_log: bool, height: int, label: str) -> Any:
    day = alt.X(
        "day:T",
        title=None,
        scale=alt.Scale(type="utc", domain=[{"expr": "first"}, {"expr": "last"}]),
        axis=alt.Axis(tickCount={"expr": "max(2, floor(width / 70))"}, grid=False, labelSeparation=8),
    )
    scale = alt.Scale(type="log", nice=False, padding=8) if is_log else alt.Scale(zero=True, nice=True)
    if is_log:
        shown = {"condition": {"test": _IS_ROUND, "value": 1}, "value": 0}
        axis = alt.Axis(title=None, labelExpr=label, labelOverlap="greedy", gridOpacity=shown, tickOpacity=shown)
    else:
        axis = alt.Axis(title=None, labelExpr=label, labelOverlap=True, tickCount={"expr": "floor(height / 40)"})
    usd = alt.Y("usd:Q", scale=scale, axis=axis)
    stroke = alt.Stroke("colour:N", scale=None, legend=None)
    fill = alt.Fill("colour:N", scale=None, legend=None)
    rows = alt.Chart(alt.NamedData("rows")).encode(x=day, y=usd, detail="piece:N")
    layers: list[Any] = [
        rows.transform_filter("isValid(datum.low)")
        .mark_area(opacity=0.16)
        .encode(y=alt.Y("low:Q", axis=axis, scale=scale), y2="high:Q", fill=fill),
        rows.transform_filter("!datum.dashed").mark_line(strokeWidth=2, strokeJoin="round").encode(stroke=stroke),
        rows.transform_filter("datum.dashed")
        .mark_line(strokeWidth=2, strokeJoin="round", strokeDash=[5, 3])
        .encode(stroke=stroke),
        rows.transform_filter("datum.alone").mark_point(size=20, filled=True, opacity=1).encode(fill=fill),
        rows.transform_filter("!datum.is_joint")
        .mark_point(size=160, filled=True, opacity=0)
        .encode(fill=fill, tooltip="told:N"),
        alt.Chart(alt.NamedData("marks"))
        .mark_point(
            shape="diamond", size=70, filled=True, opacity=1, color="var(--ink)", stroke="var(--paper)", strokeWidth=1
        )
        .encode(x=day, y=usd, tooltip="told:N"),
    ]
    return (
        alt.layer(*layers)
        .add_params(alt.param(name="first", value=0), alt.param(name="last", value=1))
        .properties(width="container", height=height)
    )


def _offers() -> Any:
    return (
        alt.Chart(alt.NamedData("rows"))
        .mark_tick(thickness=2, opacity=0.7, size=18)
        .encode(
            x=alt.X(
                "usd:Q",
                title=None,
                scale=alt.Scale(zero=True),
                axis=alt.Axis(labelExpr=_DOLLARS, tickCount=5, labelOverlap=True),
            ),
            y=alt.Y("line:N", title=None, sort=None, axis=alt.Axis(labelLimit=110)),
            color=alt.Color("colour:N", scale=None, legend=None),
            tooltip="told:N",
        )
        .properties(width="container", height={"step": 30})
    )


def _config() -> dict[str, Any]:
    text = {
        "labelColor": "var(--muted)",
        "titleColor": "var(--muted)",
        "labelFontSize": 12,
        "labelFont": "system-ui, sans-serif",
    }
    return {
        "aria": False,  # the box around says what it shows, and the table beside it has the numbers
        "background": None,
        "font": "system-ui, sans-serif",
        "view": {"stroke": None},
        "axis": {
            **text,
            "gridColor": "var(--grid)",
            "domainColor": "var(--grid)",
            "tickColor": "var(--grid)",
            "titleFontWeight": "normal",
        },
    }
