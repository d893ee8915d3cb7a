"""Changes of notes as a person reads them: whole entries with what differs, and where they come from."""

import pytest

from chat.panel.cards import Piece
from chat.panel.note_ops import entry_diff, note_op_card, own_note_ops
from tests import builders, noted


def changed(pieces: list[Piece]) -> list[str]:
    return [one.text for one in pieces if one.is_changed]


def whole(pieces: list[Piece]) -> str:
    return "".join(one.text for one in pieces)


@pytest.mark.parametrize(
    ("old", "new", "gone", "come"),
    [
        ("出卷时选择题多一些", "出卷时简答题多一些", ["选择"], ["简答"]),
        ("答案写在最后", "答案写在最后一页", [], ["一页"]),
        ("第一行\n第二行", "第一行\n第三行", ["二"], ["三"]),
        ("", "新的一条", [], ["新的一条"]),
        ("旧的一条", "", ["旧的一条"], []),
        ("喜欢表格", "prefers short answers", ["喜欢表格"], ["prefers short answers"]),
    ],
)
def test_both_entries_stand_whole_with_what_differs(old, new, gone, come):
    before, after = entry_diff(old, new)
    assert (whole(before), whole(after)) == (old, new)
    assert (changed(before), changed(after)) == (gone, come)


def test_long_entries_are_compared_in_good_time_and_stay_whole():
    old, new = "的" * 2200, "始" + "的" * 900 + "中" + "的" * 900 + "末"
    before, after = entry_diff(old, new)
    assert (whole(before), whole(after)) == (old, new)


@pytest.mark.django_db
def test_card_leads_to_its_round_and_quotes_what_was_said():
    user = builders.teacher()
    run = builders.run(builders.thread(user), "记住：" + "答案放最后，" * 30)
    noted.note_op(user, run.agent, run=run, thread=run.thread)
    card = note_op_card(own_note_ops(user).get())
    assert card.source == f"/chat/t/{run.thread_id}/#{run.pk}"
    assert card.quote.startswith("记住：答案放最后") and len(card.quote) == 90 and card.quote.endswith("…")
    assert "MEMORY.md" in card.place and run.agent.name in card.place


@pytest.mark.django_db
def test_card_of_a_review_has_no_quote():
    user = builders.teacher()
    noted.note_op(user, None, origin="review")
    card = note_op_card(own_note_ops(user).get())
    assert card.quote == card.source == "" and "USER.md" in card.place
