"""The share of the floor that burns, step by step, as a small inline chart."""

from __future__ import annotations

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from ember_site.catalog.fire_preview import FirePreview

HEIGHT = 1000
"""Full share in user units; the drawing is stretched to its box, so only proportions count."""

STEP_WIDTH = 100
"""Width of a step in user units."""


def fire_curve(preview: FirePreview) -> SafeString:
    """
    A stair of the burning share over the steps 0 to the last ignition, with a line where an exit is lost.

    It has no text in it, since it is stretched; the page writes the ends of the axes beside it.
    """
    steps = max(preview.last_step, 1)
    stair, level = [f"M0 {_y(preview.share(0))}"], preview.share(0)
    for step in range(1, steps + 1):
        share = preview.share(step)
        if share != level:
            stair.append(f"H{step * STEP_WIDTH}V{_y(share)}")
            level = share
    width = steps * STEP_WIDTH
    line = "".join(stair) + f"H{width}"
    losses = sorted({loss.step for loss in preview.exits if loss.step})
    marks = "".join(f"M{step * STEP_WIDTH} 0V{HEIGHT}" for step in losses)
    label = f"Share of the floor that burns, from step 0 to step {steps}"
    return mark_safe(  # noqa: S308 - numbers and one escaped text
        f'<svg class="curve" viewBox="0 0 {width} {HEIGHT}" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(label)}">'
        f'<path class="curve-area" d="{line}V{HEIGHT}H0z"/>'
        f'<path class="axis" d="M0 {HEIGHT // 2}H{width}"/><path class="axis base" d="M0 {HEIGHT}H{width}"/>'
        f'<path class="curve-line" d="{line}"/>'
        f'{f"""<path class="curve-mark" d="{marks}"/>""" if marks else ""}</svg>'
    )


def _y(share: float) -> int:
    return round(HEIGHT * (1 - share))
