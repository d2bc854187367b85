"""`workalike check FILE`: what a workload does, in words."""

from __future__ import annotations

from workalike.text import percent_text, plural, seconds_text, size_text
from workalike.workload import phrases
from workalike.workload.ambiguity import ambiguity_words
from workalike.workload.model import Assumption, Coverage, Direction, Family, Privacy, Workload

MAX_PARTS = 6  # lines for the streams of one dump
INDENT = "    "


def summarize(workload: Workload) -> list[str]:
    """The workload in words, line by line: ranks, families, and what was assumed or left out."""
    moved = {
        d: sum(sum(phrases.dump_bytes(f, workload.ranks, d)) for f in workload.families) for d in Direction
    }
    nodes = f" on {plural(workload.nodes, 'node')}" if workload.nodes else ""
    lines = [
        f"{plural(workload.ranks, 'rank')}{nodes}, run time {seconds_text(workload.runtime)}, "
        f"{plural(len(workload.families), 'file family')}: "
        f"{size_text(moved[Direction.WRITE])} written, {size_text(moved[Direction.READ])} read"
    ]
    if workload.processes:
        lines += phrases.process_words(workload.processes, workload.ranks)
    if workload.compute is not None:
        lines.append(f"between dumps: {phrases.compute_words(workload.compute)}")
    for family in workload.families:
        lines += ["", *summarize_family(family, workload.ranks)]
    if workload.privacy is not Privacy.NAMES:
        lines += ["", f"privacy: {workload.privacy.value}: {phrases.PRIVACY_WORDS[workload.privacy]}"]
    if workload.coverage is not None:
        lines += ["", coverage_words(workload.coverage)]
    if workload.uncovered:
        lines += ["", "not in the workload:"]
    for part in workload.uncovered:
        where = f"{size_text(part.bytes)} in {plural(part.files, 'file')}"
        more = f", {plural(part.calls, 'call')}, {seconds_text(part.seconds)}" if part.calls else ""
        lines.append(f"{INDENT}{where}{more}: {phrases.REASON_WORDS[part.reason]}")
    return lines


def coverage_words(coverage: Coverage) -> str:
    """The shares of the application that the workload has, on one line."""
    return (
        f"covered: {percent_text(coverage.bytes)} of the bytes, {percent_text(coverage.calls)} of the calls, "
        f"{percent_text(coverage.seconds)} of the I/O time"
    )


def summarize_family(family: Family, ranks: int) -> list[str]:
    """One family: a headline, then its schedule, bytes and operations."""
    sizes = {d: phrases.dump_bytes(family, ranks, d) for d in Direction}
    event = "dump" if any(sizes[Direction.WRITE]) else "load"
    dumps = family.schedule.dumps
    lifetime = f", {phrases.LIFETIME_WORDS[family.lifetime]}".replace("dump", event) if dumps > 1 else ""
    files = f"{phrases.sharing_words(family.sharing, ranks)}{lifetime}"
    dataset = family.all_contents()[0].dataset
    if dataset is not None:
        event, files = (
            "epoch",
            f"{plural(dataset.files, 'file')} read by {phrases.members_words(family.sharing, ranks)}",
        )
    lines = [f"{phrases.name_of(family)}: {plural(dumps, event)}; {files}; {phrases.library_words(family)}"]
    duration = phrases.duration_words(family.schedule)
    facts = [("when", phrases.schedule_words(family.schedule) + (f"; {duration}" if duration else ""))]
    facts += [("", words) for words in phrases.window_words(family.schedule)]
    for direction, word in ((Direction.WRITE, "written"), (Direction.READ, "read")):
        if any(sizes[direction]):
            total = f"{size_text(sum(sizes[direction]))}, " if len(sizes[direction]) > 1 else ""
            facts.append((word, total + phrases.growth_words(sizes[direction], event)))
    facts += _how(family, family.members(ranks))
    if family.keep:
        facts.append(("kept", f"the last {plural(family.keep, 'file')}"))
    if family.removed:
        facts.append(("removed", "each file is deleted after the last dump that uses it"))
    if family.directory:
        facts.append(("where", f"the directory that --dir {family.directory}=DIR names"))
    if family.folders is not None:
        facts.append(("folders", phrases.folders_words(family.folders)))
    if family.rehearsed is not None:
        facts.append(("rehearsed", f"by {phrases.libraries_words(family.rehearsed)}, and compared below it"))
    if family.direct:
        facts.append(("direct", "files are opened with O_DIRECT: the page cache has no part in it"))
    if family.sparse:
        facts.append(("sparse", f"{event}s read bytes that were never written, which are zeros"))
    if family.assumed:
        words = [phrases.ASSUMPTION_WORDS[a] for a in family.assumed if isinstance(a, Assumption)]
        facts += [("assumed", "; ".join(words))] if words else []
        facts += [("unclear", ambiguity_words(a)) for a in family.assumed if not isinstance(a, Assumption)]
    return lines + [f"{INDENT}{word:<8} {text}" for word, text in facts]


def _how(family: Family, members: int) -> list[tuple[str, str]]:
    content, used = phrases.most_used(family)
    parts = phrases.content_words(content, members)
    shown = parts[:MAX_PARTS]
    if len(parts) > MAX_PARTS:
        shown.append(f"and {len(parts) - MAX_PARTS} more streams")
    calls = phrases.call_words(content)
    if calls:
        shown.append(calls)
    if used < family.schedule.dumps:
        others = len(family.contents) - 1
        shown.append(f"(in {plural(used, 'dump')}; there are {plural(others, 'other kind')} of dump)")
    words = ["how"] + [""] * (len(shown) - 1)
    return list(zip(words, shown, strict=True)) if shown else []
