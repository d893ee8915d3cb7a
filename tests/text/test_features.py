"""What texts are compared by."""

import pytest

from chat.text.features import features


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("简答题", ["简答", "答题"]),
        ("树", ["树"]),
        ("用C++和Ｃ＃写", ["用", "c++", "和", "c#", "写"]),
        ("Python3 的第12题", ["python3", "的第", "12", "题"]),
        ("snake_case Naïve", ["snake", "case", "naïve"]),
        ("，。！", []),
        ("", []),
    ],
)
def test_features_of(text, expected):
    assert features(text) == expected


def test_width_and_case_make_no_difference():
    assert features("ＤＩＪＫＳＴＲＡ 算法") == features("dijkstra 算法")
