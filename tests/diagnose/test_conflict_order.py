"""Happened-before by vector clocks, beside a search along the edges of the definition."""

from __future__ import annotations

import itertools
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workalike.diagnose.conflicts.events import Flow, Message
from workalike.diagnose.conflicts.order import Order


def reachable(
    ranks: int, groups: list[list[Message]], rank: int, time: float, other: int, later: float
) -> bool:
    """By the definition: steps of a rank in order; from a start to an end where the call orders them."""
    edges: dict[tuple[int, float], set[tuple[int, float]]] = defaultdict(set)
    moments: dict[int, set[float]] = defaultdict(set)
    for group in groups:
        for message in group:
            moments[message.rank] |= {message.start, message.end}
        for first in group:
            for second in group:
                if (
                    first.flow is Flow.ALL
                    or (first.flow is Flow.FROM_ROOT and first.rank == first.peer)
                    or (first.flow is Flow.TO_ROOT and second.rank == second.peer)
                    or (first.flow is Flow.PREFIX and first.rank <= second.rank)
                    or (first.flow is Flow.SEND and second.flow is Flow.RECEIVE)
                ):
                    edges[first.rank, first.start].add((second.rank, second.end))
    moments[rank].add(time)
    moments[other].add(later)
    for number, times in moments.items():
        ordered = sorted(times)
        for one_time, two_time in itertools.pairwise(ordered):
            edges[number, one_time].add((number, two_time))
    found, queue = {(rank, time)}, [(rank, time)]
    while queue:
        for target in edges[queue.pop()]:
            if target not in found:
                found.add(target)
                queue.append(target)
    return (other, later) in found


@st.composite
def programs(draw: st.DrawFn) -> tuple[int, list[list[Message]]]:
    """Calls that a job could make: one after the other, each by some ranks, whose clocks differ."""
    ranks = draw(st.integers(2, 5))
    clock = [draw(st.integers(-50, 50)) * 1.0 for _ in range(ranks)]
    groups = []
    for _ in range(draw(st.integers(0, 8))):
        members = draw(st.lists(st.integers(0, ranks - 1), min_size=2, max_size=ranks, unique=True))
        flow = draw(st.sampled_from([f for f in Flow if f is not Flow.RECEIVE]))
        group = []
        for place, rank in enumerate(members[:2] if flow is Flow.SEND else members):
            start = clock[rank] + draw(st.integers(1, 3))
            end = clock[rank] = start + draw(st.integers(1, 3))
            kind = Flow.RECEIVE if flow is Flow.SEND and place else flow
            peer = members[1 - place] if flow is Flow.SEND else members[0]
            peer = -1 if flow in (Flow.ALL, Flow.PREFIX) else peer
            comm = 0 if flow is Flow.SEND else hash(frozenset(members))
            group.append(Message(rank, kind, comm, len(members), start, end, peer))
        groups.append(group)
    return ranks, groups


@settings(max_examples=300, deadline=None)
@given(programs(), st.data())
def test_order_is_that_of_the_definition(
    program: tuple[int, list[list[Message]]], data: st.DataObject
) -> None:
    ranks, groups = program
    order = Order(ranks, [message for group in groups for message in group])
    assert order.gaps == []
    for _ in range(5):
        rank, other = data.draw(st.permutations(range(ranks)))[:2]
        time, later = (data.draw(st.integers(-60, 120)) + 0.5 for _ in range(2))
        assert order.before(rank, time, other, later) == reachable(ranks, groups, rank, time, other, later)


def test_a_receive_posted_early_orders_from_its_completion() -> None:
    messages = [
        Message(1, Flow.RECEIVE, 0, 2, start=0, end=50, peer=0),
        Message(0, Flow.SEND, 0, 2, start=10, end=11, peer=1),
    ]
    order = Order(2, messages)
    assert order.before(0, 10, 1, 50)
    assert not order.before(0, 10, 1, 49)
    assert not order.before(0, 10.5, 1, 50)


@pytest.mark.parametrize("flow", [Flow.ALL, Flow.RECEIVE])
def test_a_call_without_counterpart_is_said(flow: Flow) -> None:
    order = Order(2, [Message(0, flow, 0, 2, 1, 2, peer=1)])
    assert order.gaps == ["1 MPI calls have no counterpart in the log"]
    assert not order.before(0, 0, 1, 3)


def test_calls_that_wait_for_each_other_are_said() -> None:
    crossed = [
        Message(0, Flow.ALL, 1, 2, 0, 1), Message(0, Flow.ALL, 2, 2, 2, 3),
        Message(1, Flow.ALL, 2, 2, 0, 1), Message(1, Flow.ALL, 1, 2, 2, 3),
    ]  # fmt: skip
    assert Order(2, crossed).gaps == ["MPI calls of 2 ranks wait for each other"]
    roots = [Message(0, Flow.FROM_ROOT, 1, 2, 0, 1, peer=0), Message(1, Flow.FROM_ROOT, 1, 2, 0, 1, peer=1)]
    assert Order(2, roots).gaps == ["1 collective MPI calls differ between ranks"]
